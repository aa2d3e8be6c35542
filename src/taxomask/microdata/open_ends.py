"""Numbers of which only a limit is known: "90+" and "<5" among numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .notation import NUMBER, Notation

__all__ = ["OpenEnd", "counted_as", "find_open_ends", "open_end", "snapped"]

_BODY = r"([^A-Za-z<>≤≥=+]*[0-9][^A-Za-z<>≤≥=+]*)"
_BELOW_WORDS = (
    "under|below|less than|up to|unter|bis|weniger als|moins de|jusqu'à|menos de|hasta|menys de|fins a|meno di|fino a|"
    "até|minder dan|tot"
)
_ABOVE_WORDS = "over|above|more than|über|mehr als|plus de|más de|més de|più di|mais de|meer dan"
_OR_MORE = (
    "(?:and|or) (?:over|older|more|above)|(?:und|oder) (?:älter|mehr|darüber)|(?:ans )?et plus|(?:años )?[oy] más|"
    "(?:anys )?[oi] més|(?:anni )?[eo] (?:più|oltre)|(?:anos )?(?:e|ou) mais|(?:jaar )?(?:en|of) (?:ouder|meer|hoger)"
)
_BELOW = re.compile(rf"(<=?|≤|{_BELOW_WORDS})\s*{_BODY}", re.IGNORECASE)
_ABOVE = re.compile(rf"(>=?|≥|{_ABOVE_WORDS})\s*{_BODY}", re.IGNORECASE)
_MORE = re.compile(rf"{_BODY}\s*(\+|{_OR_MORE})", re.IGNORECASE)
_LONGEST = 60  # characters; in a longer text these patterns would look for an end for ages
_CLOSED = ("<=", "≤", "up to", "bis", "jusqu'à", "hasta", "fins a", "fino a", "até", "tot", ">=", "≥")


@dataclass(frozen=True)
class OpenEnd:
    """A text that stands for all numbers beyond a limit, and the number that it counts as.

    Parameters
    ----------
    text
        As it stands in the table.
    limit
        The number in it.
    upper
        Whether larger numbers are meant, or smaller ones.
    closed
        Whether the limit itself is meant too.
    number
        What it counts as.
    """

    text: str
    limit: float
    upper: bool
    closed: bool
    number: float = np.nan

    def beyond(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which numbers are among those that the text stands for."""
        if self.upper:
            return values >= self.limit if self.closed else values > self.limit
        return values <= self.limit if self.closed else values < self.limit


def open_end(text: str, notation: Notation | None = None) -> OpenEnd | None:
    """What a text such as "90+" or "<5" says, in eight languages; None if it is none.

    >>> open_end("90+").limit, open_end("<5").closed, open_end("90")
    (90.0, False, None)
    >>> open_end("90 o més").limit, open_end("moins de 5").upper, open_end("bis 4").closed
    (90.0, False, True)
    """
    plain = text.strip()
    if len(plain) > _LONGEST:
        return None
    for pattern, upper in ((_BELOW, False), (_ABOVE, True)):
        if found := pattern.fullmatch(plain):
            limit = _number(found[2], notation)
            return None if limit is None else OpenEnd(text, limit, upper, found[1].casefold() in _CLOSED)
    if found := _MORE.fullmatch(plain):
        limit = _number(found[1], notation)
        return None if limit is None else OpenEnd(text, limit, True, True)
    return None


def snapped(values: NDArray[np.float64], ends: Sequence[OpenEnd]) -> NDArray[np.float64]:
    """Numbers beyond a limit as what its text counts as."""
    for end in ends:
        values = np.where(end.beyond(values), end.number, values)
    return values


def find_open_ends(texts: Sequence[str]) -> dict[str, OpenEnd]:
    """The open ends among texts, at most one on each side."""
    found = {text: end for text in texts if (end := open_end(text)) is not None}
    sides = [end.upper for end in found.values()]
    return found if len(set(sides)) == len(sides) else {}


def counted_as(end: OpenEnd, numbers: NDArray[np.float64], step: float) -> float | None:
    """What an open end counts as among other numbers: the limit, or one step beyond it; None if some lie beyond it."""
    beyond = end.beyond(numbers)
    number = end.limit if end.closed else end.limit + (step if end.upper else -step)
    number = round(number, 12)
    return None if (numbers[beyond] != number).any() else number


def _number(body: str, notation: Notation | None) -> float | None:
    import pyarrow as pa

    from .notation import tidy

    text = pa.array([body], pa.large_string())
    plain: Any = tidy(text)
    if notation is not None and not notation.dates:
        plain = notation.plain(plain)
    value = plain[0].as_py()
    return float(value) if re.match(NUMBER, value) else None
