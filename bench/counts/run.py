#!/usr/bin/env python3
"""Instructions of the hot paths, counted by valgrind, against a stored budget. See docs/performance.md.

  scripts/bench counts [--write]      --write: the counts of this run become the budget

A count depends on the compiler and on the libraries, not on the machine or its load: so a budget is kept for one of each,
Debian 12's. What a path costs in system calls or caches it does not tell; scripts/bench http does.
Exit: 0, no count is above its budget; 42, one is; 1, it could not run.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUDGET = HERE / "budget.txt"
TIMES = 500
ABOVE = 0.02  # so much may a count be above its budget: code that moved, not code that was added
BELOW = 0.10  # so much below, and the budget no longer guards
RED = 42


class CountError(Exception):
    pass


def budgets():
    """{case: instructions of one time}."""
    lines = (line.split("#", 1)[0].split() for line in BUDGET.read_text().splitlines())
    return {fields[0]: float(fields[1]) for fields in lines if len(fields) == 2}


def count(program, case, times=TIMES):
    """Instructions of one time."""
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as out:
        # The C library chooses functions by the processor: all machines get those of the oldest.
        environment = dict(os.environ, GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX,-AVX_Fast_Unaligned_Load,-AVX2,"
                                                      "-AVX512VL,-AVX512BW,-BMI2,-ERMS,-SSE4_2")
        run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=counted", f"--callgrind-out-file={out.name}",
                              program, case, str(times)], env=environment, capture_output=True, text=True, check=False)
        found = re.search(r"^(?:totals|summary): (\d+)", pathlib.Path(out.name).read_text(), re.M)
    if run.returncode != 0 or not found or int(found.group(1)) == 0:
        raise CountError(f"{case}: valgrind ended with {run.returncode}, and counted nothing:\n{run.stderr[-2000:]}")
    return int(found.group(1)) / times


def verdict(counted, budget):
    """(ok, text)."""
    if counted > budget * (1 + ABOVE):
        return False, (f"is {100 * (counted / budget - 1):.1f} % above its budget: make the path shorter, or say in the "
                       "commit what the instructions are for, with scripts/bench counts --write")
    if counted < budget * (1 - BELOW):
        return True, "is far below its budget, which no longer guards: scripts/bench counts --write"
    return True, ""


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench counts", description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="the counts of this run become the budget")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("bench counts: valgrind is needed: apt-get install valgrind", file=sys.stderr)
        return 1
    known = budgets()
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = dict(zip(known, pool.map(lambda case: count(options.bin / "counts", case), known)))
    except CountError as error:
        print(f"bench counts: {error}", file=sys.stderr)
        return 1
    red = 0
    for case, counted in counts.items():
        ok, why = verdict(counted, known[case])
        red += not ok
        print(f"{'ok ' if ok else 'RED'}  {case:18} {counted:9.1f} instructions, budget {known[case]:9.1f}"
              + (f": {case} {why}" if why else ""))
    if options.write:
        head = [line for line in BUDGET.read_text().splitlines() if line.startswith("#")]
        rows = [f"{case:18} {counted:.1f}" for case, counted in counts.items()]
        BUDGET.write_text("\n".join(head + rows) + "\n")
        return 0
    return RED if red else 0


if __name__ == "__main__":
    sys.exit(main())
