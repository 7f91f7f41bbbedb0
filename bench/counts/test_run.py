"""The verdicts of run.py: each must be able to be red."""

import pathlib
import tempfile
import unittest

import run


class Verdict(unittest.TestCase):
    def test_code_that_only_moved_is_within_the_budget(self):
        self.assertEqual((True, ""), run.verdict(101.9, 100))
        self.assertEqual((True, ""), run.verdict(90.1, 100))

    def test_what_is_above_is_red_and_says_by_how_much(self):
        ok, why = run.verdict(103, 100)
        self.assertFalse(ok)
        self.assertIn("3.0 % above", why)

    def test_a_budget_that_no_longer_guards_is_named(self):
        ok, why = run.verdict(89, 100)
        self.assertTrue(ok)
        self.assertIn("--write", why)


class Counting(unittest.TestCase):
    def test_a_program_in_which_nothing_is_counted_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "counts"
            program.write_text("#!/bin/sh\nexit 0\n")
            program.chmod(0o755)
            with self.assertRaises(run.CountError):
                run.count(str(program), "queue-push-pop", 1)

    def test_every_case_of_the_program_has_a_budget(self):
        source = (run.HERE / "counts.cpp").read_text()
        named = {line.split('"')[1] for line in source.splitlines() if line.startswith('    {"')}
        self.assertEqual(named, set(run.budgets()))


if __name__ == "__main__":
    unittest.main()
