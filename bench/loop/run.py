#!/usr/bin/env python3
"""flare's reactor beside raw epoll, libuv, libevent, libev and asio: nanoseconds per event. See docs/performance.md.

  scripts/bench loop [--rounds N] [--out DIR]

Exit: 0, every bar that was judged holds; 42, one does not; 1, it could not run, or the run is void.
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "harness")]

import machine
import rounds as turns
import table

PEERS = ("raw", "libuv", "libevent", "libev", "asio")
PACKAGES = {"libuv": "libuv1-dev", "libevent": "libevent-dev", "libev": "libev-dev", "asio": "libasio-dev"}
EVEN = {"raw": 1.03, "libuv": 1.03, "libevent": 1.03, "libev": 1.03}
ONE_ACTIVE = dict(EVEN, asio=0.80)
MANY_ACTIVE = dict(EVEN, asio=0.73)
DISPATCH = {"raw": 1.10, "libuv": 0.90, "libevent": 0.75}
BARS = {
    "100 descriptors, 1 active": ONE_ACTIVE,
    "100 descriptors, 64 active": MANY_ACTIVE,
    "1000 descriptors, 100 active": MANY_ACTIVE,
    "5000 descriptors, 1 active": ONE_ACTIVE,
    "5000 descriptors, 500 active": MANY_ACTIVE,
    "dispatch only, 1 ready": {},
    "dispatch only, 64 ready": DISPATCH,
    "dispatch only, 1024 ready": DISPATCH,
    "register and unregister": {"raw": 1.05},
}


def measure(program):
    """{shape: nanoseconds}."""
    return {one["shape"]: one["ns"] for one in map(json.loads, table.run([program]).splitlines())}


def judged(rounds):
    rows = []
    for shape, bars in BARS.items():
        for peer, bar in bars.items():
            name = f"{shape}: flare / {peer}"
            rows.append(turns.judge(name, turns.ratios(rounds, shape, "flare", peer), bar) if peer in rounds[0]
                        else table.left_out(name, PACKAGES[peer]))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench loop", description=__doc__.split("\n\n", maxsplit=1)[0])
    options = table.arguments(parser, sys.argv[1:])
    programs = {name: options.bin / f"bench_loop_{name}" for name in ("flare", *PEERS)}
    names, foreign = [name for name, program in programs.items() if program.exists()], []

    def one(name):
        others = machine.Foreign()
        found = measure(programs[name])
        foreign.append(others.share())
        return found

    try:
        rounds = turns.in_turn(names, options.rounds, one, warm=0)
    except table.BenchError as error:
        print(f"bench loop: {error}")
        return 1
    figures = {shape: {name: turns.quantile([found[name][shape] for found in rounds], 0.5) for name in names}
               for shape in BARS}
    for shape, values in figures.items():
        print(f"{shape}, ns: " + ", ".join(f"{name} {value:.0f}" for name, value in values.items()))
    return table.conclude("loop", options.out, judged(rounds), foreign, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
