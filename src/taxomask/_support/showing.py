"""How objects show themselves: a short line in Python, a small table in a notebook. No data in either, and no seed."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

__all__ = ["ShowsItsCall", "few", "line", "not_default", "shortly", "view"]

LONGEST = 200  # characters of a line
NAMED = 8  # names that are listed

_STYLE = """
.taxomask-view { color: inherit; font: 14px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; max-width: 860px; }
.taxomask-view .title { font-weight: 700; font-size: 15px; }
.taxomask-view .about { opacity: 0.8; font-size: 13px; }
.taxomask-view table { border-collapse: collapse; margin: 6px 0; color: inherit; background: none; font-size: 13px; }
.taxomask-view tr, .taxomask-view tbody tr:nth-child(odd), .taxomask-view tbody tr:hover { background: none; }
.taxomask-view th, .taxomask-view td { text-align: left; vertical-align: top; padding: 3px 16px 3px 0; border: 0;
  border-bottom: 1px solid rgb(128 128 128 / 35%); color: inherit; background: none; white-space: normal; }
.taxomask-view th { font-weight: 600; opacity: 0.8; }
.taxomask-view td.n, .taxomask-view th.n { text-align: right; font-variant-numeric: tabular-nums; }
"""


def line(text: str) -> str:
    """A text of one line, cut where it is too long to be read at a glance."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 2]}…{flat[-1]}"


def few(names: Iterable[str], most: int = NAMED) -> str:
    """Names, the first of them if there are many.

    >>> few(["age", "sex"]), few(map(str, range(12)))
    ('age, sex', '0, 1, 2, 3, 4, 5, 6, 7 and 4 more')
    """
    every = list(names)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest


def shortly(value: Any) -> str:
    """A parameter as it is written in Python, without the middle of long lists and texts."""
    return _SHORT.repr(value)


def not_default(one: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not at their defaults."""
    values = {field.name: (getattr(one, field.name), field.default) for field in fields(one)}
    return {name: value for name, (value, default) in values.items() if value != default}


class ShowsItsCall:
    """A dataclass that shows itself as the call that makes it, in a line: that of dataclasses may be of any length."""

    def __init_subclass__(cls) -> None:
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = ShowsItsCall.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={shortly(value)}" for name, value in not_default(self).items())
        return line(f"{type(self).__name__}({given})")


def view(
    title: str,
    about: str = "",
    *,
    facts: Iterable[tuple[str, str]] = (),
    header: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    numeric: Iterable[int] = (),
    notes: Iterable[tuple[str, str]] = (),
    figure: str = "",
    style: str = "",
) -> str:
    """A piece of HTML that needs nothing else, in the colours of the notebook around it.

    Parameters
    ----------
    title, about
        What it is, and a sentence about it.
    facts
        Pairs of a name and what is known.
    header, rows
        A table; ``numeric`` has the places of columns of numbers.
    notes
        What the columns mean: pairs of a name and a sentence.
    figure, style
        Markup of a figure that is trusted, and the style that it needs. All else is escaped.
    """
    right = set(numeric)

    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = (' class="n"' if place in right else "" for place in range(len(row)))
        pairs = zip(kinds, row, strict=True)
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in pairs) + "</tr>"

    parts = [f'<div class="title">{escape(title)}</div>']
    if about:
        parts.append(f'<div class="about">{escape(about)}</div>')
    known = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
    if known:
        parts.append(f"<table><tbody>{known}</tbody></table>")
    parts.append(figure)
    body = "".join(cells("td", row) for row in rows)
    if body:
        head = cells("th", header)
        parts.append(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>")
    parts += [f'<div class="about"><b>{escape(name)}</b>: {escape(about)}</div>' for name, about in notes]
    return f'<div class="taxomask-view"><style>{_STYLE}{style}</style>{"".join(parts)}</div>'


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = LONGEST // 2
