#!/usr/bin/env python3
"""Mutants of the usual kinds, drawn by seed from all sites of runtime/flare, each built and tested.

  scripts/mutants --generated [--count N] [--seed S] [--jobs J] [--only TEXT]... [--recheck] [--list]

Prints a table: each mutant with the first test that killed it and how. A survivor is a hole in the suite, or it is
explained in tests/mutants/generated/survivors.md, which at most 5 % may be: these are compiled, and tested again with
--recheck only, for a survivor takes as long as twenty others. Exit: 0, or 1 when that does not hold.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import pathlib
import queue
import sys

from sites import all_sites
from workshop import Workshop

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXPLAINED_AT_MOST = 0.05


def explained():
    """(file, old, new) of each row: | file | old | new | why |, the texts in backquotes."""
    rows = set()
    for line in (HERE / "survivors.md").read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.replace(r"\|", "\0").split("|")[1:-1]]
        if len(cells) == 4 and cells[0].startswith("runtime/") and cells[3]:
            rows.add(tuple(cell.replace("\0", "|") for cell in cells[:3]))
    return rows


def text(lines):
    return " ".join(line.strip() for line in lines)


def key(site):
    return site.file, text(site.old), text(site.new)


def drawn(sites, seed):
    """All sites in the order in which the seed draws them. A change elsewhere in the sources leaves the order of the
    others: most of a run's mutants are those of the run before, and a survivor that was killed stays in it."""
    same = collections.Counter()

    def rank(site):
        same[key(site)] += 1  # the text of a change may stand in a file more than once
        return hashlib.sha256("\0".join([str(seed), *key(site), str(same[key(site)])]).encode()).digest()

    return [site for _, site in sorted([(rank(site), site) for site in sites], key=lambda one: one[0])]


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/mutants --generated")
    parser.add_argument("--count", type=int, default=150, help="mutants that compile (default 150)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4, help="copies of the tree at a time (default 4: tests wait)")
    parser.add_argument("--only", action="append", help="sites whose FILE:LINE:KIND holds this text, or another --only's")
    parser.add_argument("--recheck", action="store_true", help="test those that are explained, too")
    parser.add_argument("--list", action="store_true", help="print the sites, test nothing")
    return parser.parse_args()


def judge_all(sites, count, jobs, folder, known):
    """Yields (site, how, test) of count sites that are mutants, in the order in which they end. known: keys of those that
    are compiled only."""
    benches = queue.Queue()

    def judged(site):
        bench = benches.get()
        try:
            return (site, *bench.judge(site, tested=key(site) not in known))
        finally:
            benches.put(bench)

    normal = {}
    first, *others = [Workshop(ROOT, folder / str(number), normal) for number in range(jobs)]
    first.prepare()  # its objects serve the others, too
    first.measure(jobs)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(bench.prepare) for bench in others]:
            done.result()
    for bench in (first, *others):
        benches.put(bench)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rest, open_, done = iter(sites), set(), 0
        while done < count:
            while len(open_) < min(jobs, count - done) and (site := next(rest, None)):
                open_.add(pool.submit(judged, site))
            if not open_:
                return
            ended, open_ = concurrent.futures.wait(open_, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in ended:
                if one.result()[1] != "no mutant":
                    done += 1
                    yield one.result()


def main():
    options = arguments()
    sites = [site for site in all_sites(ROOT) if any(text in site.name() for text in options.only or [""])]
    sites = drawn(sites, options.seed)
    if options.list:
        for site in sites:
            print(f"{site.name()}: {text(site.old)}  ->  {text(site.new)}")
        return 0
    known, counts, holes = explained(), {}, []
    folder = ROOT / "build/mutants/generated"
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}, {len(sites)} sites; replay: scripts/mutants --generated --seed {options.seed}")
    with open(folder / "report.md", "w", encoding="utf-8") as report:
        report.write("| mutant | change | verdict | by |\n|---|---|---|---|\n")
        for site, how, test in judge_all(sites, options.count, options.jobs, folder, set() if options.recheck else known):
            if how == "survived" and key(site) in known:
                how = "explained"
            elif how == "survived":
                holes.append(site)
            counts[how] = counts.get(how, 0) + 1
            change = f"`{text(site.old)}` -> `{text(site.new)}`".replace("|", r"\|")
            row = f"| {site.name()} | {change} | {how} | {test} |"
            report.write(row + "\n")
            report.flush()
            print(row, flush=True)
    total = sum(counts.values())
    print(f"\n{total} mutants: " + ", ".join(f"{count} {how}" for how, count in sorted(counts.items())))
    for site in holes:
        print(f"SURVIVED  {site.name()}: {text(site.old)}  ->  {text(site.new)}")
    return 0 if total and not holes and counts.get("explained", 0) <= EXPLAINED_AT_MOST * total else 1


if __name__ == "__main__":
    sys.exit(main())
