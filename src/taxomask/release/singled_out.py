"""How many records are alone: with a combination of values that no other one has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..microdata.combinations import combined
from ..microdata.people import class_owners
from .seen import Seen
from .twins import counted, percent

__all__ = ["BY_THEM", "STANDS_ALONE", "SingledOut", "pair_alone", "singled_out", "widest_pairs"]

STANDS_ALONE, BY_THEM = "who stands alone", "alone by the columns released as they are"  # what a check is called
WIDEST = 12  # columns of which pairs are looked at: those with the most values


@dataclass(frozen=True)
class SingledOut:
    """The share of records that are alone by the columns released as they are, by two of them, and by all columns.

    ``by`` is the pair that sets most of them apart, or one column if that sets as many apart by itself.
    Where the schema names people or households (``unit``), the share of those who have a record that no other of them
    shares. If ``share`` is below 1, they were estimated from this share of the combinations of values, or of what
    ``looked_at`` says.
    """

    as_they_are: float
    pair: float
    by: tuple[str, ...]
    all_columns: float
    columns: int
    pairs: int
    unit: str = "records"
    share: float = 1.0
    looked_at: str = "combinations of values"

    def __str__(self) -> str:
        if self.share < 1:
            each = 1 / self.share
            return f"about, by one of {each:,.0f} {self.looked_at}: {replace(self, share=1.0)}"
        if not self.columns:
            return (
                f"no column is released as it is; {percent(self.all_columns)} of the {self.unit} are alone by all "
                "columns"
            )
        named, looked = " and ".join(self.by), f"{counted(self.pairs, 'pair')} looked at"
        two = f"; by the worst two columns of it, {named}, {percent(self.pair)}, of {looked}"
        if len(self.by) == 1:
            two = f"; by one column of it {percent(self.pair)} ({named}), and by no pair more, of {looked}"
        same = f"alone by what is released as it is ({counted(self.columns, 'column')})"
        return (
            f"{same}: {percent(self.as_they_are)} of the {self.unit}{two if self.pairs else ''}; "
            f"by that and the protected columns: {percent(self.all_columns)}"
        )


def singled_out(
    same: Sequence[Seen],
    others: Sequence[Seen],
    pairs: Sequence[tuple[int, int]],
    found: Sequence[int],
    people: NDArray[np.int64] | None = None,
    unit: str = "records",
) -> SingledOut:
    """From what is released as it is, all else that is released, and who is alone by each pair of the first."""
    n = len((*same, *others)[0].codes) if same or others else 0
    together = combined((one.codes for one in same), n)
    worst = int(np.argmax(found)) if len(found) else -1
    by = () if worst < 0 else tuple(same[place].name for place in pairs[worst])
    single = [one.name for one in same if by and _alone(combined([one.codes], n), people) == found[worst] > 0]
    whole = max(n if people is None else len(np.unique(people)), 1)
    return SingledOut(
        _alone(together, people) / whole if same else 0.0,
        max(found, default=0) / whole,
        tuple(single[:1]) or by,
        _alone(combined([together, *(one.codes for one in others)], n), people) / whole,
        len(same),
        len(pairs),
        unit,
    )


def widest_pairs(same: Sequence[Seen]) -> list[tuple[int, int]]:
    """Pairs of the columns that have the most values."""
    widest = sorted(range(len(same)), key=lambda place: -same[place].size)[:WIDEST]
    return [(a, b) for b in sorted(widest) for a in sorted(widest) if a < b]


def pair_alone(first: Seen, second: Seen, people: NDArray[np.int64] | None = None) -> int:
    """How many records, or people, are alone by two columns."""
    return _alone(combined([first.codes, second.codes], len(first.codes)), people)


def _alone(keys: NDArray[np.int64], people: NDArray[np.int64] | None) -> int:
    if not len(keys):
        return 0
    if people is not None:
        classes = np.unique(keys, return_inverse=True)[1]
        return len(np.unique(people[class_owners(classes, people)[classes] == 1]))
    if int(keys.max()) < 8 * len(keys) + 1024:
        return int((np.bincount(keys) == 1).sum())
    return int((np.unique(keys, return_counts=True)[1] == 1).sum())
