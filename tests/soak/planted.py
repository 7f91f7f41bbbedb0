"""Binaries with a planted fault: a soak that can't see these proves nothing."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "mutants"))

from scratch import Scratch

PLANTS = sorted(path.stem for path in (HERE / "planted").glob("*.patch"))


def planted_tree(name, folder):
    """A copy of the tree in folder, with that fault."""
    scratch = Scratch(ROOT, folder, ["-DFLARE_BUILD_TESTS=OFF", "-DFLARE_BUILD_EXAMPLES=OFF"])
    if scratch.call(["git", "apply", str(HERE / "planted" / f"{name}.patch")]) != 0:
        raise OSError(f"planted/{name}.patch does not apply: {scratch.log.name}")
    return scratch


def planted_binaries(name):
    """The folder of a flare-serve with that fault, built in a copy of the tree."""
    scratch = planted_tree(name, ROOT / "build/soak-planted" / name)
    if not scratch.build("release", "flare-serve", "flare-storm", jobs=2):
        raise OSError(f"the tree with planted/{name}.patch does not build: {scratch.log.name}")
    return scratch.copy / "build/release/tools"
