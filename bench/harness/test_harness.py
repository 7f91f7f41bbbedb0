"""The harness by itself: what holds, what does not, what makes a run void, and the page that shows it."""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import page
import rounds
import table


def concluded(rows, foreign, **more):
    """(exit code, what was said, the JSON, the page)."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
        out = pathlib.Path(folder)
        code = table.conclude("kind", out, rows, foreign, **more)
        return code, said.getvalue(), json.loads((out / "kind.json").read_text()), (out / "kind.html").read_text()


GOOD = rounds.judge("good", [1.0, 1.0, 1.0], 1.0)
BAD = rounds.judge("bad", [1.2, 1.2, 1.2], 1.0)


class Bars(unittest.TestCase):
    def test_the_median_holds_and_the_worse_quartile_is_within_3_percent(self):
        self.assertTrue(rounds.judge("x", [0.5, 1.0, 1.0, 1.0, 9], 1.0)["ok"])
        self.assertFalse(rounds.judge("x", [1.0, 1.0, 1.0, 1.04, 1.04], 1.0)["ok"], "its upper quartile is 1.04")
        self.assertTrue(rounds.judge("x", [1.0, 1.0, 1.0, 1.03, 1.04], 1.0)["ok"])
        self.assertFalse(rounds.judge("x", [1.01, 1.01, 1.01], 1.0)["ok"])

    def test_at_least_is_judged_from_the_other_side(self):
        self.assertTrue(rounds.judge("x", [0.97, 1, 1, 1, 1], 1.0, at_most=False)["ok"])
        self.assertFalse(rounds.judge("x", [0.96, 0.96, 1, 1, 1], 1.0, at_most=False)["ok"])

    def test_the_order_turns_and_the_warm_up_does_not_count(self):
        asked = []
        found = rounds.in_turn(["a", "b", "c"], 3, lambda name: asked.append(name) or len(asked))
        self.assertEqual("".join(asked), "cab" "abc" "bca" "cab")
        self.assertEqual(found[0], {"a": 4, "b": 5, "c": 6})


class Conclusion(unittest.TestCase):
    def test_a_bar_that_does_not_hold_ends_with_42_and_one_not_judged_does_not(self):
        self.assertEqual(concluded([GOOD, table.left_out("none", "libnone-dev")], [0.01])[0], 0)
        self.assertEqual(concluded([GOOD, BAD], [0.01])[0], table.RED)

    def test_a_run_beside_others_is_void_whatever_its_bars_say(self):
        code, said, result, _ = concluded([GOOD], [0.05, 0.2, 0.2])
        self.assertEqual((code, result["void"]), (1, ["the CPU of others"]))
        self.assertIn("void", said)
        self.assertEqual(concluded([dict(GOOD, void=True)], [0.01])[0], 1, "the yardstick itself is off")

    def test_the_page_shows_every_row_and_round_and_asks_no_network(self):
        curve = {"title": "CPU", "unit": "us", "x_unit": "", "end": 100, "series": {"flare": [(16, 1), (100, 2)], "b": [(16, 3)]}}
        _, _, result, text = concluded([GOOD, BAD, table.left_out("none <x>", "libnone-dev")], [0.01], curves=[curve])
        self.assertEqual(len(re.findall('class="row', text)), 3)
        self.assertEqual(len(re.findall('class="round"', text)), sum(len(row.get("values", [])) for row in result["rows"]))
        self.assertEqual(re.findall('data-label="(.*?)" data-points="(.*?)"', text), [("flare", "2"), ("b", "1")])
        self.assertNotIn("<x>", text)
        self.assertIsNone(re.search(r'(src|href)=|url\(|@import|https?://', text))
        self.assertEqual(page.page(result), text)


if __name__ == "__main__":
    unittest.main()
