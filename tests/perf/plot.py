# A picture of what a frame costs, against how many are mapped at once: SVG, two rows of three panels.
# SPDX-License-Identifier: LGPL-2.1-or-later
import math
from xml.sax.saxutils import escape

PANEL_W, PANEL_H = 290, 210
LEFT, TOP, GAP_X, GAP_Y = 78, 96, 34, 74
COLUMNS = ("map", "unmap", "replace")
TITLES = {"map": "map", "unmap": "munmap", "replace": "replace (stock: munmap, map)"}
DOM0 = ("pv", "pvh")
# name, in words, colour, dashes, shape of the points
LINES = [
    ("per_frame", "a hypercall and a flush a frame", "#b35806", "", "square"),
    ("stock", "stock module", "#555555", "", "circle"),
    ("ours", "ours", "#1b7837", "", "circle"),
    ("floor", "the floor: bare hypercalls", "#2166ac", "5 4", "none"),
]


def value(medians, line, op, n):
    if line == "stock":
        return medians.stock(op, n)
    if line == "floor":
        return medians.floor(op, n)
    if line == "per_frame":
        return medians.get("ours", "per_frame_" + op, n)
    return medians.get("ours", op, n)


def points(medians, line, op):
    """(frames, ticks a frame) of one line."""
    found = ((n, value(medians, line, op, n)) for n in medians.sizes())
    return [(n, ticks / n) for n, ticks in found if ticks]


class Axis:
    """A logarithmic axis from decade to decade."""

    def __init__(self, low, high, start, length):
        self.low, self.high, self.start, self.length = math.log10(low), math.log10(high), start, length

    def at(self, number):
        return self.start + (math.log10(number) - self.low) / (self.high - self.low) * self.length


def bounds(numbers):
    """1, 2 or 5 times a power of ten below the least and above the greatest."""
    low, high = min(numbers), max(numbers)
    steps = [m * 10 ** e for e in range(0, 12) for m in (1, 2, 5)]
    return max((s for s in steps if s <= low * 0.97), default=1), min(s for s in steps if s >= high * 1.03)


def amount(number):
    for size, unit in ((10 ** 9, " G"), (10 ** 6, " M"), (10 ** 3, " k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def text(x, y, words, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>{escape(words)}</text>'


def grid(x_axis, y_axis, left, top, sizes, y_labels):
    bottom, right = top + PANEL_H, left + PANEL_W
    yield f'<rect x="{left}" y="{top}" width="{PANEL_W}" height="{PANEL_H}" fill="#ffffff" stroke="#999999"/>'
    for number in [m * 10 ** e for e in range(0, 12) for m in (1, 2, 5)]:
        y = y_axis.at(number)
        if not top - 0.5 <= y <= bottom + 0.5:
            continue
        yield f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        if y_labels:
            yield text(left - 7, y + 4, amount(number), "end")
    for n in sizes:
        x = x_axis.at(n)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="#eeeeee"/>'
        yield text(x, bottom + 16, str(n), size=11)


def marker(x, y, colour, shape):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    return ""


def curve(x_axis, y_axis, line, found):
    _, _, colour, dashes, shape = line
    places = [(x_axis.at(n), y_axis.at(ticks)) for n, ticks in found]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for x, y in places:
        yield marker(x, y, colour, shape)


def row_of_panels(dom0, medians, top):
    every = {(line[0], op): points(medians, line[0], op) for line in LINES for op in COLUMNS}
    numbers = [ticks for found in every.values() for _, ticks in found]
    sizes = medians.sizes()
    low, high = bounds(numbers)
    y_axis = Axis(low, high, top + PANEL_H, -PANEL_H)
    for column, op in enumerate(COLUMNS):
        left = LEFT + column * (PANEL_W + GAP_X)
        x_axis = Axis(min(sizes) / 1.3, max(sizes) * 1.3, left, PANEL_W)
        yield from grid(x_axis, y_axis, left, top, sizes, column == 0)
        yield text(left + PANEL_W / 2, top - 9, f"{dom0.upper()} Dom0: {TITLES[op]}", size=13, extra=' font-weight="bold"')
        yield text(left + PANEL_W / 2, top + PANEL_H + 34, "frames in one operation")
        for line in LINES:
            if every[line[0], op]:
                yield from curve(x_axis, y_axis, line, every[line[0], op])
    middle = top + PANEL_H / 2
    yield text(22, middle, "ticks a frame", extra=f' transform="rotate(-90 22 {middle})"')


def legend_width(line):
    return 37 + 7 * len(line[1])


def legend(width):
    gap = (width - LEFT - sum(legend_width(line) for line in LINES)) / len(LINES)
    x = LEFT
    for line in LINES:
        _, words, colour, dashes, shape = line
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        yield f'<line x1="{x}" x2="{x + 30}" y1="52" y2="52" stroke="{colour}" stroke-width="2"{dash}/>'
        yield marker(x + 15, 52, colour, shape)
        yield text(x + 37, 56, words, "start")
        x += legend_width(line) + gap


def draw(by_dom0, title):
    """by_dom0: {"pv": Medians, "pvh": Medians}, either may be missing."""
    rows = [dom0 for dom0 in DOM0 if dom0 in by_dom0]
    width = LEFT + 3 * PANEL_W + 2 * GAP_X + 20
    height = TOP + len(rows) * (PANEL_H + GAP_Y) - 24
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" fill="#222222">',
             '<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->',
             f'<rect width="{width}" height="{height}" fill="#fafafa"/>',
             text(LEFT, 27, title, "start", 15, ' font-weight="bold"')]
    parts += legend(width)
    for i, dom0 in enumerate(rows):
        parts += row_of_panels(dom0, by_dom0[dom0], TOP + i * (PANEL_H + GAP_Y))
    return "\n".join(parts + ["</svg>", ""])
