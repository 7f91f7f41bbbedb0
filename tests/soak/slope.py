"""A robust slope of a series: Theil and Sen's median of pairwise slopes, with the upper end of its 95 % interval."""

import math


def theil_sen(times, values):
    """(slope, upper bound) per unit of time, or None with fewer than 10 points. The bound is Sen's, from Kendall's S."""
    count = len(times)
    if count < 10:
        return None
    slopes = sorted((values[j] - values[i]) / (times[j] - times[i])
                    for i in range(count) for j in range(i + 1, count) if times[j] > times[i])
    if not slopes:
        return None
    spread = 1.96 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    upper = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    return median(slopes), slopes[upper]


def median(values):
    """Of what is sorted or not."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def thinned(points, most):
    """At most so many of them, evenly."""
    if len(points) <= most:
        return points
    return [points[i * (len(points) - 1) // (most - 1)] for i in range(most)]
