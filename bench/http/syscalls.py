"""System calls of each request, counted by strace beside a load."""

import pathlib
import re
import signal
import subprocess
import time

import loads
import rounds as turns
from peers import Missing, program

NAME = "system calls"
OF_BARE = (2.0, 2.1)  # else it is no yardstick
OF_CONNECTION = 5.1


def per_request(bench, name, shape):
    """Calls of a running server for each request of a load."""
    peer, file = bench.peer(name), pathlib.Path(bench.work) / "strace"
    if peer is None:
        raise Missing(bench.missing[name])
    tracer = subprocess.Popen([program("strace"), "-f", "-q", "-c", "-U", "name,calls", "-o", str(file), "-p", str(peer.pid)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 5
        while f"TracerPid:\t{tracer.pid}" not in pathlib.Path(f"/proc/{peer.pid}/status").read_text():
            if tracer.poll() is not None or time.monotonic() > end:
                raise loads.LoadError(f"strace did not attach to {name}: {tracer.poll()}")
            time.sleep(0.01)
        seen = loads.wrk(bench.work, peer.port, shape, 64, 2)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
    calls = {one: int(count) for one, count in re.findall(r"^(\w+)\s+(\d+)$", file.read_text(), re.M)}
    calls.pop("total", None)
    return sum(calls.values()) / seen["requests"]


def run(bench):
    """The judged rows."""
    try:
        bare = [per_request(bench, "bare", "keep-alive") for _ in range(3)]
        kept = [per_request(bench, "flare-static", "keep-alive") for _ in range(3)]
        new = [per_request(bench, "flare-static", "close") for _ in range(3)]
    except Missing as error:
        return [{"name": f"{NAME}: not judged", "why": str(error)}]
    yardstick = turns.judge(f"{NAME} of a request, bare", bare, OF_BARE[1])
    return [dict(yardstick, void=not OF_BARE[0] <= yardstick["median"] <= OF_BARE[1]),
            turns.judge(f"{NAME} of a request, flare / bare", [ours / least for ours, least in zip(kept, bare)], 1.05),
            turns.judge(f"{NAME} of a connection per request", new, OF_CONNECTION)]
