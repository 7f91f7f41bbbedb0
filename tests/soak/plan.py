"""Which phases a soak has: drawn from its seed alone."""

import random

import gates
from scenarios import SCENARIOS

STRATEGIES = ("per-worker", "shared")
PHASE_SECONDS = (6, 40)  # at least and at most
WINDOWS = 5
LAST_WINDOWS = 11  # beside new servers: of pairs, a quartile needs more than a median
WARM_UP_SECONDS = 25


def window_of(length):
    """Seconds of one window of load, for phases of so many."""
    return length / (WINDOWS * 2 * len(STRATEGIES))


def judges_windows(length):
    return window_of(length) >= gates.SHORTEST_WINDOW


def plan(seed, minutes, only=None):
    """[(scenario, strategy, seed, seconds)]: drawn from the seed alone. It begins and ends with the load whose tail is
    compared; between them every scenario comes once before one comes twice."""
    rng, names = random.Random(seed), [only] if only else sorted(SCENARIOS)
    left, phases, bag, rounds = minutes * 60.0, [], [], 0
    length = min(PHASE_SECONDS[1], max(PHASE_SECONDS[0], left / (2 * len(names) + 8)))
    # The windows at both ends, at the second one also of new servers.
    rounds_of_windows = WINDOWS + 2 * LAST_WINDOWS
    left -= rounds_of_windows * (length + 4) / WINDOWS if judges_windows(length) else 12
    left -= WARM_UP_SECONDS
    while left > length:
        if not bag:
            bag = [(name, STRATEGIES[(rounds + at) % 2]) for at, name in enumerate(names)]
            rng.shuffle(bag)
            rounds += 1
        name, strategy = bag.pop()
        phases.append((name, strategy, rng.randrange(1 << 32), length))
        left -= length + 2  # its quiet points
    return length, phases
