"""What every kind of scripts/bench ends with: its rows, whether the run counts, the exit code."""

import argparse
import json
import pathlib
import subprocess

import rounds as turns
from page import page

RED = 42


class BenchError(Exception):
    """Why it can't be measured."""


def arguments(parser, given):
    """What all kinds take."""
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if not 1 <= options.rounds <= 1000:
        parser.error(f"--rounds '{options.rounds}': expected 1 to 1000")
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def run(command):
    """What a program says on stdout; BenchError if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def storm(binaries, address, *arguments):
    """What flare-storm reports: its latencies count from the intended send time. It runs on all processors."""
    return json.loads(run([binaries / "flare-storm", address, "--json", "-", *arguments]))


def left_out(name, missing):
    """A row that is not judged."""
    return {"name": f"{name}: not judged", "why": f"apt-get install {missing}"}


def shown(row):
    return turns.line(row) if "median" in row else f"--   {row['name']}: {row['why']}"


def conclude(kind, out, rows, foreign, **more):
    """Prints the rows and writes them. The exit code."""
    for row in rows:
        print(shown(row))
    share = round(turns.quantile(foreign, 0.5), 4) if foreign else None
    void = [row["name"] for row in rows if row.get("void")]
    if share is not None and share > turns.FOREIGN:
        void.append("the CPU of others")
    print(f"CPU of others: {share} (median; above {turns.FOREIGN} the run is void)")
    result = dict({"kind": kind, "rows": rows, "foreign": share, "void": void}, **more)
    (out / f"{kind}.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / f"{kind}.html").write_text(page(result))
    print(f"bench {kind}: {out / kind}.html, .json")
    if void:
        print(f"bench {kind}: void: {', '.join(void)}")
        return 1
    return RED if any(row.get("ok") is False for row in rows) else 0
