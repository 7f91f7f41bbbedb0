"""A scratch copy of the tree in which one place at a time is broken, and the whole suite asked whether it sees that."""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from scratch import Scratch
from sites import apply, take_back

# The programs of a room, the quickest killer first; after them all others, the quickest first.
ROOMS = {
    "base": ["unit_base", "unit_scheduler"],
    "kernel": ["unit_kernel", "unit_scheduler"],
    "net": ["unit_net", "unit_scheduler"],
    "reactor": ["unit_reactor", "fuzz_reactor_dispatch", "unit_scheduler_faults"],
    "timer": ["unit_timer", "fuzz_timer_wheel"],
    "handoff": ["unit_handoff", "fuzz_handoff_pool", "stress_handoff", "unit_scheduler"],
    "worker": ["unit_scheduler_faults", "unit_scheduler", "unit_worker_faults", "unit_worker"],
    "scheduler": ["unit_scheduler", "unit_scheduler_faults", "shutdown_scheduler"],
    "http": ["unit_http", "fuzz_http_connection"],
}
REST = ["unit_base", "unit_net", "unit_timer", "unit_handoff", "unit_reactor", "unit_kernel", "unit_scheduler_faults",
        "unit_scheduler", "unit_http", "stress_handoff", "stress_runtime", "unit_worker_faults", "unit_scheduler_calls",
        "unit_worker", "shutdown_scheduler", "tools_end_to_end"]
# The simulation with less of a search than in ci/run.sh sim: a change that it sees at all is mostly seen at once.
SIMULATED = ["sim_lifecycle", "sim_faults", "sim_storm", "sim_mutants"]
SETTINGS = {"RC_PARAMS": "seed=1 max_success=100", "FLARE_SIM_SEED": "1", "FLARE_SIM_PREEMPTIONS": "1",
            "FLARE_SIM_SCHEDULES": "300"}
ALL = {"dev": list(dict.fromkeys(REST + [program for own in ROOMS.values() for program in own])),
       "sim": SIMULATED + ["sim_http", "sim_queue", "sim_weak_orders"]}
# sim_queue and sim_mutants search as deep as they always do: what they are to find needs it.
DEEP = {"sim_queue", "sim_mutants", "sim_weak_orders"}
NOT_IN_MODEL = "kernel/epoll_kernel"  # what the model build does not run
SILENCE = 25  # seconds without a line: tests themselves wait for 10 at most
# A loop that fills the memory ends, not the machine.
LIMITS = ["prlimit", "--core=0", "--data=6000000000", "--fsize=1000000000"]


class Killed(Exception):
    def __init__(self, test, how):
        super().__init__(test)
        self.test, self.how = test, how


class Workshop(Scratch):
    def __init__(self, root, folder, normal):
        """normal: program -> (seconds, longest silence) of its run without a mutant; measure() fills it."""
        super().__init__(root, folder)
        self.normal = normal

    def run(self, preset, program):
        """Raises Killed when a test of the program fails. Returns its seconds and its longest silence."""
        found = next(path for path in (self.copy / "build" / preset).rglob(program) if path.is_file())
        seconds, silence = self.normal.get(program, (120, 30))
        environment = dict(self.environment, **SETTINGS)
        if program in DEEP:
            del environment["FLARE_SIM_PREEMPTIONS"], environment["FLARE_SIM_SCHEDULES"]
        said = self.folder / f"{program}.txt"
        arguments = ["--gtest_fail_fast"]
        if program.startswith("fuzz_"):
            arguments = [f"tests/fuzz/corpus/{program.removeprefix('fuzz_')}"]
        with open(said, "wb") as out, subprocess.Popen(
                [*LIMITS, found, *arguments], cwd=self.copy, stdout=out, env=environment,
                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True) as process:
            seconds, silence, in_time = watch(process, said, 30 + 8 * seconds, SILENCE + 5 * silence)
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it started and left behind, too
            except ProcessLookupError:
                pass
        with open(said, encoding="utf-8", errors="replace") as text:
            output = text.read(4_000_000)
        self.log.write(output[-20_000:])
        failed = re.findall(r"^\[  FAILED  \] ([\w/.]+)", output, re.M)
        if failed or re.search(r": Failure$", output, re.M):  # a test that failed and then hangs has failed
            raise Killed(failed[0] if failed else last_begun(output, program), "failed")
        if not in_time:
            raise Killed(last_begun(output, program), "time limit")
        if process.returncode != 0:
            raise Killed(last_begun(output, program), "failed" if program.startswith("fuzz_") else "crash")
        return seconds, silence

    def locks_are_held(self, room):
        """What the builds of asan and tsan say of a room before they run a test."""
        sources = sorted(str(file) for file in (self.copy / "runtime/flare" / room).glob("*.cpp"))
        return self.call(["clang++-22", "-std=c++20", "-fsyntax-only", "-Iruntime", "-I/usr/share/include/llhttp",
                          "-Wthread-safety", "-Werror=thread-safety", *sources]) == 0

    def prepare(self):
        """Builds all of it as it is."""
        for preset, programs in ALL.items():
            if not self.build(preset, *programs, jobs=os.cpu_count() or 1):
                raise SystemExit(f"mutants: {preset} does not build as it is: {self.log.name}")

    def measure(self, jobs):
        """Runs all of it as it is, as many programs at a time as there will be mutants: what is red already proves
        nothing."""
        def normal(preset, program):
            try:
                return program, self.run(preset, program)
            except Killed as red:
                return program, red.test

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = [pool.submit(normal, preset, program) for preset, programs in ALL.items() for program in programs]
            for program, result in (run.result() for run in runs):
                if isinstance(result, str):
                    raise SystemExit(f"mutants: {result} is red without a mutant: {self.log.name}")
                self.normal[program] = result

    def judge(self, site, tested=True):
        """One of: ("no mutant", ""), ("survived", ""), (how, test). tested: else it survives as soon as it compiles."""
        self.log.write(f"\n==== {site.name()}\n- {site.old}\n+ {site.new}\n")
        apply(self.copy, site)
        try:
            room = site.file.split("/")[2]
            if not self.build("dev", "flare_http" if room == "http" else "flare_runtime"):
                return "no mutant", ""
            for preset, program in programs_of(site, room) if tested else ():
                if not self.build(preset, program):
                    return "no mutant", ""
                self.run(preset, program)
            if "Lock" in "".join(site.old) and not self.locks_are_held(room):
                return "failed", "-Wthread-safety"
            return "survived", ""
        except Killed as red:
            return red.how, red.test
        finally:
            take_back(self.copy, site)


def programs_of(site, room):
    if site.kind == "order":  # a processor of this kind hides most of them; the model does not
        yield "sim", "sim_weak_orders"
    yield from (("dev", program) for program in dict.fromkeys(ROOMS[room] + REST))
    if room == "http":
        yield "sim", "sim_http"
    elif NOT_IN_MODEL not in site.file:
        if room == "handoff":
            yield "sim", "sim_queue"
        yield from (("sim", program) for program in SIMULATED)


def watch(process, said, seconds, silence):
    """Kills the process after so many seconds, or so many without a word. Returns seconds, longest silence, in time."""
    begin = spoke = time.monotonic()
    longest, size = 0.0, 0
    while process.poll() is None:
        time.sleep(0.02)
        now, grown = time.monotonic(), said.stat().st_size
        longest = max(longest, now - spoke)
        if grown != size:
            spoke, size = now, grown
        if now - begin > seconds or now - spoke > silence:
            os.killpg(process.pid, signal.SIGKILL)
            return now - begin, longest, False
    return time.monotonic() - begin, longest, True


def last_begun(output, program):
    begun = re.findall(r"^\[ RUN      \] ([\w/.]+)", output, re.M)
    return begun[-1] if begun else program
