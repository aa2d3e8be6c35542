"""How an attribute is generalised step by step: from its values to one class of all, and then to nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn, Kind, TaxonomicColumn
from ._ancestors import cut, with_concepts
from ._classes import cells, emptied

__all__ = ["Ladder", "ladder"]

Int = NDArray[np.int64]


class Ladder(ABC):
    """The steps of one attribute. Step 0 leaves it as it is, the last one takes all of its values away.

    ``codes`` are the cells of the column; each step joins values, and a value joined with another stays with it.
    """

    def __init__(self, column: Column) -> None:
        self.column = column
        self.codes, self.count = cells(column)
        self._used = np.unique(self.codes)
        self.gaps = bool(column.missing.any())
        self._values: dict[int, int] = {}

    last: int
    """The number of the last step."""

    def classes(self, step: int) -> Int:
        """The class of each value at a step, the one of missing cells at the end; all the same at the last step."""
        if step == self.last:
            return np.full(self.count + 1, self.count)
        joined = np.arange(self.count) if step == 0 else self._joined(step)
        return np.append(joined, self.count)

    def values(self, step: int) -> int:
        """How many different values there are at a step; missing is none."""
        if step not in self._values:
            classes = np.unique(self.classes(step)[self._used])
            self._values[step] = int((classes < self.count).sum())
        return self._values[step]

    def written(self, step: int) -> Column:
        """The column at a step."""
        if step == self.last:
            return emptied(self.column, np.ones(len(self.column), dtype=bool))
        return self.column if step == 0 else self._written(step)

    def described(self, step: int) -> str:
        name = self.column.attribute.name
        if step in (0, self.last):
            return f"{name} {'as it is' if step == 0 else 'removed'}"
        return f"{name} {self._described(step)}"

    @abstractmethod
    def _joined(self, step: int) -> Int: ...

    @abstractmethod
    def _written(self, step: int) -> Column: ...

    @abstractmethod
    def _described(self, step: int) -> str: ...


def ladder(column: Column) -> Ladder:
    """The steps of a column, by its kind."""
    if isinstance(column, TaxonomicColumn):
        return _Concepts(column)
    if isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL:
        return _Intervals(column)
    return _Plain(column)


class _Plain(Ladder):
    """Plain categories: there is nothing between a value and none."""

    last = 1

    def _joined(self, step: int) -> Int:
        raise AssertionError

    def _written(self, step: int) -> Column:
        raise AssertionError

    def _described(self, step: int) -> str:
        raise AssertionError


class _Intervals(Ladder):
    """Numbers and ordered categories: intervals with about as many records each, half as many at each step."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        counts = np.bincount(self.codes, minlength=self.count + 1)[: self.count]
        halvings = max(int(np.count_nonzero(counts)) - 1, 0).bit_length()
        middle = np.cumsum(counts) - counts / 2
        self._finest = np.minimum(
            np.floor(middle / max(counts.sum(), 1) * 2**halvings).astype(np.int64), 2**halvings - 1
        )
        self._counts = counts
        self.last = halvings + 1

    def _joined(self, step: int) -> Int:
        return self._finest >> step

    def _written(self, step: int) -> Column:
        joined = self._joined(step)
        if isinstance(self.column, ContinuousColumn):
            present = ~self.column.missing
            group = joined[self.codes[present]]
            size = np.bincount(group)
            origin = float(self.column.values[present].min())
            with np.errstate(over="ignore"):  # what is too large to be written is an error when it is
                means = origin + np.bincount(group, self.column.values[present] - origin) / np.maximum(size, 1)
            values = np.full(len(self.codes), np.nan)
            values[present] = means[group]
            return self.column.with_values(values)
        # The median category: the first at which half of the records of its interval are reached.
        total = np.cumsum(self._counts)
        size = np.bincount(joined, self._counts).astype(np.int64)
        half = np.cumsum(size) - size + (size + 1) // 2
        median = np.searchsorted(total, half)
        return self.column.with_codes(np.append(median[joined], -1)[self.codes])

    def _described(self, step: int) -> str:
        return f"in {self.values(step)} intervals"


class _Concepts(Ladder):
    """Concepts: a level of the taxonomy less at each step."""

    def __init__(self, column: TaxonomicColumn) -> None:
        super().__init__(column)
        self._concepts = column
        taxonomy = column.scopes[0].taxonomy
        seen = column.positions[column.counts > 0]
        deepest = int(taxonomy.depth[seen].max()) if len(seen) else 1
        self._levels = []
        for level in range(deepest - 1, 0, -1):
            self._levels.append((level, cut(taxonomy, column.positions, level)))
            if len(np.unique(self._levels[-1][1][column.counts > 0])) == 1:
                break
        self.last = len(self._levels) + 1

    def _joined(self, step: int) -> Int:
        return np.unique(self._levels[step - 1][1], return_inverse=True)[1].astype(np.int64, copy=False)

    def _written(self, step: int) -> Column:
        return with_concepts(self._concepts, self._levels[step - 1][1])

    def _described(self, step: int) -> str:
        return f"at depth {self._levels[step - 1][0]}"
