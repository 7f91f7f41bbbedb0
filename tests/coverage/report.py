#!/usr/bin/env python3
"""report.py COVERAGE.json: what the tests executed of runtime/flare, per folder, against floor.txt, and probes.txt.

COVERAGE.json is gcovr's --json. --open COVERAGE.json prints what nothing executed; --sources ROOT only looks whether the
texts of ROOT's probes stand in ROOT's sources. Exits with 1 when a folder is under its floor, a probe was never hit, or a line is left
out without a reason."""
import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "runtime" / "flare"
MOST_EXCLUDED = 20


def rows(path, columns):
    """The lines of a table with columns separated by '|' (a '\\|' is text)."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) != columns:
            sys.exit(f"{path}:{number}: {len(cells)} columns, expected {columns}: {line}")
        yield cells


def load(path):
    """FILE under runtime/flare -> line number -> (count, counts of its branches)."""
    files = {}
    for one in json.loads(pathlib.Path(path).read_text())["files"]:
        name = one["file"].split("runtime/flare/", 1)
        if len(name) != 2:
            continue
        lines = files.setdefault(name[1], {})
        for line in one["lines"]:
            if line.get("gcovr/noncode"):
                continue
            lines[line["line_number"]] = (line["count"], [b["count"] for b in line["branches"] if not b.get("throw")])
    return files


def percent(hit, all_of_them):
    return 100.0 * hit / all_of_them if all_of_them else 100.0


def by_folder(files):
    """FOLDER and 'all' -> [lines hit, lines, branches hit, branches]."""
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, lines in files.items():
        for folder in (name.split("/")[0], "all"):
            for count, branches in lines.values():
                sums[folder][0] += count > 0
                sums[folder][1] += 1
                sums[folder][2] += sum(b > 0 for b in branches)
                sums[folder][3] += len(branches)
    return sums


def check_floor(sums):
    floors = {}
    for line in (HERE / "floor.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, lines, branches = line.split()
            floors[folder] = (float(lines), float(branches))
    bad = [f"floor.txt names '{folder}', which has no figures" for folder in floors if folder not in sums]
    print(f"{'folder':<10} {'lines':>7} {'of':>6}   {'branches':>8} {'of':>6}   floor")
    for folder in sorted(sums, key=lambda f: (f == "all", f)):
        lines_hit, lines, branches_hit, branches = sums[folder]
        line_percent, branch_percent = percent(lines_hit, lines), percent(branches_hit, branches)
        floor = floors.get(folder)
        print(f"{folder:<10} {line_percent:6.1f}% {lines:6}   {branch_percent:7.1f}% {branches:6}   "
              f"{floor[0]:.1f} {floor[1]:.1f}" if floor else
              f"{folder:<10} {line_percent:6.1f}% {lines:6}   {branch_percent:7.1f}% {branches:6}")
        if floor and (line_percent < floor[0] or branch_percent < floor[1]):
            bad.append(f"{folder} is at {line_percent:.2f} % of lines and {branch_percent:.2f} % of branches, "
                       f"its floor is {floor[0]} and {floor[1]}")
    return bad


def check_probe(files, name, file, text, kind):
    source = (RUNTIME / file).read_text().splitlines()
    places = [i for i, line in enumerate(source, 1) if text in line]
    if len(places) == 0:
        return f"probe '{name}': '{text}' is not in {file}"
    lines = files.get(file, {})
    if kind == "next":  # the statement behind a comment
        places = [min((n for n in lines if n > place), default=0) for place in places]
    known = [lines[place] for place in places if place in lines]
    if not known:
        return f"probe '{name}': {file}:{places[0]} is no statement"
    if any(count == 0 for count, _ in known):
        return f"probe '{name}' was never hit: {file}:{places[0]}"
    if kind == "branches":
        for _, branches in known:
            if not branches or any(b == 0 for b in branches):
                return f"probe '{name}' never went one of its ways: {file}:{places[0]}: {branches}"
    return None


def check_probes(files):
    bad, hit = [], 0
    for name, file, text, kind in rows(HERE / "probes.txt", 4):
        fault = check_probe(files, name, file, text, kind)
        bad += [fault] if fault else []
        hit += not fault
    print(f"{hit} of {hit + len(bad)} probes hit")
    return bad


def check_sources(root):
    """The probes whose text its file has lost: lines to print."""
    page = root / "tests" / "coverage" / "probes.txt"
    bad = []
    for name, file, text, _ in rows(page, 4):
        source = root / "runtime" / "flare" / file
        if not source.is_file() or not any(text in line for line in source.read_text().splitlines()):
            bad.append(f"tests/coverage/probes.txt: probe '{name}': '{text}' is not in {file}")
    return bad


def check_excluded():
    """Lines that gcovr was told to leave out: each says why, and they are few."""
    bad, count = [], 0
    for path in sorted(RUNTIME.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "GCOV" not in line:
                continue
            count += 1
            if not re.search(r"GCOVR?_EXCL_(BR_)?LINE: \S", line):
                bad.append(f"{path.relative_to(RUNTIME)}:{number}: left out without a reason (GCOVR_EXCL_LINE: why)")
    print(f"{count} lines left out")
    if count > MOST_EXCLUDED:
        bad.append(f"{count} lines are left out, at most {MOST_EXCLUDED} may be")
    return bad


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--sources":
        bad = check_sources(pathlib.Path(sys.argv[2]))
        print("\n".join(bad))
        sys.exit(1 if bad else 0)
    if len(sys.argv) == 3 and sys.argv[1] == "--open":  # to work from
        for name, lines in sorted(load(sys.argv[2]).items()):
            for number, (count, branches) in sorted(lines.items()):
                if count == 0 or any(b == 0 for b in branches):
                    print(f"{name}:{number}: {count} {branches}")
        return
    if len(sys.argv) != 2:
        sys.exit(f"usage: report.py [--open] COVERAGE.json, or --sources ROOT\n{__doc__}")
    files = load(sys.argv[1])
    if not files:
        sys.exit("coverage: no counts of runtime/flare in " + sys.argv[1])
    bad = check_floor(by_folder(files)) + check_probes(files) + check_excluded()
    for line in bad:
        print("coverage:", line, file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
