#!/usr/bin/env python3
"""The handoff queue beside a plain ring under a mutex and the field's queues, and the parts of a request. See docs/performance.md.

  scripts/bench micro [--rounds N] [--out DIR]

Exit: 0, every bar that was judged holds; 42, one does not; 1, it could not run, or the run is void.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "harness")]

import machine
import rounds as turns
import table

OURS = "Handoff"
WARM_NS, PARSE_RENDER_NS = 50, 300
PARTS = ("parse_render", "parse_browser", "registration")
# (row, figure, [(peers of which the best counts, bar)])
ROWS = [
    ("push_pop", "one push and one pop", [(["MutexRing"], 1.05), (["TbbQueue"], 0.80), (["BoostQueue"], 0.90)]),
    ("drain_64", "drain of 64", [(["CkRing", "Moodycamel"], 1.10), (["BoostQueue"], 0.20), (["TbbQueue"], 0.20)]),
    ("cold_push", "a cold push", [(["BoostSingle"], 1.20)]),
]
PACKAGES = {"TbbQueue": "libtbb-dev", "Moodycamel": "libconcurrentqueue-dev", "CkRing": "libck-dev",
            "BoostQueue": "libboost-dev", "BoostSingle": "libboost-dev"}


def one_round(programs):
    """{(row, queue): nanoseconds} of one run of all; of a part the queue is ours."""
    found = {}
    for program in programs:
        said = table.run([program, "--benchmark_format=json", "--benchmark_min_time=0.05",
                          "--benchmark_enable_random_interleaving=true"])
        for one in json.loads(said)["benchmarks"]:
            row, queue = re.fullmatch(r"(\w+?)(?:<(\w+)>.*)?", one["name"]).groups()
            found[row, queue or OURS] = one.get("p50_ns", one["cpu_time"])
    return found


def judged(rounds):
    rows = []
    for row, text, bars in ROWS:
        for peers, bar in bars:
            here = [peer for peer in peers if (row, peer) in rounds[0]]
            if len(here) < len(peers):
                missing = ", ".join(PACKAGES.get(peer, peer) for peer in peers if peer not in here)
                rows.append(table.left_out(f"{text} / {' or '.join(peers)}", missing))
                continue
            ratios = [max(one[row, OURS], 0.1) / max(min(one[row, peer] for peer in here), 0.1) for one in rounds]
            rows.append(turns.judge(f"{text} / {' or '.join(peers)}", ratios, bar))
    warm = [one["warm_push", OURS] for one in rounds]
    rows.append(turns.judge("a warm push, nanoseconds", warm, WARM_NS))
    rows.append(turns.judge("a small request read and answered, nanoseconds", [one["parse_render", OURS] for one in rounds],
                            PARSE_RENDER_NS))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench micro", description=__doc__.split("\n\n", maxsplit=1)[0])
    options = table.arguments(parser, sys.argv[1:])
    programs = [options.bin / "bench_queue", options.bin / "bench_parts"]
    if not all(program.exists() for program in programs):
        print("bench micro: Google Benchmark or Boost is missing: apt-get install libbenchmark-dev libboost-dev")
        return 1
    rounds, foreign = [], []
    try:
        for _ in range(options.rounds):
            others = machine.Foreign()
            rounds.append(one_round(programs))
            foreign.append(others.share())
    except table.BenchError as error:
        print(f"bench micro: {error}")
        return 1
    figures = {row: {queue: round(turns.quantile([one[row, queue] for one in rounds], 0.5), 2)
                     for at, queue in rounds[0] if at == row} for row in ("push_pop", "drain_64", "warm_push", "cold_push", *PARTS)}
    for row, values in figures.items():
        print(f"{row}, ns: " + ", ".join(f"{queue} {value:g}" for queue, value in values.items()))
    return table.conclude("micro", options.out, judged(rounds), foreign, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
