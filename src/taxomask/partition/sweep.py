"""The points nearest to another one, while points are taken out one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance
from .aggregate import Groups

__all__ = ["Left", "middle_records"]

Rows = NDArray[np.int64]


def middle_records(space: RecordDistance, groups: Groups) -> Rows:
    """Of each group the record with the smallest sum of squared distances to the group; of several the first."""
    from ._sweep_kernels import middles

    found: Rows = middles(*space.arrays, groups.order, groups.start)
    return found


class Left:
    """Records of a table, in one list or several, which can be taken out.

    Searches are exact, by a sweep along one coordinate.

    Parameters
    ----------
    space
        How far apart records are.
    lists
        The records of each list; by default all in one.
    """

    def __init__(self, space: RecordDistance, lists: list[Rows] | None = None) -> None:
        key = _widest(space)
        every = [np.arange(space.n)] if lists is None else lists
        orders = [rows[np.argsort(key[rows], kind="stable")] for rows in every]
        # All lists one after the other, each in its order: a sweep goes through memory step by step.
        self._ids = np.concatenate([np.zeros(0, dtype=np.int64), *orders])
        self._bounds = np.cumsum([0, *map(len, orders)]).tolist()
        self._ends = self._bounds[1:]  # all places of a list from here on are empty
        self._own = space.arrays
        numbers, far, codes, *tables = space.arrays
        self._arrays = (numbers[self._ids], far, codes[self._ids], *tables)
        self._key, self._keys = key, key[self._ids]
        self._places = np.full(space.n, -1)
        self._places[self._ids] = np.arange(len(self._ids))
        self._before, self._after = np.arange(len(self._ids)) - 1, np.arange(len(self._ids)) + 1
        for first, end in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            self._before[first:][:1], self._after[:end][-1:] = -1, -1
        self._here = np.ones(len(self._ids), dtype=bool)
        self._skip = list(range(len(self._ids) + 1))  # from each place the next one that is left, or nearer to it

    def take_out(self, row: int) -> None:
        """Take a record out."""
        place = int(self._places[row])
        before, after = self._before[place], self._after[place]
        if before >= 0:
            self._after[before] = after
        if after >= 0:
            self._before[after] = before
        self._here[place] = False
        self._skip[place] = place + 1

    def rows(self) -> Rows:
        """The records that are left."""
        return np.sort(self._ids[self._here])

    def has(self, row: int, within: int = 0) -> bool:
        """Whether a record is left in a list."""
        place = int(self._places[row])
        return self._bounds[within] <= place < self._bounds[within + 1] and bool(self._here[place])

    def nearest(self, row: int, several: int = 1, within: int = 0) -> Rows:
        """The records left in a list that are nearest to one, without itself; of equally near ones the first."""
        from ._sweep_kernels import nearest_left

        found, apart = np.empty(several, dtype=np.int64), np.empty(several)
        query = self._own[0][row], self._own[2][row], float(self._key[row])
        links = self._keys, self._ids, self._before, self._after
        nearest_left(*self._arrays, *query, *links, *self._around(row, within), found, apart)
        return self._ids[found[found >= 0]]

    def _around(self, row: int, within: int) -> tuple[int, int]:
        """The places left in a list between which a record stands."""
        if self.has(row, within):
            place = int(self._places[row])
            return int(self._before[place]), int(self._after[place])
        first, end = self._bounds[within : within + 2]
        at = first + int(np.searchsorted(self._keys[first:end], self._key[row]))
        while self._skip[at] != at:
            self._skip[at] = self._skip[self._skip[at]]
            at = self._skip[at]
        if at < end:
            return int(self._before[at]), at
        while self._ends[within] > first and not self._here[self._ends[within] - 1]:
            self._ends[within] -= 1
        last = self._ends[within] - 1
        return (last if last >= first else -1), -1


def _widest(space: RecordDistance) -> NDArray[np.float64]:
    """The coordinate without missing values that varies most; all 0 if there is none."""
    numbers = space.arrays[0]
    whole = ~np.isnan(numbers).any(axis=0)
    if not whole.any():
        return np.zeros(space.n)
    spread = np.where(whole, np.nan_to_num(numbers).std(axis=0), -1.0)
    return np.ascontiguousarray(numbers[:, int(spread.argmax())])
