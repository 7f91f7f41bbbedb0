"""soak.html: one page that opens without a network. Verdict first, gates, then figures over time. Plain SVG, no script."""

import html
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts/lib"))

from plot import PLOT_STYLE, plot


def series_of(samples, value):
    """SERVER -> [(seconds, value(sample))] of the long-lived servers."""
    found = {}
    for sample in samples:
        number = value(sample)
        if sample["server"].count(".") == 1 and number is not None:
            found.setdefault(sample["server"], []).append((sample["t"], number))
    return sorted(found.items())


def live(field, worker=None):
    def value(sample):
        line = sample.get("live_line")
        return None if line is None else sum(line[field]) if worker is None else line[field][worker]
    return value


def latency_of(loads, mode, percentile):
    """[(seconds, us)] of all loads on the servers of a mode, a point for each line that has an answer."""
    return [(row["t"], row["storm"]["latency_us"][percentile]) for row in loads
            if row["server"].split(".")[0] == mode and row["storm"]["count"] > 0]


def plots(report, samples, loads):
    phases, end = report["phases"], report["seconds"]
    yield plot("Resident memory", "MiB", series_of(samples, lambda s: s["rss_kib"] / 1024), phases, end)
    yield plot("Live heap", "KiB", series_of(
        samples, lambda s: s["live_line"] and s["live_line"]["heap_bytes"] / 1024), phases, end)
    yield plot("Descriptors", "count", series_of(samples, lambda s: s["fds"]), phases, end)
    yield plot("Handed over", "connections", [one for one in series_of(samples, live("handed_out")) if one[0][:2] == "on"],
               phases, end)
    for mode in ("on", "baseline_off"):
        chosen = [s for s in samples if s["server"] == f"{mode}.per-worker"]
        workers = range(len(next((s["live_line"]["live"] for s in chosen if s.get("live_line")), [])))
        rows = [(f"worker {w}", [(s["t"], s["live_line"]["live"][w]) for s in chosen if s.get("live_line")]) for w in workers]
        yield plot(f"Connections per worker, {mode}", "count", rows, phases, end)
    for percentile in ("p50", "p99"):
        rows = [(mode, latency_of(loads, mode, percentile)) for mode in ("on", "baseline_off")]
        yield plot(f"Latency {percentile} of each second, from the intended send time", "us", rows, phases, end, "log")


STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:1.5rem auto;padding:0 1rem;color:#222}
h1 b{padding:.1em .5em;color:#fff}.green{background:#2e7d4f}.red{background:#b3261e}table{border-collapse:collapse;width:100%}
td,th{padding:.25em .6em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}tr.bad td{background:#fde8e6}
@media print{body{max-width:none;margin:0}tr{break-inside:avoid}}code{background:#f4f4f4;padding:.1em .3em}
""" + PLOT_STYLE


def gate_row(one, where):
    state = {True: "ok", False: "RED", None: "not judged"}[one["ok"]]
    cells = [state, where, one["name"], one["figure"], one["bar"], one["why"]]
    return (f'<tr class="gate {"bad" if one["ok"] is False else ""}" data-ok="{one["ok"]}">'
            + "".join(f"<td>{html.escape(str('' if cell is None else cell))}</td>" for cell in cells) + "</tr>")


def table(name, rows):
    heads = "".join(f"<th>{head}</th>" for head in ("", "where", "gate", "figure", "bar", ""))
    body = "".join(gate_row(one, where) for one, where in rows)
    return f'<table id="{name}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


def page(report, samples, loads):
    """samples, loads: the rows of samples.jsonl."""
    verdict = report["verdict"]
    whole = [(one, "whole run") for one in report["gates"]]
    phases = [(one, f"{p['phase']}: {p['scenario']}, {one['server']}") for p in report["phases"] for one in p["gates"]]
    red = [row for row in phases if row[0]["ok"] is False]
    others = [row for row in phases if row[0]["ok"] is not False]
    first = sorted(red + whole, key=lambda row: row[0]["ok"] is not False)
    done = "" if report["complete"] else " (not complete)"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>soak: {verdict}{done}</title><style>{STYLE}</style></head><body>
<h1>Soak: <b id="verdict" class="{verdict}">{verdict}</b>{done}</h1>
<p>{report["seconds"]:.0f} s, {len(report["phases"])} phases, seed {report["seed"]}.
Again: <code>{html.escape(report["replay"])}</code></p>
<h2>Gates of the whole run, and what is red</h2>{table("gates", first)}
<h2>Over time</h2>{"".join(plots(report, samples, loads))}
<h2>All other gates of the phases</h2>{table("phases", others)}</body></html>
"""
