"""flare-serve processes under test: started, watched from outside, stopped; each leaves its own report."""

import json
import os
import pathlib
import platform
import re
import resource
import signal
import subprocess
import time

STATS_MS = 200
START_SECONDS = 15
# malloc counts as given out what each thread keeps in its cache, up to 230 KB of pieces of every size: no leak, but as much
# as the gate of the live heap allows. Without the cache its count is what the server holds.
EXACT_HEAP = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
EPOLL_WAITS = ("232", "281") if platform.machine() == "x86_64" else ("22", "441")


class ServerError(Exception):
    """The machine or the set-up failed, not the server under test."""


class ServerFault(Exception):
    """The server under test failed: it ended, or did not end, or says nothing any more."""


class Server:
    """One process. name: of its files below folder. limit: of its descriptors, if that is to be small. drain_ms: what its
    arguments say. It ends with the thread that starts it: a soak that is killed leaves no server behind."""

    def __init__(self, binary, folder, name, arguments=(), limit=None, address="127.0.0.1:0", drain_ms=None):
        self.name, self.report, self.code, self.drain_ms = name, None, None, drain_ms
        self.live_file = pathlib.Path(folder) / f"{name}.live.jsonl"
        self.report_file = pathlib.Path(folder) / f"{name}.report.json"
        self.error_file = pathlib.Path(folder) / f"{name}.stderr"
        command = ["setpriv", "--pdeathsig", "KILL", str(binary), "--address", address, "--handler", "path",
                   "--worker-headers", "--no-pin", "--report", "json", "--report-file", str(self.report_file), "--stats-interval-ms", str(STATS_MS),
                   "--stats-file", str(self.live_file), *arguments]
        with open(self.error_file, "wb") as error:
            self.process = subprocess.Popen(
                command, env=dict(os.environ, **EXACT_HEAP), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error, start_new_session=True,
                preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None)
        self.pid = self.process.pid
        self.addresses = self.await_addresses()
        self.address = self.addresses[0]
        self.offset, self.last = 0, None

    def await_addresses(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            text = self.stderr()
            found = re.findall(r"^listening on (\S+)$", text, re.M)
            if found and text.endswith("\n"):
                return found
            if self.process.poll() is not None:
                raise ServerError(f"{self.name} did not start: {text.strip()}")
            time.sleep(0.02)
        self.kill()
        raise ServerError(f"{self.name} did not listen within {START_SECONDS} s")

    def stderr(self):
        return self.error_file.read_text(errors="replace")

    # --- Its own figures.

    def live(self):
        """The newest whole line of its statistics, as a dict; None before the first."""
        with open(self.live_file, encoding="utf-8") as file:
            file.seek(self.offset)
            lines = file.read().split("\n")
            self.offset += sum(len(line) + 1 for line in lines[:-1])
            if len(lines) > 1:
                self.last = dict(json.loads(lines[-2]), at=self.offset)  # where the next one begins
        return self.last

    def fresh(self, seconds=10):
        """A line that was written after this call."""
        before, end = self.live(), time.monotonic() + seconds
        while time.monotonic() < end:
            now = self.live()
            if now and (before is None or now["t_ms"] > before["t_ms"] + STATS_MS / 2):
                return now
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise ServerFault(f"{self.name} wrote no statistics for {seconds} s; exit code {self.process.poll()}; "
                          f"{self.stderr()[-500:]}")

    def quiet(self, seconds=15):
        """The second of two lines without a connection anywhere between which none came or went, or the last one that
        came within the time. One alone may look away: from who waits for an accept, or is on its way to a worker."""
        end, before = time.monotonic() + seconds, None
        while True:
            now = self.fresh()
            counts = [now[field] for field in ("live", "queued", "accepted", "received", "finished", "handed_out")]
            nobody = sum(now["live"]) + sum(now["queued"]) == 0
            if (nobody and counts == before) or time.monotonic() > end:
                return now
            before = counts if nobody else None

    def lines_between(self, first, last):
        """All lines after first and up to last, which are two of them."""
        with open(self.live_file, encoding="utf-8") as file:
            file.seek(first["at"])
            lines = [json.loads(text) for text in file.read().splitlines(keepends=True) if text.endswith("\n")]
        return [line for line in lines if first["t_ms"] < line["t_ms"] <= last["t_ms"]]

    # --- What the system says of it.

    def outside(self):
        """Descriptors, threads, memory, switches and CPU; None when it is gone."""
        folder = pathlib.Path("/proc") / str(self.pid)
        try:
            status = dict(re.findall(r"^(\w+):\s+(\d+)", (folder / "status").read_text(), re.M))
            cpu = {}
            for task in self.tasks():
                try:
                    cpu[task] = int((folder / "task" / task / "schedstat").read_text().split()[0])
                except OSError:
                    pass  # it has ended meanwhile
            return {"fds": len(list((folder / "fd").iterdir())), "threads": int(status["Threads"]),
                    "rss_kib": int(status["VmRSS"]), "switches": int(status["voluntary_ctxt_switches"]),
                    "forced_switches": int(status["nonvoluntary_ctxt_switches"]), "cpu_ns": cpu}
        except (OSError, KeyError):
            return None

    def tasks(self):
        return sorted((path.name for path in (pathlib.Path("/proc") / str(self.pid) / "task").iterdir()), key=int)

    def sleeps_in_epoll(self, tid):
        """Whether a thread waits for events now."""
        try:
            call = (pathlib.Path("/proc") / str(self.pid) / "task" / tid / "syscall").read_text().split()[0]
        except OSError:
            return False
        return call in EPOLL_WAITS

    # --- Its end.

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=30):
        """Drains it and reads its report."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def wait(self, seconds=30):
        try:
            self.code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFault(f"{self.name} did not end within {seconds} s of SIGTERM") from None
        try:
            self.report = json.loads(self.report_file.read_text())
        except (ValueError, OSError):
            raise ServerFault(f"{self.name} left no report; exit code {self.code}; {self.stderr()[-500:]}") from None
        return self.report

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.code = self.process.wait()
