"""Long tables by a random sample: what is measured on it, and how far that may be from the whole table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..methods._parts import picked_on
from ..microdata import Column
from .measure import Figure, Tables, value_at
from .plain import Result, plain

__all__ = ["PARTS", "Sampled", "is_long", "parts_of", "sample_of", "sampled"]

PARTS = 10  # of a sample, whose figures tell how far chance moves them
_T = 2.2621571627982053  # 95 % of Student's t with nine degrees of freedom
_STREAM = 0x5A3317E  # no draw of a sample is one of a release, even if both have the same seed


@dataclass(frozen=True)
class Sampled(Result):
    """How a measure of a long table was taken: on ``records`` drawn at random ``of`` all.

    ``intervals`` has for each of its figures, by where it stands, a 95 % interval for that of the whole table.
    """

    records: int
    of: int
    intervals: Mapping[str, tuple[float, float]]


def is_long(engine: Engine, tables: Tables) -> bool:
    """Whether tables are longer than a chunk, so that no function should look at all of them at once."""
    return max(tables.original.n, tables.released.n) > engine.chunk


def sample_of(engine: Engine, tables: Tables) -> Tables:
    """The tables with as many records as a chunk has, drawn at random; the same of both tables if they are linked.

    They are in random order: any of them that follow each other are a sample, too.
    """
    rng = np.random.default_rng([tables.seed if isinstance(tables.seed, int) else 0, _STREAM])
    first = _drawn(rng, tables.original.n, engine.chunk)
    second = first if tables.linked else _drawn(rng, tables.released.n, engine.chunk)
    before = _picked(engine, [x for x, _ in tables.columns.values()], first)
    after = _picked(engine, [y for _, y in tables.columns.values()], second)
    columns = dict(zip(tables.columns, zip(before, after, strict=True), strict=True))
    (original,) = _picked(engine, [tables.original.rows], first)
    (released,) = _picked(engine, [tables.released.rows], second)
    return _taken(tables, first, second, columns, (original, released))


def parts_of(tables: Tables) -> Iterator[Tables]:
    """A sample in parts, each of which is one; none of one that has not a record for each."""
    if min(tables.original.n, tables.released.n) < PARTS:
        return
    for part in range(PARTS):
        first, second = (
            np.arange(data.n * part // PARTS, data.n * (part + 1) // PARTS)
            for data in (tables.original, tables.released)
        )
        columns = {name: (x.take(first), y.take(second)) for name, (x, y) in tables.columns.items()}
        yield _taken(tables, first, second, columns)


def sampled(figures: Iterable[Figure], whole: Any, parts: Iterable[Any], size: int, n: int) -> Sampled:
    """What chance may do to the figures of a sample of a table of n, from those of its parts.

    The standard error of a figure is the deviation of those of ten parts, divided by the root of ten, and is smaller
    the more of the table the sample holds: 0 if all. Means of absolute changes are larger in small samples, since
    chance is a change, too: by up to the root of ten times as much in a part as in the sample. As far as parts are away
    from the sample on average, the interval is longer on the other side.
    """
    plainly, each = plain(whole), [plain(part) for part in parts]
    left = math.sqrt(max(1 - size / n, 0.0))
    intervals = {}
    for figure in figures:
        for where, value in _values(plainly, figure.where):
            some = [found for one in each for place, found in _values(one, figure.where) if place == where]
            if len(some) == PARTS:
                half = _T * float(np.std(some, ddof=1)) / math.sqrt(PARTS) * left
                more = (float(np.mean(some)) - value) / (math.sqrt(PARTS) - 1) * left
                intervals[where] = (value - half - max(more, 0.0), value + half - min(more, 0.0))
    return Sampled(size, n, intervals)


def _values(found: Any, where: str) -> Iterator[tuple[str, float]]:
    """The numbers of a figure, with the place of each."""
    value = value_at(found, where) if where else None
    if isinstance(value, Mapping):
        yield from ((where.replace("*", name, 1), float(one)) for name, one in value.items() if _is_number(one))
    elif _is_number(value):
        yield where, float(value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _drawn(rng: np.random.Generator, n: int, size: int) -> NDArray[np.int64]:
    return rng.choice(n, size, replace=False) if n > size else rng.permutation(n)


def _picked(engine: Engine, columns: list[Any], rows: NDArray[np.int64]) -> list[Any]:
    """Some rows in any order."""
    order = np.argsort(rows)
    back = np.argsort(order)
    return [column.take(back) for column in picked_on(engine, columns, rows[order], "drawing a sample")]


def _taken(
    tables: Tables,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    columns: Mapping[str, tuple[Column, Column]],
    numbers: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None] = (None, None),
) -> Tables:
    """The tables with some rows of each, whose columns are at hand, and perhaps the numbers of these rows."""
    given = tables.weights
    return replace(
        tables,
        original=tables.original.with_rows(first, {name: x for name, (x, _) in columns.items()}, numbers[0]),
        released=tables.released.with_rows(second, {name: y for name, (_, y) in columns.items()}, numbers[1]),
        columns=columns,
        weights=given if given is None or isinstance(given, str) else np.asarray(given)[second],
    )
