"""How far classes of a long table are from it by the earth mover's distance, when no job can hold all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import CategoricalColumn, Column
from ..microdata.meanings import by_meaning
from ..microdata.people import class_owners
from ..semantics import EarthMover, earth_mover_of
from ._parts import Parts

__all__ = ["Classes", "largest_on", "mean_on", "mover_on"]

Whole = NDArray[np.int64]
Float = NDArray[np.float64]
_WHAT = "measuring closeness"


class Classes:
    """Records with the same key brought together, with their people where these count."""

    def __init__(self, engine: Engine, keys: NDArray[Any], people: Whole | None = None) -> None:
        self._parts = Parts.of_equal(engine, keys)
        self._rows = [self._parts.brought(one) for one in (keys, people) if one is not None]

    def each(self, function: Any, column: Column, mover: EarthMover, values: Float) -> list[Any]:
        """What a function finds in each part of whole classes."""
        columns = [self._parts.brought(column), *self._rows]
        (found,) = self._parts.each(function, columns, mover, values, what=_WHAT)
        return list(found)


def mover_on(engine: Engine, column: Column, shares: Float | None = None) -> tuple[EarthMover, Float]:
    """The distance between groups of records of a column and all of it, for records that are not at hand, and the
    different numbers of a column of numbers.

    A record counts 1, or its share where ``shares`` say what that is.
    """
    rows = [column] if shares is None else [column, shares]
    meant = by_meaning(column.part(0, 0))
    if isinstance(column, CategoricalColumn):
        return earth_mover_of(meant, engine.fold(_counted, np.add, rows, what=_WHAT)), np.zeros(0)
    gone, values, counts = engine.fold(_different, _added, rows, what=_WHAT)
    return earth_mover_of(meant, np.concatenate([[gone], counts])), values


def largest_on(classes: Classes, column: Column, mover: EarthMover, values: Float) -> float:
    """The largest distance of a class."""
    return max(classes.each(_largest, column, mover, values))


def mean_on(classes: Classes, column: Column, mover: EarthMover, values: Float) -> tuple[float, float]:
    """The largest distance of a class, and the mean over its records, or its people where these count."""
    found = classes.each(_summed, column, mover, values)
    return max(one for one, _, _ in found), sum(one for _, one, _ in found) / sum(one for _, _, one in found)


def _counted(column: Column, shares: Float | None = None) -> NDArray[Any]:
    """How many records of a chunk have no value, and each category, or what they count together."""
    meant = by_meaning(column)
    codes, size = meant.numbered()
    counts = np.bincount(codes + 1, shares, size + 1)
    return counts.astype(np.int64) if shares is None else counts


def _different(column: Column, shares: Float | None = None) -> tuple[float, Float, NDArray[Any]]:
    """What the records of a chunk without a number count, the different numbers, and what those with each count."""
    numbers = column.numbers()
    here = ~np.isnan(numbers)
    values, place = np.unique(numbers[here], return_inverse=True)
    if shares is None:
        return int((~here).sum()), values, np.bincount(place, minlength=len(values))
    return float(shares[~here].sum()), values, np.bincount(place, shares[here], len(values))


def _added(one: tuple[float, Float, NDArray[Any]], other: tuple[float, Float, NDArray[Any]]) -> Any:
    values, place = np.unique(np.concatenate([one[1], other[1]]), return_inverse=True)
    counts = np.zeros(len(values), dtype=one[2].dtype)
    np.add.at(counts, place, np.concatenate([one[2], other[2]]))
    return one[0] + other[0], values, counts


def _largest(column: Column, *rest: Any) -> tuple[float]:
    _, _, order, start, mover = _classes(column, *rest)
    return (mover.largest(order, start),)


def _summed(column: Column, *rest: Any) -> tuple[tuple[float, float, int]]:
    classes, people, order, start, mover = _classes(column, *rest)
    distances, sizes = mover.of_groups(order, start), class_owners(classes, people)
    return ((float(distances.max()), float(distances @ sizes), int(sizes.sum())),)


def _classes(column: Column, *rest: Any) -> tuple[Whole, Whole | None, Whole, Whole, EarthMover]:
    """The class and the person of each record of a part, the records class by class, and the distance among them."""
    *rows, mover, values = rest
    keys, people = rows if len(rows) == 2 else (rows[0], None)
    classes = np.unique(keys, return_inverse=True)[1].reshape(-1)
    if isinstance(column, CategoricalColumn):
        codes = by_meaning(column).numbered()[0].astype(np.int64)
    else:
        codes = np.where(column.missing, -1, np.searchsorted(values, column.numbers()))
    order = np.argsort(classes, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(classes))])
    return classes, people, order, start, mover.among(codes, people)
