"""What the machine spent: CPU of process trees from schedstat, and what others took meanwhile."""

import os
import pathlib
import time

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def tree_of(pid):
    """A process and all below it."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in (pathlib.Path("/proc") / str(one) / "task").iterdir():
                todo += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            pass  # it has ended
    return found


def cpu_ns(pid):
    """CPU time of a process tree, to the nanosecond. A thread that has ended no longer counts: servers here keep theirs."""
    whole = 0
    for one in tree_of(pid):
        try:
            for task in (pathlib.Path("/proc") / str(one) / "task").iterdir():
                whole += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass
    return whole


def children_ns():
    """CPU time of this process and of its children that have ended."""
    spent = os.times()
    return (spent.user + spent.system + spent.children_user + spent.children_system) * 1e9


def busy_ns():
    """What all processors have worked so far, stolen time among it."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _wait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) * TICK_NS


class Foreign:
    """The share of the processors' time, from here on, that neither this process and its children nor the named trees took."""

    def __init__(self, pids=()):
        self.pids = pids
        self.began, self.before = time.monotonic(), self.spent()

    def spent(self):
        return busy_ns(), children_ns() + sum(cpu_ns(pid) for pid in self.pids)

    def share(self):
        busy, ours = (now - then for now, then in zip(self.spent(), self.before))
        return max(0, busy - ours) / ((time.monotonic() - self.began) * 1e9 * os.cpu_count())
