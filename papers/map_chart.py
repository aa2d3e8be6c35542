"""The risk-utility map as an SVG file: a family of methods has a colour, a shape and a line along its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

COLOURS = ("#0072b2", "#b87a00", "#009e73", "#a0498c", "#000000", "#c44e00")  # blue, orange, green, purple, black, red
WIDTH, HEIGHT, LEFT, HEAD, FOOT, KEY = 1080.0, 640.0, 84.0, 44.0, 62.0, 262.0
SIZE = 6.0  # half the size of a marker
LETTER = 6.1  # width of a letter of 11 pixels

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Look:
    """Colour by kind of method, shape by method; hollow for what goes beyond the papers."""

    colour: str
    shape: str
    filled: bool = True


@dataclass(frozen=True)
class Series:
    """The points of a family as (loss, risk, label), in the order of the parameter."""

    name: str
    look: Look
    points: Sequence[tuple[float, float, str]]


class _Log:
    """A logarithmic axis with a little room at both ends."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low, self.high = math.log10(min(values)) - 0.12, math.log10(max(values)) + 0.12
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, bool]]:
        """1, 2 and 5 times the powers of ten; those of ten themselves are marked."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        found = [(m * 10.0**power, m == 1) for power in powers for m in (1, 2, 5)]
        return [(value, ten) for value, ten in found if self.low <= math.log10(value) <= self.high]


def draw(
    series: Sequence[Series],
    front: Sequence[tuple[float, float]],
    *,
    title: str,
    loss: str,
    risk: str,
    guess: float,
) -> str:
    """The map: ``front`` are the points that no other beats, ``guess`` the risk of a random guess."""
    right, bottom = WIDTH - KEY, HEIGHT - FOOT
    everything = [(across, up) for one in series for across, up, _ in one.points]
    x = _Log([across for across, _ in everything], LEFT, right)
    y = _Log([*(up for _, up in everything), guess], bottom, HEAD)
    parts = [_text(LEFT, 22, title, size=15, weight="bold")]
    for value, ten in x.ticks():
        parts.append(_line(x(value), HEAD, x(value), bottom, "#cfcfcf" if ten else "#ececec"))
        parts.append(_text(x(value), bottom + 18, f"{value:g}", anchor="middle"))
    for value, ten in y.ticks():
        parts.append(_line(LEFT, y(value), right, y(value), "#cfcfcf" if ten else "#ececec"))
        if ten or value > 1e-3:
            parts.append(_text(LEFT - 8, y(value) + 4, f"{value:g}" if value > 5e-5 else "0.00001", anchor="end"))
    parts.append(
        f'<rect x="{LEFT}" y="{HEAD}" width="{right - LEFT}" height="{bottom - HEAD}" fill="none" stroke="#333"/>'
    )
    parts.append(_text((LEFT + right) / 2, bottom + 42, f"{loss} →", anchor="middle", size=13))
    parts.append(
        f'<text transform="translate(20 {(HEAD + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle" font-size="13">'
        f"{escape(risk)} →</text>"
    )
    parts.append(_line(LEFT, y(guess), right, y(guess), "#555", dash="2 4"))
    parts.append(_text(LEFT + 8, y(guess) - 5, "a random guess", colour="#555"))
    corners = _stairs([(x(a), y(b)) for a, b in sorted(front)], right, HEAD)
    parts.append(f'<polyline points="{corners}" fill="none" stroke="#777" stroke-width="7" stroke-opacity="0.28"/>')

    placed = [(one, [(x(a), y(b), label) for a, b, label in one.points]) for one in series]
    taken: list[Box] = [_box(a, b, SIZE + 1) for _, points in placed for a, b, _ in points]
    for one, points in placed:
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{one.look.colour}" stroke-opacity="0.55"/>')
    for one, points in placed:
        parts += [_marker(one.look, a, b, f"{one.name} {label}".strip()) for a, b, label in points]
    inside = (LEFT + 2, HEAD + 2, right - 2, bottom - 2)
    for one, points in placed:  # the ends of a line first: what the parameter is at least and at most
        for a, b, label in dict.fromkeys([points[0], points[-1], *points]):
            parts += _beside(a, b, label, one.look.colour, taken, inside)
    parts += _key(series, right + 22)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" role="img" aria-label={quoteattr(title)} font-family="sans-serif" font-size="11" '
        f'fill="#222">\n<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


# ------------------------------------------------------------------------------------------------------------ inside


def _key(series: Sequence[Series], left: float) -> list[str]:
    parts = []
    top = HEAD + 8
    for filled, heading in ((True, "of the papers"), (False, "beyond the papers (hollow)")):
        parts.append(_text(left - 8, top + 4, heading, size=12, weight="bold"))
        for one in series:
            if one.look.filled == filled:
                top += 21
                parts.append(_marker(one.look, left, top, "") + _text(left + 14, top + 4, one.name, size=12))
        top += 34
    parts.append(_line(left - 8, top, left + 8, top, "#777", width=7, opacity=0.28))
    parts.append(_text(left + 14, top + 4, "no other point is better in both", size=12))
    top += 21
    parts.append(_text(left - 8, top + 4, "numbers: k, interval in % of the records,", size=11, colour="#555"))
    parts.append(_text(left - 8, top + 19, "noise in standard deviations", size=11, colour="#555"))
    return parts


def _beside(a: float, b: float, text: str, colour: str, taken: list[Box], inside: Box) -> list[str]:
    """The label of a point where there is room for it, or none."""
    if not text:
        return []
    wide = LETTER * len(text)
    gap = SIZE + 3
    places = [
        (a + gap, b + 4, "start"),
        (a - gap, b + 4, "end"),
        (a, b - gap, "middle"),
        (a, b + gap + 9, "middle"),
        (a + gap - 2, b - gap + 3, "start"),
        (a + gap - 2, b + gap + 5, "start"),
        (a - gap + 2, b - gap + 3, "end"),
        (a - gap + 2, b + gap + 5, "end"),
    ]
    for x, y, anchor in places:
        start = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        box = (start, y - 9, start + wide, y + 2)
        if box[0] < inside[0] or box[1] < inside[1] or box[2] > inside[2] or box[3] > inside[3]:
            continue
        if not any(_overlap(box, other) for other in taken):
            taken.append(box)
            return [_text(x, y, text, anchor=anchor, colour=colour)]
    return []


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _box(x: float, y: float, reach: float) -> Box:
    return x - reach, y - reach, x + reach, y + reach


def _stairs(points: Sequence[tuple[float, float]], right: float, top: float) -> str:
    """The border of what is beaten, down from the top and on to the right; points at its inner side are left out."""
    corners = [(points[0][0], top)]
    for a, b in points:
        if b > corners[-1][1]:
            corners += [(a, corners[-1][1]), (a, b)]
    corners.append((right, corners[-1][1]))
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def _marker(look: Look, x: float, y: float, title: str) -> str:
    shape = _SHAPES[look.shape]
    fill = look.colour if look.filled else "#fff"
    path = "M" + "L".join(f"{x + SIZE * a:.1f} {y + SIZE * b:.1f}" for a, b in shape) + "z"
    inside = f"<title>{escape(title)}</title>" if title else ""
    return f'<path d="{path}" fill="{fill}" stroke="{look.colour}" stroke-width="1.6">{inside}</path>'


def _polygon(corners: int, turn: float = -0.25, inner: float = 1.0) -> list[tuple[float, float]]:
    """A regular polygon, or a star whose other corners are at ``inner``."""
    angles = [2 * math.pi * (i / corners + turn) for i in range(corners)]
    return [
        (math.cos(angle) * (inner if i % 2 else 1), math.sin(angle) * (inner if i % 2 else 1))
        for i, angle in enumerate(angles)
    ]


_PLUS = [(-0.3, -1), (0.3, -1), (0.3, -0.3), (1, -0.3), (1, 0.3), (0.3, 0.3)]
_PLUS += [(0.3, 1), (-0.3, 1), (-0.3, 0.3), (-1, 0.3), (-1, -0.3), (-0.3, -0.3)]
_SHAPES: dict[str, list[tuple[float, float]]] = {
    "circle": _polygon(24),
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "up": [(0, -1.05), (1, 0.75), (-1, 0.75)],
    "down": [(0, 1.05), (1, -0.75), (-1, -0.75)],
    "diamond": [(0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)],
    "pentagon": _polygon(5),
    "hexagon": _polygon(6, 0.0),
    "star": [(1.3 * a, 1.3 * b) for a, b in _polygon(10, inner=0.45)],
    "plus": _PLUS,
    "cross": [((a - b) * 0.75, (a + b) * 0.75) for a, b in _PLUS],
    "bar": [(-1.1, -0.5), (1.1, -0.5), (1.1, 0.5), (-1.1, 0.5)],
}


def _line(
    a: float, b: float, c: float, d: float, colour: str, dash: str = "", width: float = 1, opacity: float = 1
) -> str:
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    extra += f' stroke-width="{width:g}"' if width != 1 else ""
    extra += f' stroke-opacity="{opacity:g}"' if opacity != 1 else ""
    return f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{colour}"{extra}/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 0, weight: str = "", colour: str = ""
) -> str:
    extra = f' font-size="{size}"' if size else ""
    extra += f' font-weight="{weight}"' if weight else ""
    extra += f' fill="{colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'
