"""Reports: merging in any order, what is left of a soak that was killed, and that the page says what soak.json says."""

import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

import gates
import page
import plot
import report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--dump-dom"]


def header(seed):
    return {"seed": seed, "shard": [seed, 2], "minutes": 1.0, "replay": f"scripts/soak --seed {seed}"}


def phase(number, ok=True, name="churn"):
    found = [dict(gates.gate("quiet at the end", ok, 0 if ok else 3, "0 connections"), server="on.per-worker")]
    return {"phase": number, "scenario": name, "strategy": "per-worker", "seed": 1, "begin": number * 10.0,
            "end": number * 10.0 + 8, "ok": ok, "gates": found, "clients": {},
            "latency_us": {"on": {"p50": 100, "p99": 200}, "baseline_off": {"p50": 110, "p99": 300}}}


def sample(second, server):
    live = {name: [1, 2] for name in ("live", "handed_out")} | {"heap_bytes": 50000 + second}
    return {"t": float(second), "server": server, "phase": "1:churn", "fds": 20, "threads": 6, "rss_kib": 9000 + second,
            "live_line": live}


def soak(seed, ok=True, complete=True):
    return report.assemble(header(seed), [phase(1), phase(2, ok, "cap & <more>")], [gates.gate("heap", True, 1, "2")], {},
                           20.0, complete)


SERVERS = ["baseline_off.per-worker", "baseline_off.shared", "on.per-worker", "on.shared"]
SAMPLES = [sample(second, server) for second in range(20) for server in SERVERS]
LOADS = [{"t": float(second), "load": f"{mode}.1", "server": f"{mode}.per-worker", "phase": "1:churn",
          "storm": {"count": 9, "latency_us": {"p50": 100 + second, "p99": 90000}}}
         for second in range(20) for mode in ("on", "baseline_off")]


def folder_of(rows):
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Merge(unittest.TestCase):
    def test_order_and_grouping_make_no_difference(self):
        rng = random.Random(1)
        for _ in range(200):
            parts = [soak(rng.randrange(1, 4), rng.random() < 0.8, rng.random() < 0.8) for _ in range(rng.randint(3, 6))]
            whole = report.merge(*parts)
            rng.shuffle(parts)
            cut = rng.randint(1, len(parts) - 1)
            self.assertEqual(whole, report.merge(report.merge(*parts[:cut]), report.merge(*parts[cut:])))

    def test_one_red_shard_is_red_and_one_that_is_cut_short_is_not_complete(self):
        self.assertEqual(report.merge(soak(1), soak(2))["verdict"], "green")
        self.assertEqual(report.merge(soak(1), soak(2, ok=False))["verdict"], "red")
        self.assertFalse(report.merge(soak(1), soak(2, complete=False))["complete"])

    def test_a_shard_that_left_nothing_is_missed(self):
        merged = report.merge(soak(2))
        self.assertEqual((merged["verdict"], merged["complete"], merged["missing"]), ("red", False, ["1/2"]))


class Killed(unittest.TestCase):
    def test_what_ran_is_reported_and_is_no_success(self):
        folder = folder_of([{"header": header(3)}, *SAMPLES, {"t": 9.0, "phase_done": phase(1)}])
        with open(folder / "samples.jsonl", "a", encoding="utf-8") as file:
            file.write('{"t": 21, "server": "on.sha')  # killed in mid-line
        self.assertEqual(report.main(["make", str(folder)]), report.RED)
        made = json.loads((folder / "soak.json").read_text())
        self.assertEqual((made["complete"], made["verdict"], len(made["phases"])), (False, "red", 1))
        self.assertIn("not complete", (folder / "soak.html").read_text())

    def test_a_merged_report_has_no_page(self):
        folder = folder_of([])
        (folder / "soak.json").write_text(json.dumps(report.merge(soak(1), soak(2))))
        self.assertEqual(report.main(["make", str(folder)]), 2)

    def test_what_is_no_report_is_named(self):
        self.assertEqual(report.main(["make", "/nonexistent"]), 2)
        self.assertEqual(report.main(["merge", "out.json", "/nonexistent"]), 2)
        self.assertEqual(report.main(["merge"]), 2)


class Page(unittest.TestCase):
    def check(self, text, made):
        """The page against soak.json: verdict, gates, and that every point of every series is there."""
        self.assertIn(f'id="verdict" class="{made["verdict"]}"', text)
        all_gates = made["gates"] + [one for p in made["phases"] for one in p["gates"]]
        self.assertEqual(len(re.findall(r'class="gate ', text)), len(all_gates))
        self.assertEqual(text.count('data-ok="False"'), sum(one["ok"] is False for one in all_gates))
        for figure in re.findall(r"<figure>.*?</figure>", text, re.S):
            series = re.findall(r'class="series" data-label="([^"]*)" data-points="(\d+)".*?<polyline points="([^"]*)"',
                                figure, re.S)
            self.assertTrue(series, figure[:80])
            for label, count, points in series:
                self.assertEqual(len(points.split()), int(count), label)
        memory = re.search(r"<figure><figcaption>Resident memory.*?</figure>", text, re.S).group(0)
        self.assertEqual(re.findall(r'data-points="(\d+)"', memory), ["20"] * len(SERVERS))
        latency = re.search(r"<figure><figcaption>Latency p99.*?</figure>", text, re.S).group(0)
        self.assertEqual(re.findall(r'data-points="(\d+)"', latency), ["20"] * 2)
        for at in re.findall(r'[xy12]="(-?[\d.]+)"', text):
            self.assertGreaterEqual(float(at), -10)

    def test_it_says_what_the_report_says_and_escapes_it(self):
        for ok in (True, False):
            made = soak(1, ok)
            text = page.page(made, SAMPLES, LOADS)
            self.check(text, made)
            self.assertNotIn("<more>", text)

    def test_no_two_series_share_dashes_and_marker(self):
        looks = [(dashes, marker) for _, dashes, marker in plot.STYLES]
        self.assertEqual(len(set(looks)), len(looks))

    def test_a_logarithmic_scale_spans_whole_decades(self):
        share, grid = plot.scale_of([30, 4000], "log")
        self.assertEqual((grid, share(10), round(share(1000), 6)), ([10, 100, 1000, 10000], 0, round(2 / 3, 6)))
        self.assertEqual(plot.scale_of([], "log")[1], [1, 10])

    def test_print_has_all_of_it_for_nothing_in_it_is_interactive(self):
        text = page.page(soak(1), SAMPLES, LOADS)
        interactive = r"<(script|button|input|select|details|video|iframe)|position:|overflow|:hover| on\w+="
        self.assertIsNone(re.search(interactive, text))

    def test_it_needs_no_network(self):
        self.assertIsNone(re.search(r'(src|href)=|url\(|@import|https?://', page.page(soak(1), SAMPLES, LOADS)))

    def test_a_browser_reads_the_same_and_finds_no_error(self):
        browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
        if browser is None:
            self.skipTest("no browser here: apt-get install chromium")
        folder = folder_of([{"header": header(3)}, *SAMPLES, *LOADS])
        made = soak(2, ok=False)
        report.write(folder, made)
        profile = tempfile.mkdtemp()
        done = subprocess.run([browser, *FLAGS, f"--user-data-dir={profile}", (folder / "soak.html").as_uri()],
                              capture_output=True, text=True, timeout=60, check=True)
        self.check(done.stdout, made)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])


if __name__ == "__main__":
    unittest.main()
