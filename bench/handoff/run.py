#!/usr/bin/env python3
"""What the handoff costs its donor, what it gains, and how evenly it spreads. See docs/performance.md.

  scripts/bench handoff [--rounds N] [--rows TEXT] [--out DIR]

Exit: 0, every bar that was judged holds; 42, one does not; 1, it could not run, or the run is void.
"""

import argparse
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "harness")]

import machine
import pair
import rounds as turns
import table

STORMS = 20
SKEW_ROUNDS = 10
SHARES = {8: 0.63, 64: 0.55, 256: 0.55}  # of the busiest of two workers


def cost(bench):
    """What the program measures: an awake target's push, a sleeping one's wake beside the plain one."""
    found = []
    for _ in range(bench.options.rounds):
        found.append(json.loads(table.run([bench.options.bin / "bench_handoff_cost"])))
    return [turns.judge("added to an accept, nanoseconds", [one["push_ns"] for one in found], 120),
            turns.judge("wake of a sleeping target / of an eventfd", [one["wake_ns"] / one["raw_wake_ns"] for one in found], 1.1)]


def wakes(bench):
    """Of workers that are busy: clients connect anew for each request, and each request burns CPU."""
    found = []
    for number in range(bench.options.rounds):
        with bench.server("on", "--handler", "burn", "--handler-us", "100") as server:
            bench.storm(server, "--mode", "per-request", "--connections", "64", "--duration-ms", "2000", "--seed", str(number))
            seen = server.counts()
            if seen["handed_out"] < 100:
                raise table.BenchError(f"only {seen['handed_out']} connections were handed over")
            found.append(seen["wakes_sent"] / seen["handed_out"])
    return [turns.judge("wakes of a handed connection, workers busy", found, 0.05)]


def share(bench, strategy, connections, seed):
    with bench.server("on", "--listeners", strategy, "--worker-headers") as server:
        seen = bench.storm(server, "--connections", str(connections), "--requests-per-client", "1", "--seed", str(seed))
    if seen["answered"] != connections:
        raise table.BenchError(f"{seen['answered']} answers of {connections}")
    return seen["worst_worker"] / connections


def storms(bench):
    """The share of the busiest of two workers, of many clients that connect at once: each time."""
    rows = []
    for strategy in ("per-worker", "shared"):
        for connections, bar in SHARES.items():
            values = [share(bench, strategy, connections, seed) for seed in range(STORMS)]
            row = turns.judge(f"{connections} at once, {strategy}: share of the busier worker", values, bar)
            rows.append(dict(row, ok=max(values) <= bar, name=f"{row['name']}, at most {max(values):.3f}"))
    return rows


def skew(bench):
    """Eight connections whose ports all lead to one worker, 100 us of CPU for each request."""
    rounds = pair.in_turn(bench, SKEW_ROUNDS, ["--handler", "burn", "--handler-us", "100", "--worker-headers"],
                          ["--connections", "8", "--pin-worker", "0", "--rate", "8000", "--duration-ms", "3000"])
    return [turns.judge("8 clients of one worker: p99 on / off", [on["latency_us"]["p99"] / off["latency_us"]["p99"]
                                                                  for on, off in rounds], 0.80)]


def uniform(bench):
    rounds = pair.in_turn(bench, bench.options.rounds, [], ["--connections", "64", "--duration-ms", "3000"])
    return [turns.judge("uniform load: rate on / off", [on["per_second"] / off["per_second"] for on, off in rounds], 0.97,
                        at_most=False)]


ROWS = {"cost": cost, "wakes": wakes, "storms": storms, "skew": skew, "uniform": uniform}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench handoff", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rows", default="", help=f"only those whose name holds this text: {', '.join(ROWS)}")
    options = table.arguments(parser, sys.argv[1:])
    chosen = [measure for name, measure in ROWS.items() if options.rows in name]
    if not chosen:
        parser.error(f"--rows '{options.rows}': expected a part of one of: {', '.join(ROWS)}")
    rows, foreign = [], []
    with tempfile.TemporaryDirectory() as work:
        bench = pair.Bench(options, work)
        try:
            for measure in chosen:
                others = machine.Foreign()
                rows += measure(bench)
                foreign.append(others.share())
        except (table.BenchError, OSError) as error:
            print(f"bench handoff: {error}")
            return 1
    return table.conclude("handoff", options.out, rows, foreign)


if __name__ == "__main__":
    sys.exit(main())
