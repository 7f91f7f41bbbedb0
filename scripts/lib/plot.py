"""Plots of a page that opens without a network: plain SVG, no script."""

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


def plot(title, unit, series, phases, end, kind="linear", x_unit="s", x_kind="linear"):
    """series: [(label, [(x, value)])], at most as many as there are styles. phases: what is shaded, with begin, end and
    scenario. end: the largest x."""
    share, grid = scale_of([value for _, points in series for _, value in points], kind)
    x_share, marks_of_x = scale_of([*(x for _, points in series for x, _ in points), max(end, 1)], x_kind)
    if x_kind == "linear":
        marks_of_x = [max(end, 1) * part / 5 for part in range(6)]
    at_x = lambda x: LEFT + (WIDTH - LEFT - 10) * x_share(x)
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
    for x in marks_of_x:
        out.append(f'<text x="{at_x(x):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{nice(x)} {x_unit}</text>')
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


PLOT_STYLE = """figure{margin:1.5rem 0;break-inside:avoid}figcaption{font-weight:600}svg{width:100%;font:11px sans-serif}
.phase{fill:#f1f1f1}.grid{stroke:#ddd}.series{stroke-width:1.4}.keys span{margin-right:1.2em;white-space:nowrap}
.key{width:36px;height:10px;margin-right:.4em}"""
