"""A copy of the tree that is broken, built and tested, again and again: only what changed is built again."""

import os
import pathlib
import shutil
import subprocess

COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "runtime", "tests", "tools", "examples", "bench", "scripts")
# Compiled as fast as can be: most of the time of a mutant is its compiler's. The simulation is linked for each mutant:
# optimised as a whole, that takes longer than its runs. The assertions see what in ci/run.sh is the asan stage's to
# see: an index past the end. "a && b || c" is a mutant, not a mistake. The same for all copies: they share objects.
CONFIGURED = ["-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF",
              "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -Wno-parentheses"]


class Scratch:
    def __init__(self, root, folder, configured=CONFIGURED):
        """folder: where the copy and log.txt go; configured: what cmake is given besides its preset."""
        self.folder = pathlib.Path(folder)
        self.copy = self.folder / "src"
        self.copy.mkdir(parents=True, exist_ok=True)
        self.log = open(self.folder / "log.txt", "w", encoding="utf-8")
        self.configured = list(configured)
        # The copy stands inside another repository: git must not look for one above it.
        self.environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.folder))
        if shutil.which("ccache"):  # taking a mutant back then costs no second compilation, and copies share theirs
            self.configured += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
            self.environment.setdefault("CCACHE_DIR", str(pathlib.Path(root) / "build/mutants/ccache"))
            self.environment.update(CCACHE_SLOPPINESS="pch_defines,time_macros", CCACHE_NOHASHDIR="1",
                                    CCACHE_BASEDIR=str(self.copy), CCACHE_MAXSIZE="10G")
        for part in COPIED:
            copy_tree(pathlib.Path(root) / part, self.copy / part)

    def build(self, preset, *targets, jobs=1):
        if not (self.copy / "build" / preset / "CMakeCache.txt").exists():
            self.call(["cmake", "--preset", preset, *self.configured])
        return self.call(["cmake", "--build", "--preset", preset, "--target", *targets, "-j", str(jobs)]) == 0

    def call(self, command):
        self.log.flush()
        return subprocess.run(command, cwd=self.copy, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log,
                              stderr=subprocess.STDOUT, check=False).returncode


def copy_tree(source, to):
    """Writes what differs and removes what source has no more, so that only what changed is built again."""
    if source.is_dir():
        to.mkdir(parents=True, exist_ok=True)
        for gone in {path.name for path in to.iterdir()} - {path.name for path in source.iterdir()}:
            shutil.rmtree(to / gone) if (to / gone).is_dir() else (to / gone).unlink()
        for path in source.iterdir():
            copy_tree(path, to / path.name)
    elif not to.exists() or source.read_bytes() != to.read_bytes():
        shutil.copyfile(source, to)
        shutil.copymode(source, to)
