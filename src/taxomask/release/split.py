"""An identifier that was split among columns: two of its digits in each, or every other one.

No such column says much by itself, and together they say all. Which digit of the identifier each digit of a cell is,
counted from the last, is found where they agree in four of five records, and more than in records that do not belong
together. Columns that hold three digits or more together, such that one record of a hundred has them by chance, are a
finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .twins import Finding, listing_of, percent

__all__ = ["Part", "part_of", "split_among"]

SURE = 0.8  # of the records, in which a digit must be that of the identifier
COMMON = 0.5  # of the records, in which it may be so by chance
RARE = 0.01  # the same for all columns together
LEAST = 3  # digits that all columns hold together
LONGEST = (18, 8)  # digits of an identifier, and of a cell
MOVES = 7  # parts of a table by which rows are moved

Texts = Sequence[str | None]


@dataclass(frozen=True)
class Part:
    """A column that holds some digits of an identifier: which, counted from the last, and how often it does."""

    column: str
    of: str
    places: frozenset[int]
    share: float
    chance: float


def part_of(column: str, of: str, cells: Texts, identifiers: Texts) -> Part | None:
    """Which digits of an identifier a column holds; the digits of both in the same records.

    >>> numbers = [10_000 + 7919 * n % 90_000 for n in range(50)]
    >>> part = part_of("x", "id", [str(n % 100) for n in numbers], [str(n) for n in numbers])
    >>> sorted(part.places), part.share, part.chance < 0.05
    ([0, 1], 1.0, True)
    """
    mine, theirs = _digits(cells, LONGEST[1]), _digits(identifiers, LONGEST[0])
    if mine is None or theirs is None:
        return None
    rows = (mine[:, 0] >= 0) & (theirs[:, 0] >= 0)
    mine, theirs, n = mine[rows], theirs[rows], len(rows)
    if SURE * n > len(mine):
        return None
    same = (mine[:, :, None] == theirs[:, None, :]).mean(axis=0)
    places = same.argmax(axis=1)
    if (same.max(axis=1) < SURE).any() or len(set(places.tolist())) < len(places):
        return None
    sought = theirs[:, places]
    moved = [
        float((mine == np.roll(sought, len(mine) * part // MOVES, axis=0)).all(axis=1).mean())
        for part in range(1, MOVES)
    ]
    share, chance = float((mine == sought).all(axis=1).sum()) / n, float(np.mean(moved))
    return Part(column, of, frozenset(places.tolist()), share, chance) if share >= SURE > COMMON >= chance else None


def split_among(parts: Iterable[Part]) -> list[Finding]:
    """The columns among which an identifier was split."""
    by_of: dict[str, list[Part]] = {}
    for part in parts:
        by_of.setdefault(part.of, []).append(part)
    found = []
    for of, some in by_of.items():
        together = frozenset[int]().union(*(part.places for part in some))
        if len(together) < LEAST or np.prod([part.chance for part in some]) > RARE:
            continue
        names, held = tuple(part.column for part in some), "holds" if len(some) == 1 else "together hold"
        share = percent(min(part.share for part in some))
        found.append(
            Finding(names, of, f"{listing_of(names)} {held} {len(together)} digits of {of} in {share} of the records")
        )
    return found


def _digits(texts: Texts, most: int) -> NDArray[np.int8] | None:
    """The digits of texts in columns, the last one first; -1 where there is none. None if they are too many, or few."""
    longest = max((len(one) for one in texts if one), default=0)
    if not 0 < longest <= most:
        return None
    filled = "".join((one.rjust(longest, "0") if one else " " * longest) for one in texts)
    found = np.frombuffer(filled.encode("ascii"), dtype=np.int8).reshape(-1, longest)[:, ::-1] - 48
    return np.where(found < 0, np.int8(-1), found)
