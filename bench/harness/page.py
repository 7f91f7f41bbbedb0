"""The page of a run of scripts/bench: rows with their bars, each round's ratio as a dot, and curves. Opens without a network."""

import html
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts/lib"))

from plot import PLOT_STYLE, plot

WIDTH, HEIGHT, PAD = 340, 26, 8
STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:1.5rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:left}
tr.bad td{background:#fde8e6}tr.none td{color:#777}td svg{width:340px;height:26px}.bar{stroke:#b3261e;stroke-width:2}
.round{fill:#1b6ca8;fill-opacity:.55}.middle{stroke:#1b6ca8;stroke-width:2.4}.axis{stroke:#ccc}
@media print{body{max-width:none;margin:0}tr{break-inside:avoid}}
""" + PLOT_STYLE


def strip(row):
    """The rounds as dots, their median as a line, the bar as another; from 0 to a little more than the largest."""
    top = 1.1 * max([*row["values"], row["bar"]])
    at = lambda value: PAD + (WIDTH - 2 * PAD) * value / top
    dots = "".join(f'<circle class="round" cx="{at(value):.1f}" cy="{HEIGHT / 2}" r="3.4"/>' for value in row["values"])
    lines = "".join(f'<line class="{kind}" x1="{at(value):.1f}" x2="{at(value):.1f}" y1="2" y2="{HEIGHT - 2}"/>'
                    for kind, value in (("bar", row["bar"]), ("middle", row["median"])))
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(row["name"])}">'
            f'<line class="axis" x1="{PAD}" x2="{WIDTH - PAD}" y1="{HEIGHT / 2}" y2="{HEIGHT / 2}"/>{dots}{lines}</svg>')


def line(row):
    if "median" not in row:
        return (f'<tr class="row none" data-ok="None"><td>-</td><td>{html.escape(row["name"])}</td>'
                f'<td colspan="3">{html.escape(row["why"])}</td></tr>')
    side = "at most" if row["at_most"] else "at least"
    low, high = row["quartiles"]
    return (f'<tr class="row {"" if row["ok"] else "bad"}" data-ok="{row["ok"]}"><td>{"ok" if row["ok"] else "RED"}</td>'
            f'<td>{html.escape(row["name"])}</td><td>{row["median"]:g} ({low:g} to {high:g})</td>'
            f'<td>{side} {row["bar"]:g}</td><td>{strip(row)}</td></tr>')


def page(result):
    """result: what the JSON file holds."""
    kind = result["kind"]
    judged = [row for row in result["rows"] if "median" in row]
    red = sum(not row["ok"] for row in judged)
    curves = "".join(plot(one["title"], one["unit"], [(name, points) for name, points in one["series"].items()], [],
                          one["end"], one.get("kind", "linear"), one["x_unit"], "log") for one in result.get("curves", []))
    void = f'<p><b>Void: {html.escape(", ".join(result["void"]))}</b></p>' if result["void"] else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>bench {kind}</title><style>{STYLE}</style></head><body>
<h1>bench {kind}</h1>{void}
<p>{len(judged)} bars judged, {red} of them not held. A dot is one round, the blue line the median, the red line the bar. CPU of
others: {result["foreign"]}.</p>
<table><thead><tr><th></th><th>what</th><th>median (quartiles)</th><th>bar</th><th></th></tr></thead>
<tbody>{"".join(line(row) for row in result["rows"])}</tbody></table>{curves}</body></html>
"""
