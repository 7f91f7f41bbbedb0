"""What a soak must show. A gate is a dict: name, ok (None: not judged), figure, bar, why. All are plain functions of what
was recorded, so that a report can be judged again, and a test can show each of them something bad."""

import re

from slope import median, theil_sen, thinned

HEAP_SLACK = 64 << 10
STARVED_ABOVE = 1.3
STALL_MS = 100
DRAIN_SLACK_MS = 500  # the join grace of 100 ms, and time for a machine that is busy
LAST_P99_AT_MOST = 1.25
SHORTEST_WINDOW = 2
SLOPES = ((60, 1.0), (20, 6.0))  # minutes of a soak -> MiB of resident memory per hour

KNOWN_LINES = (
    r"descriptors: .*", r"workers: \d+, (not )?pinned", r"listeners: \S+", r"handoff: .*", r"handler: \w+",
    r"connections: .*", r"drain timeout: \d+ ms", r"listening on \S+", r"draining",
)


def gate(name, ok, figure, bar, why=""):
    return {"name": name, "ok": ok, "figure": figure, "bar": bar, "why": why}


def fault(error):
    """Of a server that ended, hung, or stopped writing its figures."""
    return gate("servers serve", False, None, "to the end", str(error))


def shown(one, where=""):
    """A gate as a line."""
    return f"{where}{one['name']}: {one['figure']} ({one['bar']}) {one['why']}"


def conservation(line):
    """Workers whose counts do not add up, at a moment without a push or a close under way."""
    bad = []
    for worker in range(len(line["live"])):
        come = line["accepted"][worker] + line["received"][worker]
        gone = sum(line[field][worker] for field in ("finished", "handed_out", "cut", "live"))
        if come != gone:
            bad.append(f"worker {worker}: {come} came, {gone} went or are there")
    if sum(line["handed_out"]) != sum(line["received"]) + sum(line["queued"]):
        bad.append(f"{sum(line['handed_out'])} handed out, {sum(line['received'])} received")
    return bad


def of_phase(outcome):
    """The gates of one server in one phase."""
    yield from happened(outcome)
    yield from counts(outcome)
    yield from ending(outcome)
    if outcome.lines:
        yield stalled(outcome.lines)
    yield said(outcome)


def said(outcome):
    strange = [line for line in outcome.stderr.splitlines()
               if not any(re.fullmatch(known, line) for known in (*KNOWN_LINES, *outcome.may_say))]
    return gate("lines on stderr", not strange, len(strange), "0 that no pattern knows", "; ".join(strange[:3]))


def happened(outcome):
    for what, (count, least) in outcome.happened.items():
        yield gate(f"happened: {what}", count >= least, count, f"at least {least}")


def change_of(outcome, name):
    """How much a server counted in the phase; where it ended within, that stands in its report."""
    if outcome.after:
        return sum(outcome.after[name]) - sum(outcome.before[name])
    return outcome.report["totals"][name]


def counts(outcome):
    clients = outcome.clients
    probes = clients.get("probes", 0)  # each asks one question and resets
    if outcome.after:
        left = sum(outcome.after["live"]) + sum(outcome.after["queued"])
        yield gate("quiet at the end", left == 0, left, "0 connections")
        bad = conservation(outcome.after)
        yield gate("conservation", not bad, len(bad), "exact", "; ".join(bad))
    accepted, connected = change_of(outcome, "accepted"), clients["connected"] + probes
    unfinished = clients["unfinished"]  # what became of these only the kernel knows
    least = -outcome.may_wait - outcome.may_refuse
    yield gate("accepts and connects", least <= accepted - connected <= unfinished, accepted - connected,
               f"a difference of {least} to {unfinished}", f"{accepted} accepted, {connected} connected")
    answered, read = change_of(outcome, "requests"), clients["answered"] + probes
    yield gate("answers read were counted", read <= answered, read - answered, "at most 0 too many",
               f"{read} read, {answered} counted")
    may_miss = clients["left"] + clients["truncated"] + clients["reset"] + outcome.may_cut
    yield gate("answers nobody read", answered - read <= may_miss, answered - read, f"at most {may_miss}")
    broken = clients["truncated"] + clients["reset"]
    thrown = change_of(outcome, "handler_errors") if outcome.after else 0
    most = outcome.may_cut + outcome.may_refuse + thrown
    yield gate("answers that broke", broken <= most, broken, f"at most {most}, cut or thrown")
    strange = clients["bad"] + max(0, clients["timeout"] - outcome.may_wait)
    yield gate("strange answers and timeouts", strange == 0, strange, "0")
    if not outcome.may_drop:
        dropped = clients["dropped"] + clients["refused"]
        yield gate("dropped or refused", dropped == 0, dropped, "0 connections")


def ending(outcome):
    """Of a server that has ended."""
    if outcome.exit_code is None:
        return
    yield gate("left a report", bool(outcome.report), int(bool(outcome.report)), "1")
    if not outcome.report:
        return
    totals = outcome.report["totals"]
    yield gate("report adds up", outcome.report["adds_up"], int(outcome.report["adds_up"]), "1")
    yield gate("exit code", outcome.exit_code in outcome.expected_exit, outcome.exit_code, str(outcome.expected_exit))
    took, most = outcome.report["drain_ms"], outcome.drain_ms + DRAIN_SLACK_MS
    yield gate("drained in time", took <= most, round(took, 1), f"at most {most} ms")
    unasked = totals["cut"] + totals["left"] - outcome.may_cut
    yield gate("cut or left", unasked <= 0, unasked, "0 more than the scenario cuts")


def baseline(first, now):
    """Descriptors, threads, timers and heap of a long-lived server at a quiet point, beside those after its warm-up."""
    for what in ("fds", "threads"):
        yield gate(f"{what} as before", now[what] <= first[what], now[what] - first[what], "0 more",
                   f"{first[what]} then, {now[what]} now")
    yield gate("timers", now["timers"] <= first["own_timers"], now["timers"], f"at most {first['own_timers']}",
               "no connection is left: those for retries of accepts and for what was handed over")
    grown = now["heap_bytes"] - first["heap_bytes"]
    yield gate("live heap", grown <= HEAP_SLACK, grown, f"at most {HEAP_SLACK} bytes more")


def memory(name, minutes, samples):
    """Resident memory of a long-lived server. samples: (seconds, KiB), without the first fifth."""
    bar = next((most for least, most in SLOPES if minutes >= least), None)
    kept = thinned(samples[len(samples) // 5:], 600)
    slope = theil_sen([time / 3600 for time, _ in kept], [kib / 1024 for _, kib in kept])
    if slope is None:
        return gate(f"{name}: resident memory", None, None, "MiB per hour", "too few samples")
    figure = round(slope[1], 3)
    if bar is None:
        return gate(f"{name}: resident memory", None, figure, "not judged below 20 minutes", "MiB per hour")
    return gate(f"{name}: resident memory", figure <= bar, figure, f"at most {bar} MiB per hour", "upper 95 % bound")


def drift(name, first, last, fresh, seconds):
    """p99 of the same load at the start and at the end: medians of windows of so many seconds, in microseconds. p99.9 is
    shown. fresh: the windows of a new server at the end, each of them beside one of last, the control: a machine that has
    become slower slows it, too. What is slower by itself is so in nearly every pair, hence their lower quartile."""
    bar = f"at most {LAST_P99_AT_MOST} of the start, or of a new server"
    if min(len(first), len(last), len(fresh)) < 3 or seconds < SHORTEST_WINDOW:
        return gate(f"{name}: p99 at the end", None, None, bar,
                    f"windows of {seconds:.1f} s: not judged below {SHORTEST_WINDOW}")
    (then, then_999), (now, now_999), (new, new_999) = (
        [median([window[which] for window in windows]) for which in ("p99", "p999")] for windows in (first, last, fresh))
    pairs = sorted(old["p99"] / max(beside["p99"], 1) for old, beside in zip(last, fresh))
    of_new = pairs[len(pairs) // 4]
    ratio = round(min(now / max(then, 1), of_new), 3)
    return gate(f"{name}: p99 at the end", ratio <= LAST_P99_AT_MOST, ratio, bar,
                f"p99 {then:.0f} us, at the end {now:.0f}, a new server {new:.0f} (lower quartile of the pairs "
                f"{of_new:.3f}); p99.9 {then_999:.0f}, {now_999:.0f}, {new_999:.0f}")


def answered(name, windows):
    """Of every window of load: all of it was answered."""
    bad = sum(window["answered"] == 0 or window["wrong"] > 0 for window in windows)
    return gate(f"{name}: windows all answered", bad == 0, bad, f"0 of {len(windows)} with no answer, or a wrong one")


def starved(outcome):
    """With the handoff, of requests by connections that all came to one worker."""
    shares = [after - before for before, after in zip(outcome.before["requests"], outcome.after["requests"])]
    worst = round(max(shares) * len(shares) / max(1, sum(shares)), 3)
    return gate("no worker starved", worst <= STARVED_ABOVE, worst, f"worst at most {STARVED_ABOVE} of fair",
                f"requests {shares}")


def stalled(lines):
    """A worker that stands still again and again, beside the others of its server: a slow machine slows them all."""
    late = sorted(sum(line["heartbeat_age_ms"][worker] >= STALL_MS for line in lines)
                  for worker in range(len(lines[0]["heartbeat_age_ms"])))
    more, most = late[-1] - median(late), max(2, len(lines) // 10)
    return gate("no worker stands still", more <= most, more, f"at most {most} more than the middle one",
                f"of {len(lines)} looks, those at which a worker was at one tick for {STALL_MS} ms: {late}")


def verdict(gates):
    """False: one is red; else True."""
    return all(one["ok"] is not False for one in gates)
