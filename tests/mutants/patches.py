#!/usr/bin/env python3
"""Breaks one promise at a time in a scratch copy, and demands that the test which proves it turns red.

  scripts/mutants --list              the patches, with the tests they name
  scripts/mutants --promise ID...     the patches of these promises
  scripts/mutants --all               every patch
  scripts/mutants --missing           the promises of docs/contract.md that no patch breaks
  scripts/mutants --generated ...     mutants of the usual kinds, drawn from all sources (--generated --help)

A patch is tests/mutants/ID.patch or ID.NAME.patch: lines "# test: TARGET CTEST_NAME", "# why: ..." and, if the dev build
cannot see it, "# preset: asan" (or tsan), then a diff against the root. CTEST_NAME may hold * for any text.
The named test must pass without the patch and fail with it. A patch that no longer applies, or does not build, fails.
Exit: 0, every one is red by a failing test; 1, one is not; 2, usage.
"""

import concurrent.futures
import pathlib
import queue
import re
import shutil
import sys
import time
import xml.etree.ElementTree

from scratch import Scratch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LANES = 2  # copies at work at a time
RED = "red"


class Patch:
    def __init__(self, path):
        self.path, self.name = path, path.name.removesuffix(".patch")
        text = path.read_text(encoding="utf-8")
        self.preset = field(text, "preset") or "dev"
        self.target, _, self.test = (field(text, "test") or "").partition(" ")
        self.test = self.test.strip()
        self.why = field(text, "why")

    def promise(self):
        return self.name.split(".")[0]

    def fault(self):
        """What its header lacks, or None."""
        if not self.test:
            return "has no line '# test: TARGET CTEST_NAME'"
        return None if self.why else "has no line '# why: ...'"

    def pattern(self):
        return "^" + re.escape(self.test).replace(r"\*", ".*") + "$"


class Lane(Scratch):
    """One copy. It takes all patches of one test program, then those of another one."""

    def judge_all(self, patches):
        """Yields (patch, verdict). All are of one preset and one program."""
        target, preset = patches[0].target, patches[0].preset
        if not self.build(preset, target):
            yield from ((patch, f"unpatched, {target} does not build: {self.log.name}") for patch in patches)
            return
        status = self.run_tests(preset, "|".join(sorted({patch.pattern() for patch in patches})))
        for patch in patches:
            own = [status[name] for name in status if re.search(patch.pattern(), name)]
            if not own:
                yield patch, "there is no such test"
            elif not all(own):
                yield patch, f"the test fails without the patch: {self.log.name}"
            else:
                yield patch, self.judge(patch)

    def judge(self, patch):
        self.log.write(f"\n==== {patch.name}\n")
        if self.call(["git", "apply", str(patch.path)]) != 0:
            return f"does not apply: {self.log.name}"
        try:
            if not self.build(patch.preset, patch.target):
                return f"patched, {patch.target} does not build: {self.log.name}"
            began = self.log.tell()
            if all(self.run_tests(patch.preset, patch.pattern()).values()):
                return "GREEN: the test did not see it"
            self.log.seek(0, 2)
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                log.seek(began)
                return f"{RED} (by its time limit only)" if "***Timeout" in log.read() else RED
        finally:
            if self.call(["git", "apply", "-R", str(patch.path)]) != 0:
                raise SystemExit(f"mutants: {patch.name} cannot be taken back: {self.log.name}")

    def run_tests(self, preset, pattern):
        """NAME -> whether it passed, of the tests that match."""
        report = self.copy / "build" / preset / "junit.xml"
        report.unlink(missing_ok=True)
        self.call(["ctest", "--preset", preset, "-R", pattern])
        if not report.exists():
            return {}
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
        return {case.get("name"): case.get("status") == "run" for case in cases}


def field(text, name):
    """The value of the first line "# NAME: value"."""
    found = re.search(rf"^# {name}: *(.*)$", text, re.M)
    return found.group(1).strip() if found else None


def groups_of(patches):
    """Lists of patches of one preset and program, the longest first: the lanes then end together."""
    groups = {}
    for patch in patches:
        groups.setdefault((patch.preset, patch.target), []).append(patch)
    return sorted(groups.values(), key=len, reverse=True)


def judge(patches):
    """Prints a row per patch as its verdict comes, and the table. Returns the exit code."""
    began, rows, lanes = time.monotonic(), [], queue.Queue()
    groups = groups_of([patch for patch in patches if not patch.fault()])
    rows += [(patch, patch.fault()) for patch in patches if patch.fault()]
    scratch = ROOT / "build/mutants/patches"
    for number in range(min(LANES, len(groups))):
        lanes.put(Lane(ROOT, scratch / str(number)))

    def judged(group):
        lane = lanes.get()
        try:
            for patch, verdict in lane.judge_all(group):
                rows.append((patch, verdict))
                print(f"mutants: {patch.name}: {verdict}", flush=True)
        finally:
            lanes.put(lane)

    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        for done in [pool.submit(judged, group) for group in groups]:
            done.result()
    print()
    for patch, verdict in sorted(rows, key=lambda row: row[0].name):
        print(f"{patch.name:34} {patch.test or '-':52} {verdict}")
    red = sum(verdict == RED for _, verdict in rows)
    print(f"\n{red} of {len(rows)} red by a failing test, in {time.monotonic() - began:.0f} s")
    return 0 if red == len(rows) else 1


def fail(text):
    print(f"mutants: {text}", file=sys.stderr)
    sys.exit(2)


def main(arguments):
    what = arguments[0] if arguments else ""
    patches = [Patch(path) for path in sorted(HERE.glob("*.patch"))]
    if what in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    if what == "--missing":
        for promise in re.findall(r"^- \*\*(C-[A-Z]*-[0-9]*)\*\*", (ROOT / "docs/contract.md").read_text(), re.M):
            if all(patch.promise() != promise for patch in patches):
                print(promise)
        return 0
    if what == "--promise":
        wanted = arguments[1:]
        if not wanted:
            fail("--promise needs an id, such as C-QUEUE-01")
        for promise in wanted:
            if all(patch.promise() != promise for patch in patches):
                fail(f"tests/mutants/ has no patch for '{promise}'")
        patches = [patch for patch in patches if patch.promise() in wanted]
    elif what not in ("--list", "--all") or len(arguments) != 1:
        fail(f"expected --list, --missing, --promise ID, --all or --generated, got '{' '.join(arguments)}'")
    if what == "--list":
        for patch in patches:
            print(f"{patch.name:34} {patch.target} {patch.test}\n    {patch.why}")
        return 0
    for tool in ("git", "cmake", "ctest"):
        if not shutil.which(tool):
            fail(f"{tool} is needed")
    return judge(patches)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
