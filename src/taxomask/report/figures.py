"""Figures as SVG, drawn from plain values. Colours come from the page's style, so that dark mode and paper work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Branch", "bars", "heatmap", "histogram", "icicle", "number", "risk_utility_map"]

ROUNDING = 1e-14
HUES = 8  # colours for branches and methods, as in style.css


@dataclass(frozen=True)
class Branch:
    """A concept with its counts before and after, and the branches below it."""

    name: str
    label: str
    before: float
    after: float
    below: tuple[Branch, ...] = ()


def number(value: Any, digits: int = 3) -> str:
    """A number as people read it.

    >>> number(1234567), number(0.12345), number(12.3456), number(0), number(None), number(0.000033156), number(1e-9)
    ('1,234,567', '0.123', '12.3', '0', '–', '0.0000332', '1e-09')
    >>> number(1.87e-16)  # nothing but the rounding of the machine
    '0'
    """
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if abs(value) < ROUNDING:
        return "0"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    if "e-" not in text or abs(value) < 1e-6:
        return text
    return f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}".rstrip("0")


def histogram(ends: Sequence[str], before: Sequence[float], after: Sequence[float], *, name: str) -> Any:
    """How often numbers fall into each interval, from one of two ends to the other: bars before, a line after."""
    width, height, foot = 420.0, 130.0, 22.0
    top = max([*before, *after, 1e-300])
    step = width / max(len(before), 1)

    def y(value: float) -> float:
        return height - foot - value / top * (height - foot - 8)

    parts = [
        f'<rect class="before" x="{i * step + 0.5:.1f}" y="{y(value):.1f}" width="{max(step - 1, 0.5):.1f}" '
        f'height="{height - foot - y(value):.1f}"/>'
        for i, value in enumerate(before)
    ]
    corners = [f"{x:.1f},{y(value):.1f}" for i, value in enumerate(after) for x in (i * step, (i + 1) * step)]
    parts.append(f'<polyline class="after-line" points="{" ".join(corners)}"/>')
    for place, anchor, edge in ((0.0, "start", ends[0]), (width, "end", ends[-1])):
        parts.append(_text(place, height - 6, edge, anchor=anchor, kind="tick"))
    return _svg(width, height, parts, f"{name}: distribution before and after")


def bars(labels: Sequence[str], before: Sequence[float], after: Sequence[float], *, name: str) -> Any:
    """Counts of categories, before and after side by side."""
    width, row, left = 420.0, 26.0, 140.0
    top = max([*before, *after, 1e-300])
    parts = []
    for i, (label, old, new) in enumerate(zip(labels, before, after, strict=True)):
        y = i * row
        parts.append(_text(left - 8, y + 16, _short(label, 20), anchor="end", kind="tick"))
        for shift, kind, value in ((3, "before", old), (12, "after", new)):
            length = value / top * (width - left - 60)
            parts.append(
                f'<rect class="{kind}" x="{left}" y="{y + shift}" width="{length:.1f}" height="8">'
                f"<title>{_escape(label)}: {number(value)}</title></rect>"
            )
        parts.append(_text(left + max(old, new) / top * (width - left - 60) + 6, y + 16, number(new), kind="tick"))
    return _svg(width, len(labels) * row + 4, parts, f"{name}: counts before and after")


def icicle(root: Branch, *, name: str) -> Any:
    """The branches of a taxonomy, each as wide as its count: before above, after below, mirrored."""
    width, row, depth = 860.0, 24.0, min(_depth(root), 4)
    height = 2 * depth * row + 26
    parts = [
        _text(0, 10, "before", kind="tick"),
        _text(0, height - 2, "after", kind="tick"),
    ]
    hues = {branch.name: i % HUES for i, branch in enumerate(root.below)}
    for side in ("before", "after"):
        _strip(parts, root, side, 0.0, width, 0, depth, row, hues, -1)
    return _svg(width, height, parts, f"{name}: records in each branch of the taxonomy, before and after")


def heatmap(names: Sequence[str], values: Sequence[Sequence[float | None]], *, title: str) -> Any:
    """A square table of numbers between -1 and 1 as colours with the numbers in them."""
    cell, left = 44.0, 150.0
    size = len(names)
    top = 6 + 6.2 * min(max(map(len, names), default=0), 20)  # names stand upright above their columns
    width, height = left + size * cell, top + size * cell
    parts = []
    for i, label in enumerate(names):
        parts.append(_text(left - 6, top + i * cell + cell / 2 + 4, _short(label, 20), anchor="end", kind="tick"))
        parts.append(
            f'<text class="tick" transform="translate({left + i * cell + cell / 2 + 4:.1f} {top - 6:.1f}) rotate(-90)">'
            f"{_escape(_short(label, 20))}</text>"
        )
        for j in range(size):
            value = values[i][j]
            strength = 0.0 if value is None else min(abs(value), 1.0)
            kind = "cold" if value is not None and value < 0 else "warm"
            x, y = left + j * cell, top + i * cell
            parts.append(
                f'<rect class="{kind}" x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" '
                f'fill-opacity="{strength:.2f}"><title>{_escape(label)} – {_escape(names[j])}</title></rect>'
            )
            shown = "–" if value is None else f"{value:.2f}"
            parts.append(_text(x + cell / 2, y + cell / 2 + 4, shown, anchor="middle", kind="cell"))
    return _svg(width, height, parts, title)


def risk_utility_map(
    points: Sequence[Mapping[str, Any]], *, risk_name: str, loss_name: str, limit: float | None = None
) -> Any:
    """One point per method and parameters, risk against loss, with the Pareto front and the limit of risk.

    Each point has ``number``, ``label``, ``method``, ``risk``, ``loss``, ``front`` (whether no other point is better in
    both) and ``more`` (a line to be shown with them).
    """
    width, height, left, foot = 760.0, 440.0, 64.0, 48.0
    right, head = width - 16, 14.0
    x_top, y_top = (
        _round_up(max([p["loss"] for p in points] + [1e-9])),
        _round_up(max([p["risk"] for p in points] + [limit or 0.0, 1e-9])),
    )

    def x(value: float) -> float:
        return left + value / x_top * (right - left)

    def y(value: float) -> float:
        return height - foot - value / y_top * (height - foot - head)

    parts = []
    for i in range(6):
        across, up = x_top * i / 5, y_top * i / 5
        parts.append(f'<line class="grid" x1="{x(across):.1f}" y1="{head}" x2="{x(across):.1f}" y2="{height - foot}"/>')
        parts.append(f'<line class="grid" x1="{left}" y1="{y(up):.1f}" x2="{right}" y2="{y(up):.1f}"/>')
        parts.append(_text(x(across), height - foot + 16, f"{across:.3g}", anchor="middle", kind="tick"))
        parts.append(_text(left - 8, y(up) + 4, f"{up:.3g}", anchor="end", kind="tick"))
    parts.append(_text((left + right) / 2, height - 8, f"{loss_name} →", anchor="middle", kind="axis"))
    parts.append(
        f'<text class="axis" transform="translate(14 {(head + height - foot) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{_escape(risk_name)} →</text>'
    )
    if limit is not None:
        parts.append(
            f'<line class="limit" data-limit="1" x1="{left}" y1="{y(limit):.1f}" x2="{right}" y2="{y(limit):.1f}"/>'
        )
    front = sorted((p["loss"], p["risk"]) for p in points if p["front"])
    corners = []
    for i, (loss, risk) in enumerate(front):
        if i:
            corners.append(f"{x(loss):.1f},{y(front[i - 1][1]):.1f}")
        corners.append(f"{x(loss):.1f},{y(risk):.1f}")
    parts.append(f'<polyline class="front" points="{" ".join(corners)}"/>')
    hues = {name: i % HUES for i, name in enumerate(dict.fromkeys(p["method"] for p in points))}
    for p in points:
        ring = " on-front" if p["front"] else ""
        parts.append(
            f'<circle class="point hue{hues[p["method"]]}{ring}" cx="{x(p["loss"]):.1f}" cy="{y(p["risk"]):.1f}" r="6" '
            f'tabindex="0" role="button" data-point="{p["number"]}" aria-label="{_escape(p["label"])}">'
            f"<title>{_escape(p['label'])}\nrisk {p['risk']:.4f}, loss {p['loss']:.4f}\n{_escape(p['more'])}</title>"
            "</circle>"
        )
    legend = "".join(
        f'<span class="key"><i class="dot hue{hue}"></i>{_escape(name.replace("_", " "))}</span>'
        for name, hue in hues.items()
    )
    figure = _svg(width, height, parts, "risk against loss")
    return _safe(f'<div class="legend">{legend}</div>{figure}')


# --------------------------------------------------------------------------------------- inside


def _strip(
    parts: list[str],
    branch: Branch,
    side: str,
    left: float,
    width: float,
    level: int,
    depth: int,
    row: float,
    hues: Mapping[str, int],
    hue: int,
) -> None:
    """One branch and those below it, on its side of the middle."""
    total = getattr(branch, side)
    y = 14 + (depth - 1 - level) * row if side == "before" else 14 + (depth + level) * row
    kind = "trunk" if hue < 0 else f"hue{hue}"
    shown = _escape(_short(branch.label or branch.name, int(width / 7)))
    parts.append(
        f'<g><rect class="branch {kind}" x="{left:.1f}" y="{y:.1f}" width="{max(width - 0.6, 0.2):.1f}" '
        f'height="{row - 1}" fill-opacity="{0.95 - 0.2 * level:.2f}"/><title>{_escape(branch.name)} '
        f"{_escape(branch.label)}\nbefore {number(branch.before)}, after {number(branch.after)}</title>"
    )
    parts.append((_text(left + 4, y + row / 2 + 4, shown, kind=f"inside inside{level}") if width > 40 else "") + "</g>")
    if level + 1 >= depth or not total:
        return
    for below in branch.below:
        share = getattr(below, side) / total * width
        if share > 0.3:
            own = hues[below.name] if level == 0 else hue
            _strip(parts, below, side, left, share, level + 1, depth, row, hues, own)
        left += share


def _depth(branch: Branch) -> int:
    return 1 + max((_depth(below) for below in branch.below), default=0)


def _round_up(value: float) -> float:
    """The next round number: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 1.0
    while power > value:
        power /= 10
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * (1 - 1e-9))


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> Any:
    return _safe(
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{_escape(title)}" '
        f'style="max-width:{width:g}px">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escape(text)}</text>'


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(length - 1, 0)] + "…"


def _escape(text: object) -> str:
    from markupsafe import escape

    return str(escape(text))


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)
