"""A copy of the tree that is broken, built and tested, again and again: only what changed is built again."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from sites import apply, take_back

COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "runtime", "tests", "tools", "examples", "bench", "scripts")
ROOMS = {
    "base": ["unit_base"],
    "kernel": ["unit_kernel"],
    "net": ["unit_net"],
    "reactor": ["unit_reactor"],
    "timer": ["unit_timer"],
    "handoff": ["unit_handoff", "stress_handoff", "stress_history"],
    "worker": ["unit_worker", "unit_worker_faults", "shutdown_scheduler"],
    "scheduler": ["unit_scheduler", "shutdown_scheduler", "unit_scheduler_faults"],
    "http": ["unit_http"],
}
REST = ["unit_worker", "shutdown_scheduler", "unit_http", "unit_worker_faults", "unit_scheduler_faults", "unit_scheduler",
        "tools_end_to_end", "unit_reactor", "unit_handoff", "unit_kernel", "unit_net", "unit_timer", "unit_base",
        "stress_handoff"]
SIMULATED = ["sim_queue", "sim_mutants", "sim_faults", "sim_lifecycle", "sim_storm", "sim_weak_orders"]
NOT_OF_DEV = ("http", "kernel/epoll_kernel")  # rooms whose code the model build does not have


class Killed(Exception):
    def __init__(self, test, how):
        super().__init__(test)
        self.test, self.how = test, how


class Workshop:
    def __init__(self, root, folder):
        self.copy = pathlib.Path(folder) / "src"
        self.normal = {}  # program -> seconds of its run without a mutant
        self.log = open(pathlib.Path(folder) / "log.txt", "w", encoding="utf-8")
        for part in COPIED:
            source, to = pathlib.Path(root) / part, self.copy / part
            if source.is_dir():
                shutil.copytree(source, to, copy_function=copy_if_changed, dirs_exist_ok=True)
            else:
                to.parent.mkdir(parents=True, exist_ok=True)
                copy_if_changed(source, to)

    def build(self, preset, target):
        if not (self.copy / "build" / preset / "CMakeCache.txt").exists():
            self.call(["cmake", "--preset", preset])
        return self.call(["cmake", "--build", "--preset", preset, "--target", target, "-j", "1"]) == 0

    def call(self, command):
        self.log.flush()
        return subprocess.run(command, cwd=self.copy, stdout=self.log, stderr=subprocess.STDOUT, check=False).returncode

    def run(self, preset, program):
        """Raises Killed when a test of the program fails."""
        found = next((self.copy / "build" / preset).rglob(program))
        limit = 20 + 8 * self.normal.get(program, 30)
        environment = dict(os.environ, RC_PARAMS="seed=1 max_success=100", FLARE_SIM_SEED="1")
        begin = time.monotonic()
        with subprocess.Popen([found, "--gtest_fail_fast"], cwd=self.copy, stdout=subprocess.PIPE, env=environment,
                              stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace") as process:
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                raise Killed(last_begun(output, program), "time limit") from None
        self.log.write(output)
        if process.returncode != 0:
            failed = re.findall(r"^\[  FAILED  \] ([\w/.]+)", output, re.M)
            raise Killed(failed[0] if failed else last_begun(output, program), "failed" if failed else "crash")
        return time.monotonic() - begin

    def prepare(self):
        """Builds and runs all of it as it is: what is red already proves nothing."""
        for preset, programs in (("dev", dict.fromkeys(REST + [p for own in ROOMS.values() for p in own])),
                                 ("sim", SIMULATED)):
            for program in programs:
                if not self.build(preset, program):
                    raise SystemExit(f"mutants: {program} does not build as it is: {self.log.name}")
                try:
                    self.normal[program] = self.run(preset, program)
                except Killed as red:
                    raise SystemExit(f"mutants: {red.test} is red without a mutant: {self.log.name}") from None

    def judge(self, site):
        """One of: ("no mutant", ""), ("survived", ""), (how, test)."""
        self.log.write(f"\n==== {site.name()}\n- {site.old}\n+ {site.new}\n")
        apply(self.copy, site)
        try:
            room = site.file.split("/")[2]
            library = "flare_http" if room == "http" else "flare_runtime"
            if not self.build("dev", library):
                return "no mutant", ""
            for program in dict.fromkeys(ROOMS[room] + REST):
                if not self.build("dev", program):
                    return "no mutant", ""
                self.run("dev", program)
            if not any(part in site.file for part in NOT_OF_DEV):
                for program in SIMULATED:
                    if not self.build("sim", program):
                        return "no mutant", ""
                    self.run("sim", program)
            return "survived", ""
        except Killed as red:
            return red.how, red.test
        finally:
            take_back(self.copy, site)


def last_begun(output, program):
    begun = re.findall(r"^\[ RUN      \] ([\w/.]+)", output, re.M)
    return begun[-1] if begun else program


def copy_if_changed(source, to):
    source, to = pathlib.Path(source), pathlib.Path(to)
    if not to.exists() or source.read_bytes() != to.read_bytes():
        shutil.copyfile(source, to)
        shutil.copymode(source, to)
    return str(to)
