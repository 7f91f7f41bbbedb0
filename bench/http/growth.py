"""From 16 to 10,000 kept connections: CPU of each request, and user memory of an idle connection."""

import memory
import rounds as turns

COUNTS = (16, 64, 256, 1024, 4096, 10000)
OURS, PEER, FLOOR = "flare-static", "nginx", "bare"
OF_PEER, OF_FEW, IDLE_BYTES = 0.95, 2.0, 512
NAME = "growth"


def measured(bench, row_of):
    """[{count: {server: us}}] of each round: all counts and servers in turn."""
    names = [name for name in (OURS, PEER, FLOOR) if bench.peer(name)]
    found = []
    for number in range(-1, bench.options.rounds):
        one = {}
        for count in COUNTS:
            shift = number % len(names)
            one[count] = {name: bench.measure(name, row_of(count))["cpu_us"] for name in [*names[shift:], *names[:shift]]}
        if number >= 0:
            found.append(one)
    return names, found


def run(bench, row_of):
    """(rows, curves). row_of(count): the load of so many connections."""
    names, found = measured(bench, row_of)
    rows = []
    if OURS in names and PEER in names:
        rows += [turns.judge(f"{NAME}, {count} connections: CPU / {PEER}",
                             [one[count][OURS] / one[count][PEER] for one in found], OF_PEER) for count in COUNTS]
    else:
        rows.append({"name": f"{NAME}: not judged", "why": bench.missing.get(PEER, bench.missing.get(OURS, ""))})
    if OURS in names:
        rows.append(turns.judge(f"{NAME}: CPU at {COUNTS[-1]} connections / at {COUNTS[1]}",
                                [one[COUNTS[-1]][OURS] / one[COUNTS[1]][OURS] for one in found], OF_FEW))
    idle = []
    for _ in range(3):
        server = bench.starters["flare-path"]()
        try:
            idle.append(memory.bytes_per_connection(server))
        finally:
            server.end()
    rows.append(turns.judge(f"{NAME}: bytes of an idle connection", idle, IDLE_BYTES))
    series = {name: [(count, turns.quantile([one[count][name] for one in found], 0.5)) for count in COUNTS] for name in names}
    return rows, [{"title": "Server CPU of each request by kept connections", "unit": "us", "x_unit": "", "end": COUNTS[-1],
                   "series": series}]
