"""Each gate is shown something good and something bad: one that can't be red judges nothing."""

import contextlib
import io
import random
import unittest

import compare
import gates
from clients import tally
from options import arguments
from plan import plan
from progress import line as progress_line
from scenarios import SCENARIOS
from slope import median, theil_sen
from stage import Outcome

FIELDS = ("accepted", "received", "handed_out", "finished", "cut", "live", "queued", "requests", "handler_errors")


def line(**fields):
    return dict({name: [0, 0] for name in FIELDS}, **fields)


def outcome(clients=None, **more):
    """Two workers that served four connections and eight requests; one connection moved."""
    return Outcome(**{**dict(
        clients=tally(connected=4, answered=8) | (clients or {}), before=line(),
        after=line(accepted=[4, 0], received=[0, 1], handed_out=[1, 0], finished=[3, 1], requests=[6, 2])), **more})


def red(found):
    return [one["name"] for one in found if one["ok"] is False]


class OfAPhase(unittest.TestCase):
    def test_what_adds_up_is_green(self):
        self.assertEqual(red(gates.of_phase(outcome())), [])

    def test_each_of_these_is_red(self):
        good = outcome().after
        for name, bad in {
                "conservation": outcome(after=dict(good, finished=[3, 0])),
                "quiet at the end": outcome(after=dict(good, finished=[2, 1], live=[1, 0])),
                "accepts and connects": outcome({"connected": 5}),
                "answers read were counted": outcome({"answered": 9}),
                "answers nobody read": outcome({"answered": 7}),
                "answers that broke": outcome({"reset": 1, "answered": 7}),
                "strange answers and timeouts": outcome({"bad": 1}),
                "dropped or refused": outcome({"dropped": 1}),
                "left a report": outcome(exit_code=-11),
                "lines on stderr": outcome(stderr="draining\nflare: 1: broken invariant\n"),
                "happened: pauses": outcome(happened={"pauses": (0, 1)}),
                "exit code": outcome(report=report(), exit_code=4),
                "report adds up": outcome(report=report(adds_up=False), exit_code=0),
                "drained in time": outcome(report=dict(report(), drain_ms=5600), exit_code=0),
                "cut or left": outcome(report=report(cut=1), exit_code=0)}.items():
            self.assertEqual(red(gates.of_phase(bad)), [name])

    def test_a_client_that_leaves_may_miss_its_answer(self):
        self.assertEqual(red(gates.of_phase(outcome({"answered": 7, "left": 1}))), [])

    def test_a_worker_with_a_third_more_than_its_share_starves_the_other(self):
        self.assertTrue(gates.starved(outcome(after=line(requests=[13, 7])))["ok"])
        self.assertFalse(gates.starved(outcome(after=line(requests=[14, 6])))["ok"])


def report(adds_up=True, **totals):
    return {"adds_up": adds_up, "drain_ms": 10, "totals": dict({"cut": 0, "left": 0}, **totals)}


class Stalled(unittest.TestCase):
    def test_one_worker_that_stands_still_is_red_and_a_slow_machine_is_not(self):
        def lines(*ages):
            return [{"heartbeat_age_ms": list(ages)}] * 30 + [{"heartbeat_age_ms": [0] * len(ages)}] * 70
        self.assertTrue(gates.stalled(lines(0, 99, 0, 0))["ok"])
        self.assertFalse(gates.stalled(lines(0, 100, 0, 0))["ok"])
        self.assertTrue(gates.stalled(lines(150, 120, 300, 100))["ok"])
        self.assertIn("no worker stands still", red(gates.of_phase(outcome(lines=lines(0, 100, 0, 0)))))


class OfTheWhole(unittest.TestCase):
    def test_a_descriptor_a_thread_or_more_than_64_kib_of_heap_is_red(self):
        first = {"fds": 20, "threads": 6, "timers": 0, "own_timers": 4, "heap_bytes": 100000}
        self.assertEqual(red(gates.baseline(first, dict(first, heap_bytes=165536))), [])
        self.assertEqual(red(gates.baseline(first, {"fds": 21, "threads": 7, "timers": 5, "heap_bytes": 165537})),
                         ["fds as before", "threads as before", "timers", "live heap"])

    def test_memory_that_grows_by_2_mib_an_hour_is_red_in_an_hour_only(self):
        rng = random.Random(1)
        grows = [(t, 10000 + t * 2048 / 3600 + rng.uniform(-20, 20)) for t in range(3600)]
        still = [(t, 10000 + rng.uniform(-200, 200)) for t in range(3600)]
        self.assertEqual(gates.memory("on", 60, grows)["ok"], False)
        self.assertEqual(gates.memory("on", 30, grows)["ok"], True)
        self.assertEqual(gates.memory("on", 60, still)["ok"], True)
        self.assertIsNone(gates.memory("on", 5, grows)["ok"])

    def test_a_tail_that_grows_by_more_than_a_quarter_is_red(self):
        def windows(*p99s):
            return [{"p99": p99, "p999": 9 * p99} for p99 in p99s]
        same, more = windows(*[100] * 5), windows(126, 126, 126, 126, 10)
        self.assertTrue(gates.drift("on", windows(100, 900, 100), windows(125, 125, 125, 125, 10), same, 2)["ok"])
        self.assertFalse(gates.drift("on", same, more, same, 2)["ok"])
        self.assertTrue(gates.drift("on", same, more, more, 2)["ok"], "a new server is as slow: it is the machine")
        # Windows of a busy machine at the end, each with that of the new server beside it.
        new = [382, 651, 2998, 4784, 991, 1750, 420, 2300]
        old = [348, 2686, 5406, 1253, 1769, 1200, 400, 3100]
        self.assertTrue(gates.drift("on", same, windows(*old), windows(*new), 2)["ok"], "not in nearly all pairs")
        slower = windows(*(1.3 * p99 for p99 in new))
        self.assertFalse(gates.drift("on", same, slower, windows(*new), 2)["ok"], "whatever the machine does")
        self.assertFalse(gates.drift("on", same, [windows(90)[0], *slower[1:]], windows(*new), 2)["ok"], "but one")
        self.assertIsNone(gates.drift("on", windows(100), windows(200), same, 2)["ok"])
        self.assertIsNone(gates.drift("on", same, more, same, 1)["ok"])

    def test_a_window_without_an_answer_or_with_a_wrong_one_is_red(self):
        good = {"answered": 9, "wrong": 0}
        self.assertTrue(gates.answered("on", [good, good])["ok"])
        self.assertFalse(gates.answered("on", [good, {"answered": 0, "wrong": 0}])["ok"])
        self.assertFalse(gates.answered("on", [good, {"answered": 9, "wrong": 1}])["ok"])

    def test_one_red_gate_is_a_red_verdict_and_one_not_judged_is_not(self):
        judged = [gates.gate("a", True, 0, ""), gates.gate("b", None, 0, "")]
        self.assertTrue(gates.verdict(judged))
        self.assertFalse(gates.verdict([*judged, gates.gate("c", False, 1, "")]))


class Slope(unittest.TestCase):
    def test_it_is_that_of_the_line_and_one_outlier_in_ten_changes_nothing(self):
        values = [3 * t + (1000 if t % 10 == 0 else 0) for t in range(50)]
        slope, upper = theil_sen(list(range(50)), values)
        self.assertAlmostEqual(slope, 3)
        self.assertGreaterEqual(upper, slope)
        self.assertIsNone(theil_sen([1, 2], [1, 2]))
        self.assertEqual(median([3, 1, 2, 10]), 2.5)


class Plan(unittest.TestCase):
    def test_the_seed_alone_decides(self):
        self.assertEqual(plan(7, 60), plan(7, 60))
        self.assertNotEqual(plan(7, 60), plan(8, 60))

    def test_an_hour_has_each_scenario_with_both_strategies(self):
        seen = {(name, strategy) for name, strategy, _, _ in plan(7, 60)[1]}
        self.assertEqual(seen, {(name, strategy) for name in SCENARIOS for strategy in ("per-worker", "shared")})

    def test_it_keeps_its_time(self):
        for minutes in (1, 5, 60):
            length, phases = plan(7, minutes)
            self.assertTrue(phases)
            self.assertLessEqual(len(phases) * (length + 2) + 4 * length, max(minutes * 60, 60) + length)

    def test_a_wrong_argument_is_named_with_what_was_expected(self):
        for given, said in ((["--minutes", "0.5"], "'0.5', expected minutes from 1"), (["--shard", "3/2"], "'3/2', expected"),
                            (["--scenario", "none"], "'none'")):
            with contextlib.redirect_stderr(io.StringIO()) as text, self.assertRaises(SystemExit) as end:
                arguments(["--bin", ".", *given])
            self.assertEqual(end.exception.code, 2)
            self.assertIn(said, text.getvalue())


class Progress(unittest.TestCase):
    def test_it_tells_the_time_the_phase_and_the_live_counts(self):
        rows = [{"server": "on.shared", "live_line": {"live": [3, 4]}}, {"server": "baseline_off.shared", "live_line": None}]
        self.assertEqual(progress_line(75, 600, "3:churn.shared", rows),
                         "soak: 1:15, 8:45 left  3:churn.shared  live: on.shared 7")


class Compare(unittest.TestCase):
    def test_the_median_of_the_ratios_is_judged_from_the_side_of_its_bar(self):
        found = [({"p99": on, "throughput": 100}, {"p99": 100, "throughput": 100}) for on in (40, 50, 900)]
        bars = {"p99": (0.5, True), "throughput": (1.0, False)}
        self.assertEqual([row["ok"] for row in compare.judge(found, bars)], [True, True])
        self.assertEqual([row["ok"] for row in compare.judge(found[1:], bars)], [False, True])
        self.assertFalse(compare.judge(found, {"throughput": (1.01, False)})[0]["ok"])


if __name__ == "__main__":
    unittest.main()
