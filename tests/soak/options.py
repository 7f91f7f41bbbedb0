"""The arguments of scripts/soak."""

import argparse
import pathlib

from planted import PLANTS
from scenarios import SCENARIOS


def shard_of(text):
    part, _, of = text.partition("/")
    if not (part.isdigit() and of.isdigit() and 1 <= int(part) <= int(of)):
        raise argparse.ArgumentTypeError(f"'{text}', expected I/N with I from 1 to N")
    return int(part), int(of)


def seed_of(text):
    if not (text.isdigit() and int(text) < 1 << 32):
        raise argparse.ArgumentTypeError(f"'{text}', expected a whole number below 2^32")
    return int(text)


def minutes_of(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 24 * 60:
        raise argparse.ArgumentTypeError(f"'{text}', expected minutes from 1, which leaves room for one phase, to 1440")
    return value


def arguments(given, description=None):
    parser = argparse.ArgumentParser(prog="scripts/soak", description=description)
    parser.add_argument("--minutes", type=minutes_of, default=5.0)
    parser.add_argument("--seed", type=seed_of, help="default: random, printed")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), help="only this one, again and again")
    parser.add_argument("--shard", type=shard_of, default=(1, 1), metavar="I/N", help="another seed for each shard")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/soak"))
    parser.add_argument("--plant", choices=PLANTS, help="with this fault in the server: the verdict must be red")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args(given)
