#!/usr/bin/env python3
"""Reports of soaks.

  scripts/flare-report make DIR            soak.json and soak.html of what stands in DIR, also of a soak that was killed
  scripts/flare-report merge OUT IN...     one report of several soak.json; order and grouping make no difference

Exit: 0, the verdict is green; 42, it is red; 2, usage, or a file that is no report.
"""

import json
import pathlib
import sys

import gates
from page import page

FORMAT = 1
RED = 42
NEEDED = ("verdict", "complete", "seconds", "shard", "seed", "gates", "phases")


def assemble(header, phases, whole, windows, seconds, complete):
    """The report of one soak. header: seed, shard, minutes, replay."""
    green = complete and bool(phases) and gates.verdict(whole) and all(phase["ok"] for phase in phases)
    return {"format": FORMAT, "verdict": "green" if green else "red", "complete": complete, **header, "seconds": seconds,
            "gates": whole, "phases": phases, "windows_us": windows}


def slim(row):
    """What the page shows of a row: a long soak has many."""
    kept = {key: value for key, value in row.items() if key not in ("cpu_ns", "live_line", "storm")}
    if row.get("live_line"):
        kept["live_line"] = {name: row["live_line"][name] for name in ("live", "handed_out", "heap_bytes")}
    elif "live_line" in row:
        kept["live_line"] = None
    if "storm" in row:
        kept["storm"] = {name: row["storm"][name] for name in ("count", "latency_us")}
    return kept


def rows_of(path):
    """The rows of a file whose last line may be cut."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                rows.append(slim(json.loads(line)))
            except ValueError:
                break
    return rows


def write(folder, report):
    rows = rows_of(folder / "samples.jsonl")
    put(folder / "soak.json", json.dumps(report, indent=1) + "\n")
    put(folder / "soak.html", page(report, [row for row in rows if "fds" in row], [row for row in rows if "storm" in row]))


def put(path, text):
    """The whole file, or none: who is killed here leaves nothing half."""
    half = path.with_suffix(path.suffix + ".part")
    half.write_text(text)
    half.replace(path)


def recovered(folder):
    """What a soak that was killed had come to."""
    rows = rows_of(folder / "samples.jsonl")
    header = next((row["header"] for row in rows if "header" in row), None)
    if header is None:
        raise ValueError(f"{folder / 'samples.jsonl'} has no header: it is of no soak")
    phases = [row["phase_done"] for row in rows if "phase_done" in row]
    return assemble(header, phases, [], {}, max((row.get("t", 0) for row in rows), default=0), complete=False)


def shards_of(report):
    return report["shards"] if "shards" in report else [report]


def merge(*reports):
    """One report of all of them. Each shard stands as it was; the whole is green if every one is."""
    shards = sorted((shard for report in reports for shard in shards_of(report)), key=lambda one: json.dumps(one))
    there = {tuple(shard["shard"]) for shard in shards}
    missing = [f"{part}/{of}" for of in sorted({of for _, of in there}) for part in range(1, of + 1)
               if (part, of) not in there]
    complete = not missing and all(shard["complete"] for shard in shards)
    green = bool(shards) and complete and all(shard["verdict"] == "green" for shard in shards)
    return {"format": FORMAT, "verdict": "green" if green else "red", "complete": complete, "missing": missing, "seconds": sum(shard["seconds"] for shard in shards),
            "shards": shards}


def load(path):
    try:
        report = json.loads(pathlib.Path(path).read_text())
        if report["format"] == FORMAT and all(key in shard for shard in shards_of(report) for key in NEEDED):
            return report
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"'{path}' is no report of a soak: {error}") from None
    raise ValueError(f"'{path}' has format {report['format']}, expected {FORMAT}")


def main(given):
    if given in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    try:
        if len(given) == 2 and given[0] == "make":
            folder = pathlib.Path(given[1])
            done = folder / "soak.json"
            report = load(done) if done.exists() else recovered(folder)
            if "shards" in report:
                raise ValueError(f"'{done}' is a merged report: there is no page of it")
            write(folder, report)
            print(f"{folder / 'soak.html'}, {done}")
        elif len(given) >= 3 and given[0] == "merge":
            report = merge(*(load(path) for path in given[2:]))
            pathlib.Path(given[1]).write_text(json.dumps(report, indent=1) + "\n")
            print(given[1])
        else:
            print(f"flare-report: expected 'make DIR' or 'merge OUT IN...', got '{' '.join(given)}'", file=sys.stderr)
            return 2
    except (ValueError, OSError) as error:
        print(f"flare-report: {error}", file=sys.stderr)
        return 2
    print(f"{report['verdict']}{'' if report['complete'] else ', not complete'}")
    return 0 if report["verdict"] == "green" else RED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
