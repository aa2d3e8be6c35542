"""Small charts as SVG files: lines, steps and points, with linear or logarithmic axes.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart; every series has a dash and a marker of
its own too, so that it can be told in print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from papers.harness import number

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3", "8 3 2 3")
LEFT, HEAD, FOOT = 74.0, 34.0, 50.0
LINE = 17.0  # height of a line of the legend

Points = Sequence[tuple[float, float]]


def lines(
    series: Mapping[str, Points],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    step: bool = False,
    markers: bool = True,
    bands: Mapping[str, Sequence[tuple[float, float, float]]] | None = None,
    plain: Sequence[str] = (),
    x_names: Mapping[float, str] | None = None,
    from_zero: bool = False,
) -> str:
    """A chart of one line per series.

    ``step`` holds each value until the next (a distribution); ``bands`` are (x, low, high) around a series; ``plain``
    names series without markers, in thin grey (a line to compare with); ``x_names`` are ticks with words; ``from_zero``
    starts the y axis at 0.
    """
    everything = [point for points in series.values() for point in points]
    ups = [value for _, value in everything] + [v for b in (bands or {}).values() for _, *pair in b for v in pair]
    across = _Axis([a for a, _ in everything], log_x, LEFT, 560.0, ticks=x_names)
    up = _Axis([*ups, 0.0] if from_zero else ups, log_y, 380.0 - FOOT, HEAD)
    parts = _frame(across, up, title, x, y)
    for name, band in (bands or {}).items():
        colour = COLOURS[list(series).index(name) % len(COLOURS)]
        corners = [(a, low) for a, low, _ in band] + [(a, high) for a, _, high in reversed(band)]
        parts.append(f'<polygon points="{_path(corners, across, up)}" fill="{colour}" fill-opacity="0.15"/>')
    coloured = [name for name in series if name not in plain]
    legend: list[str] = []
    for name, points in series.items():
        grey = name in plain
        i = -1 if grey else coloured.index(name)
        colour = "#999999" if grey else COLOURS[i % len(COLOURS)]
        dash = "1 2" if grey else DASHES[i % len(DASHES)]
        style = f'fill="none" stroke="{colour}" stroke-width="{1.2 if grey else 1.8}"'
        style += f' stroke-dasharray="{dash}"' if dash else ""
        drawn = _steps(points) if step else list(points)
        parts.append(f'<polyline points="{_path(drawn, across, up)}" {style}/>')
        if markers and not grey:
            parts += [_marker(i, across(a), up(b), colour, f"{name}: {number(a)}, {number(b)}") for a, b in points]
        middle = HEAD + 8 + len(legend) * LINE
        key = f'<line x1="576" y1="{middle:.1f}" x2="602" y2="{middle:.1f}" {style}/>'
        if markers and not grey:
            key += _marker(i, 589, middle, colour, "")
        legend.append(key + _text(608, middle + 4, name))
    return _svg(title, [*parts, *legend], _width(list(series)), len(legend))


def points(
    series: Mapping[str, Points],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    labels: Mapping[tuple[float, float], str] | None = None,
    front: Points = (),
) -> str:
    """A chart of points, a colour and marker per series; ``labels`` stand beside them, ``front`` is drawn in steps."""
    everything = [point for several in series.values() for point in several]
    across = _Axis([a for a, _ in everything], log_x, LEFT, 560.0)
    up = _Axis([b for _, b in everything], log_y, 380.0 - FOOT, HEAD)
    parts = _frame(across, up, title, x, y)
    if front:
        parts.append(
            f'<polyline points="{_path(_steps(sorted(front)), across, up)}" fill="none" stroke="#999999" '
            'stroke-width="1.2" stroke-dasharray="4 3"/>'
        )
    legend: list[str] = []
    for i, (name, several) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        for a, b in several:
            parts.append(_marker(i, across(a), up(b), colour, f"{name}: {number(a)}, {number(b)}"))
            if labels and (a, b) in labels:
                parts.append(_text(across(a) + 6, up(b) - 5, labels[a, b], size=10))
        middle = HEAD + 8 + i * LINE
        legend.append(_marker(i, 589, middle, colour, "") + _text(604, middle + 4, name))
    return _svg(title, [*parts, *legend], _width(list(series)), len(legend))


# ---------------------------------------------------------------------------------------------------------- inside


class _Axis:
    """From values to places on the paper, and the values that get a tick."""

    def __init__(
        self, values: Sequence[float], log: bool, start: float, end: float, ticks: Mapping[float, str] | None = None
    ) -> None:
        values = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = min(values), max(values)
        self.names = dict(ticks or {})
        if ticks:
            margin = (max(ticks) - min(ticks)) / max(1, len(ticks)) / 2
            low, high = min(low, *ticks) - margin, max(high, *ticks) + margin
        elif log:
            low, high = 10.0 ** math.floor(math.log10(low) + 1e-9), 10.0 ** math.ceil(math.log10(high) - 1e-9)
            high = high if high > low else low * 10
            decades = range(round(math.log10(low)), round(math.log10(high)) + 1)
            many = 1 if len(decades) < 9 else 2
            self.names = {10.0**i: _power(i) for i in decades if i % many == 0}
            if len(decades) < 4:
                self.names |= {m * 10.0**i: number(m * 10.0**i) for i in decades[:-1] for m in (2, 5)}
        else:
            span = high - low or abs(high) or 1.0
            each = 10.0 ** math.floor(math.log10(span / 4))
            each *= next(m for m in (1, 2, 2.5, 5, 10) if span / (each * m) <= 6)
            first, last = math.floor(low / each + 1e-9), math.ceil(high / each - 1e-9)
            low, high = first * each, max(last, first + 1) * each
            self.names = {i * each: number(i * each) for i in range(first, max(last, first + 1) + 1)}
        self.scale: Callable[[float], float] = math.log10 if log else float
        self.low, self.high = self.scale(low), self.scale(high)
        self.start, self.end = start, end
        self.log = log

    def __call__(self, value: float) -> float:
        if self.log and value <= 0:
            return self.start
        return self.start + (self.scale(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def _power(i: int) -> str:
    return number(10.0**i) if -3 <= i <= 4 else f"10{str(i).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def _frame(across: _Axis, up: _Axis, title: str, x: str, y: str) -> list[str]:
    parts = [_text(LEFT, 18, title, weight="bold", size=13)]
    for value, name in up.names.items():
        place = up(value)
        parts.append(f'<line x1="{LEFT}" y1="{place:.1f}" x2="{across.end}" y2="{place:.1f}" stroke="#dddddd"/>')
        parts.append(_text(LEFT - 7, place + 4, name, anchor="end"))
    for value, name in across.names.items():
        place = across(value)
        parts.append(f'<line x1="{place:.1f}" y1="{up.start}" x2="{place:.1f}" y2="{up.start + 5}" stroke="#333333"/>')
        parts.append(_text(place, up.start + 18, name, anchor="middle"))
    parts.append(f'<path d="M{LEFT} {HEAD}V{up.start}H{across.end}" fill="none" stroke="#333333"/>')
    parts.append(_text((LEFT + across.end) / 2, up.start + 40, x, anchor="middle"))
    middle = (HEAD + up.start) / 2
    parts.append(f'<text transform="translate(16 {middle:.1f}) rotate(-90)" text-anchor="middle">{escape(y)}</text>')
    return parts


def _steps(points: Points) -> list[tuple[float, float]]:
    drawn: list[tuple[float, float]] = []
    for a, b in points:
        if drawn:
            drawn.append((a, drawn[-1][1]))
        drawn.append((a, b))
    return drawn


def _path(points: Sequence[tuple[float, float]], across: _Axis, up: _Axis) -> str:
    return " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in points)


def _marker(i: int, x: float, y: float, colour: str, title: str) -> str:
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6"',
        f'<rect x="{x - 3.3:.1f}" y="{y - 3.3:.1f}" width="6.6" height="6.6"',
        f'<path d="M{x:.1f} {y - 4.4:.1f}l4.2 7.6h-8.4z"',
        f'<path d="M{x:.1f} {y - 4.8:.1f}l4.8 4.8l-4.8 4.8l-4.8 -4.8z"',
        f'<path d="M{x:.1f} {y + 4.4:.1f}l4.2 -7.6h-8.4z"',
    )
    fill = colour if i // len(COLOURS) % 2 == 0 else "#ffffff"
    inside = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'{shapes[i % len(shapes)]} fill="{fill}" stroke="{colour}">{inside}</{shapes[i % len(shapes)][1:].split()[0]}>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "", size: int = 0) -> str:
    extra = (f' font-weight="{weight}"' if weight else "") + (f' font-size="{size}"' if size else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def _width(names: Sequence[str]) -> float:
    return 616.0 + 7.4 * max(len(name) for name in names)


def _svg(title: str, parts: Sequence[str], width: float, legend: int) -> str:
    height = max(380.0, HEAD + legend * LINE + 16)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label={quoteattr(title)} font-family="sans-serif" font-size="12" '
        f'fill="#222222">\n<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
