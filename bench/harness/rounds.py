"""Rounds in which all peers come in turn, and the ratios of one round: a machine's speed changes within minutes, so that
figures of different rounds are never compared."""

WORSE = 0.03  # by so much may the worse quartile miss a bar that the median holds
FOREIGN = 0.10  # more than so much CPU of others makes a run void


def quantile(values, part):
    """Of what is sorted or not, between its neighbours."""
    ordered = sorted(values)
    at = part * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def in_turn(names, rounds, measure, warm=1):
    """[{name: figures}] of each round after the warm-up; the order turns round by round."""
    found = []
    for number in range(-warm, rounds):
        shift = number % len(names)
        figures = {name: measure(name) for name in [*names[shift:], *names[:shift]]}
        if number >= 0:
            found.append(figures)
    return found


def ratios(rounds, figure, ours, peer):
    return [one[ours][figure] / one[peer][figure] for one in rounds]


def judge(name, values, bar, at_most=True):
    """A row of the table: the median must hold the bar, and the worse quartile be within 3 % of it."""
    low, middle, high = (quantile(values, part) for part in (0.25, 0.5, 0.75))
    if at_most:
        ok = middle <= bar and high <= bar * (1 + WORSE)
    else:
        ok = middle >= bar and low >= bar * (1 - WORSE)
    return {"name": name, "median": round(middle, 4), "quartiles": [round(low, 4), round(high, 4)], "bar": bar,
            "at_most": at_most, "ok": ok, "values": [round(value, 4) for value in values]}


def line(row):
    side = "at most" if row["at_most"] else "at least"
    return (f"{'ok ' if row['ok'] else 'RED'}  {row['name']:62} {row['median']:8.3f}  "
            f"({row['quartiles'][0]:.3f} to {row['quartiles'][1]:.3f}; {side} {row['bar']:g})")
