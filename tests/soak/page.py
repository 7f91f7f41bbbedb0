"""soak.html: one page that opens without a network. Verdict first, gates, then figures over time. Plain SVG, no script."""

import html
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 240, 70, 30, 12
# (colour, dashes, marker): no two series of a plot share dashes and marker, so that a print without colour is clear.
STYLES = [("#1b6ca8", "", "circle"), ("#c8501e", "6 3", "square"), ("#2e7d4f", "2 3", "triangle"),
          ("#7a3e9d", "8 3 2 3", "diamond"), ("#8a6d00", "1 4", "cross"), ("#444444", "12 4", "circle"),
          ("#b0306a", "4 2 1 2", "square"), ("#007c80", "10 2 4 2", "triangle")]
MOST_POINTS = 300


def shape(marker, x, y):
    if marker == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>'
    points = {"square": [(-2.4, -2.4), (2.4, -2.4), (2.4, 2.4), (-2.4, 2.4)], "triangle": [(0, -3), (3, 2.4), (-3, 2.4)],
              "diamond": [(0, -3.4), (3.4, 0), (0, 3.4), (-3.4, 0)],
              "cross": [(-3, -.8), (3, -.8), (3, .8), (-3, .8)]}[marker]
    return '<polygon points="' + " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points) + '"/>'


def nice(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def scale_of(values, kind):
    """(value -> share of the height, the values of the grid)."""
    top = max(values, default=0) or 1
    if kind == "linear":
        return lambda v: v / top, [top * part / 4 for part in range(5)]
    low = 10 ** math.floor(math.log10(max(1, min(values, default=1))))
    decades = max(1, math.ceil(math.log10(max(top, 10) / low)))
    return lambda v: math.log10(max(v, low) / low) / decades, [low * 10 ** part for part in range(decades + 1)]


def plot(title, unit, series, phases, end, kind="linear"):
    """series: [(label, [(seconds, value)])], at most as many as there are styles."""
    share, grid = scale_of([value for _, points in series for _, value in points], kind)
    span = max(end, 1)
    at_x = lambda t: LEFT + (WIDTH - LEFT - 10) * t / span
    at_y = lambda v: TOP + (HEIGHT - TOP - BOTTOM) * (1 - share(v))
    out = [f'<figure><figcaption>{html.escape(title)} ({html.escape(unit)})</figcaption>',
           f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}">']
    for number, phase in enumerate(phases):
        if number % 2 == 0:
            x = at_x(phase["begin"])
            out.append(f'<rect class="phase" x="{x:.1f}" y="{TOP}" width="{at_x(phase["end"]) - x:.1f}" '
                       f'height="{HEIGHT - TOP - BOTTOM}"><title>{html.escape(phase["scenario"])}</title></rect>')
    for value in grid:
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 10}" y1="{at_y(value):.1f}" y2="{at_y(value):.1f}"/>'
                   f'<text x="{LEFT - 6}" y="{at_y(value) + 4:.1f}" text-anchor="end">{nice(value)}</text>')
    for part in range(6):
        out.append(f'<text x="{at_x(span * part / 5):.1f}" y="{HEIGHT - 8}" text-anchor="middle">'
                   f'{nice(span * part / 5)} s</text>')
    for (label, points), (colour, dashes, marker) in zip(series, STYLES):
        step = max(1, -(-len(points) // MOST_POINTS))
        shown = [max(points[at:at + step], key=lambda one: one[1]) for at in range(0, len(points), step)]  # peaks stay
        line = " ".join(f"{at_x(t):.1f},{at_y(v):.1f}" for t, v in shown)
        marks = "".join(shape(marker, at_x(t), at_y(v)) for t, v in shown[::max(1, len(shown) // 40)])
        out.append(f'<g class="series" data-label="{html.escape(label)}" data-points="{len(shown)}" stroke="{colour}" '
                   f'fill="{colour}"><polyline points="{line}" fill="none" stroke-dasharray="{dashes}"/>{marks}</g>')
    keys = "".join(f'<span><svg class="key" viewBox="0 0 36 10"><g stroke="{colour}" fill="{colour}"><line x1="0" x2="36" '
                   f'y1="5" y2="5" stroke-dasharray="{dashes}"/>{shape(marker, 18, 5)}</g></svg>{html.escape(label)}</span>'
                   for (label, _), (colour, dashes, marker) in zip(series, STYLES))
    return "\n".join(out) + f'</svg><div class="keys">{keys}</div></figure>'


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
figure{margin:1.5rem 0;break-inside:avoid}figcaption{font-weight:600}svg{width:100%;font:11px sans-serif}
.phase{fill:#f1f1f1}.grid{stroke:#ddd}.series{stroke-width:1.4}.keys span{margin-right:1.2em;white-space:nowrap}
.key{width:36px;height:10px;margin-right:.4em}
@media print{body{max-width:none;margin:0}tr{break-inside:avoid}}code{background:#f4f4f4;padding:.1em .3em}"""


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
