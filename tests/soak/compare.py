#!/usr/bin/env python3
"""The handoff on against off, in alternating windows of the same load: what it gains under skew, what it costs without.

  scripts/soak compare [--windows N] [--seconds S] [--seed S] [--out DIR]

Exit: 0, both bars hold; 42, one does not; 1, it could not run.
"""

import argparse
import json
import pathlib
import random
import sys

import interrupt
from servers import ServerError, ServerFault
from slope import median
from stage import Stage

RED = 42
# load -> (arguments of flare-storm, {figure: (bar, whether the ratio must be at most it)}); ratios are on / off.
LOADS = {
    "pinned skew": ({"connections": 8, "path": "/sleep/1000", "pin_worker": 0}, {"p99": (0.5, True)}),
    "uniform": ({"connections": 64, "path": "/"}, {"throughput": (0.97, False), "p99": (1.25, True)}),
}


def figures(report):
    return {"p99": report["latency_us"]["p99"], "throughput": report["per_second"]}


def pairs(stage, seed, windows, seconds, flags):
    """[(on, off)]: each pair of windows is adjacent; which comes first changes."""
    found = []
    for number in range(windows):
        order = list(stage.servers)[::1 if number % 2 == 0 else -1]
        seen = {mode: figures(stage.storm(stage.servers[mode], seed + number, seconds, **flags).result()[1])
                for mode in order}
        found.append((seen["on"], seen["baseline_off"]))
    return found


def quartiles(values):
    ordered = sorted(values)
    return [round(ordered[min(len(ordered) - 1, len(ordered) * part // 4)], 3) for part in (1, 3)]


def judge(found, bars):
    """[{figure, ratio, quartiles, bar, ok}] of pairs of windows."""
    rows = []
    for name, (bar, at_most) in bars.items():
        ratios = [on[name] / max(off[name], 1e-9) for on, off in found]
        ratio = round(median(ratios), 3)
        rows.append({"figure": name, "ratio": ratio, "quartiles": quartiles(ratios),
                     "bar": f"at {'most' if at_most else 'least'} {bar}", "ok": ratio <= bar if at_most else ratio >= bar,
                     "on": round(median([on[name] for on, _ in found])),
                     "off": round(median([off[name] for _, off in found]))})
    return rows


def arguments(given):
    parser = argparse.ArgumentParser(prog="scripts/soak compare", description=__doc__.split("\n\n")[0])
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each window")
    parser.add_argument("--seed", type=int, help="default: random, printed")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/soak-compare"))
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if options.windows < 1 or not 0.1 <= options.seconds <= 600:
        parser.error(f"--windows '{options.windows}', --seconds '{options.seconds:g}': expected at least 1, and 0.1 to 600")
    return options


def main():
    options = arguments(sys.argv[1:])
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    print(f"soak: compare: seed {seed}", flush=True)
    interrupt.install()
    options.out.mkdir(parents=True, exist_ok=True)
    stage, whole = Stage(options.bin, options.out, "per-worker"), {"seed": seed}
    try:
        stage.start_long_lived()
        for name, (flags, bars) in LOADS.items():
            for server in stage.servers.values():  # unjudged: every buffer has its size afterwards
                stage.storm(server, seed, 1, **flags).result()
            whole[name] = judge(pairs(stage, seed, options.windows, options.seconds, flags), bars)
            for row in whole[name]:
                print(f"{'ok ' if row['ok'] else 'RED'} {name}: {row['figure']} on/off {row['ratio']} "
                      f"(quartiles {row['quartiles'][0]} to {row['quartiles'][1]}; {row['bar']}); on {row['on']}, "
                      f"off {row['off']}", flush=True)
    except (ServerError, ServerFault, OSError, KeyboardInterrupt) as error:
        print(f"soak: compare: {str(error) or 'interrupted'}")
        return 1
    finally:
        for server in stage.servers.values():
            server.kill()
    (options.out / "compare.json").write_text(json.dumps(whole, indent=1) + "\n")
    return 0 if all(row["ok"] for name in LOADS for row in whole[name]) else RED


if __name__ == "__main__":
    sys.exit(main())
