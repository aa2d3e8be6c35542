"""A first look at the columns of a table, piece by piece: what they hold, and which belong together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Memory
from ..errors import DataError
from ..measures.risk._by_class import Sizes
from ..microdata.distinct import Distinct, Frequent
from ..microdata.files import Source
from ..microdata.frames import Frame
from ..microdata.meanings import meaning
from ..microdata.people import meanings
from ..release.seen import value_numbers
from ..release.values import Kept, joined, text_numbers

__all__ = ["FirstLook"]

MANY = (
    1 << 17
)  # different values of a column; of more, numbers stand for them, and only the most frequent are looked at
_PIECE = 65_536  # rows
Numbers = NDArray[np.uint64]
Whole = NDArray[np.int64]


class FirstLook:
    """What the columns of a table hold, found in one pass and a few more.

    Up to ``MANY`` different values of every column are held, and where a column has more, 8 bytes for each row, one
    such column after the other. What is said of these rests on 64-bit numbers of their values: of 30 million values
    some two have the same number in one of 40,000 tables.

    Parameters
    ----------
    table
        A `Source`, or a pyarrow table.
    """

    def __init__(self, table: Any) -> None:
        self._source: Source | None = None if not isinstance(table, Source) or table.whole else table
        self._table = table.read() if isinstance(table, Source) and table.whole else table
        self.names: tuple[str, ...] = tuple(table.names if isinstance(table, Source) else table.column_names)
        self._tallies: dict[str, _Tally] = {}
        self.n: int = self._tallied(self.names[0]).rows if self.names else 0

    def scale(self, name: str) -> tuple[object, ...] | None:
        """The categories of a column whose type says that they are ordered, in order."""
        if not getattr(self._types.schema.field(name).type, "ordered", False):
            return None
        return Frame(self._table if self._source is None else self._source.read([name])).scale(name)

    def arrow_type(self, name: str) -> Any:
        """The type of a column; see `Frame.arrow_type`."""
        return Frame(self._types).arrow_type(name)

    def frequent(self, name: str, limit: int) -> Frequent:
        """The most frequent values of a column as they are met; of equally frequent ones the first."""
        tally = self._compared(name)
        if tally.outline is not None:
            return Frequent.from_distinct(tally.outline, limit, rows=tally.rows)
        if tally.most is None or len(tally.most.values) < limit:
            numbers = self._numbers(name, lambda piece: value_numbers(piece, blank=True))
            tally.most = self._most(name, numbers, limit)
        return tally.most

    def texts(self, name: str) -> Any:
        """The different values of a column as text, as pyarrow; None if there are too many."""
        outline = self._compared(name).outline
        return None if outline is None else outline.spelled().filter(outline.counts > 0)

    def repeats(self, name: str, missing: Collection[object]) -> bool:
        """Whether a value of a column, however it is spelled, stands in several rows; missing ones do not count."""
        absent = [meaning(marker) for marker in missing]
        tally = self._tallied(name)
        if tally.fault is not None:  # it holds lists and the like
            return False
        if tally.outline is None:
            ordered = self._numbers(name, lambda piece: _of_meanings(piece)[piece.codes], absent)
            return bool((ordered[1:] == ordered[:-1]).any())
        said = _of_meanings(tally.outline)[:-1].repeat(np.minimum(tally.outline.counts, 2))
        return bool((Kept.of(said[~np.isin(said, _texts(absent))], 1.0).counts > 1).any())

    def goes_with(self, leader: str, name: str, enough: float) -> tuple[float, int]:
        """The share of rows in which a column is what most often stands beside the leader's value, and how many values
        that has.

        0 if it is not enough, or says nothing: values of the leader hardly repeat, or the column has one value, or
        more than it.
        """
        values, others = self._different(leader), self._different(name)
        if others < 2 or others > values or 2 * values > self.n:
            return 0.0, values
        together = _Together(allowed=values + int((1 - enough) * self.n) + 1)
        for one, other in self._pieces([leader, name]):
            together.add(value_numbers(one), value_numbers(other))
            if together.too_many:
                return 0.0, values
        return (together.share if 2 * values <= together.rows else 0.0), values

    # ------------------------------------------------------------------------------------- the passes

    @cached_property
    def _types(self) -> Any:
        """The table without rows."""
        if self._source is None:
            return self._table.slice(0, 0)
        return self._source.batches(_PIECE, self.names).schema.empty_table()

    def _frames(self, names: list[str]) -> Iterator[Frame]:
        import pyarrow as pa

        if self._source is None:
            yield Frame(self._table)
            return
        for batch in self._source.batches(_PIECE, names):
            yield Frame(pa.Table.from_batches([batch]))

    def _pieces(self, names: list[str]) -> Iterator[list[Distinct]]:
        """Some columns, piece by piece: the different values, and the number of each row's value."""
        for frame in self._frames(names):
            yield [frame.distinct(name) for name in names]

    def _tallied(self, name: str) -> _Tally:
        """What a column holds; where rows are read, what all of them hold."""
        if name not in self._tallies:
            alone = self._source is None or self._source.columnar
            tallies = {one: _Tally() for one in ([name] if alone else self.names)}
            for frame in self._frames(list(tallies)):
                for one, tally in tallies.items():
                    tally.add(frame, one)
            if self._source is not None and not tallies[name].rows:
                self._source.read([name])  # which says that there are none
            self._tallies |= tallies
        return self._tallies[name].settled()

    def _compared(self, name: str) -> _Tally:
        """The same of a column whose values can be compared."""
        tally = self._tallied(name)
        if tally.fault is not None:
            raise tally.fault
        return tally

    def _different(self, name: str) -> int:
        """How many different values a column has; an empty text is none."""
        tally = self._compared(name)
        if tally.different is None:
            ordered = self._numbers(name, value_numbers)
            tally.different = int((ordered[1:] != ordered[:-1]).sum()) + bool(len(ordered))
        return tally.different

    def _numbers(self, name: str, numbered: Callable[[Distinct], Numbers], without: Collection[str] = ()) -> Numbers:
        """The numbers of all rows of a column in rising order, but for those of some texts and of missing values."""
        found, at, gone = np.zeros(self._tallied(name).rows, dtype=np.uint64), 0, _texts(list(without))
        for (piece,) in self._pieces([name]):
            some = numbered(piece)
            found[at : at + len(some)] = np.where(np.isin(some, gone), np.uint64(0), some) if len(gone) else some
            at += len(some)
        found.sort()
        return found[np.searchsorted(found, np.uint64(1)) :]

    def _most(self, name: str, numbers: Numbers, limit: int) -> Frequent:
        """The most frequent values, given the numbers of all rows in rising order."""
        sizes, times = Memory().fold(Sizes.of, Sizes.then, [numbers], what="looking at values").counts
        different = int(times.sum())
        limit = min(limit, different)
        least = int(sizes[np.flatnonzero(np.cumsum(times[::-1])[::-1] >= limit)[-1]])
        room = limit - int(times[sizes > least].sum())
        met: set[int] = set()
        values, counts = list[Any](), list[int]()
        for (piece,) in self._pieces([name]):
            own = value_numbers(piece.outline(), blank=True)
            often = np.searchsorted(numbers, own, "right") - np.searchsorted(numbers, own)
            taken = []
            for place in np.flatnonzero((often >= least) & (piece.counts > 0)).tolist():
                if int(own[place]) not in met and (often[place] > least or room):
                    room -= int(often[place] == least)
                    met.add(int(own[place]))
                    taken.append(place)
            values += piece.some(taken)
            counts += often[taken].tolist()
            if len(met) == limit:
                break
        return Frequent(values, np.array(counts, dtype=np.int64), self._tallied(name).rows, different)


class _Tally:
    """The different values of a column as far as they were met; none once there are too many."""

    def __init__(self) -> None:
        self.rows = 0
        self.fault: DataError | None = None
        self.different: int | None = None
        self.most: Frequent | None = None
        self._outlines: list[Distinct] | None = []

    def add(self, frame: Frame, name: str) -> None:
        """Count the values of a piece."""
        start, self.rows = self.rows, self.rows + len(frame)
        if self._outlines is None:
            return
        try:
            self._outlines.append(frame.distinct(name).outline(start))
        except DataError as fault:
            self.fault, self._outlines = fault, None
            return
        if sum(one.size for one in self._outlines[1:]) > max(self._outlines[0].size, _PIECE):
            self._merge()

    def settled(self) -> _Tally:
        """The same with all pieces put together."""
        self._merge()
        if self.different is None and self.outline is not None:
            numbers = np.unique(value_numbers(self.outline)[self.outline.counts > 0])
            self.different = int((numbers > 0).sum())
        return self

    @property
    def outline(self) -> Distinct | None:
        """All values, each with how often it occurs; None if there are too many."""
        return self._outlines[0] if self._outlines else None

    def _merge(self) -> None:
        if self._outlines and len(self._outlines) > 1:
            self._outlines = [Distinct.together(self._outlines)[0]]
        if self._outlines and self._outlines[0].size > MANY:
            self._outlines = None


class _Together:
    """How often values of two columns stand in one row, as far as they were met."""

    def __init__(self, allowed: int) -> None:
        self.rows = 0
        self._allowed = allowed
        self._pairs = np.zeros((0, 3), dtype=np.uint64)  # its number, that of the leader's value, how many rows
        self._new: list[NDArray[np.uint64]] = []

    def add(self, leader: Numbers, other: Numbers) -> None:
        """Count the rows of a piece, whose values have these numbers; 0 where there is none."""
        both = (leader > 0) & (other > 0)
        self.rows += int(both.sum())
        pairs, first, counts = np.unique(joined(leader[both], other[both]), return_index=True, return_counts=True)
        self._new.append(np.stack([pairs, leader[both][first], counts.astype(np.uint64)], axis=1))
        if sum(map(len, self._new)) > max(len(self._pairs), _PIECE):
            self._merge()

    @property
    def too_many(self) -> bool:
        """Whether there are more pairs than there can be if one goes with the other."""
        return len(self._pairs) > self._allowed

    @property
    def share(self) -> float:
        """The share of rows with what most often stands beside the leader's value."""
        self._merge()
        order = np.argsort(self._pairs[:, 1])
        starts = np.flatnonzero(np.diff(self._pairs[order, 1], prepend=np.uint64(0)))
        most = np.maximum.reduceat(self._pairs[order, 2], starts) if len(starts) else np.zeros(0)
        return float(most.sum()) / self.rows if self.rows else 0.0

    def _merge(self) -> None:
        every = np.concatenate([self._pairs, *self._new])
        pairs, first, place = np.unique(every[:, 0], return_index=True, return_inverse=True)
        counts = np.zeros(len(pairs), dtype=np.uint64)
        np.add.at(counts, place, every[:, 2])
        self._pairs, self._new = np.stack([pairs, every[first, 1], counts], axis=1), []


def _of_meanings(piece: Distinct) -> Numbers:
    """The number of what each different value says, and 0 for rows without one."""
    return np.append(np.maximum(text_numbers(meanings(piece)), np.uint64(1)), np.uint64(0))


def _texts(texts: list[str]) -> Numbers:
    import pyarrow as pa

    return np.maximum(text_numbers(pa.array(texts, pa.large_string())), np.uint64(1))
