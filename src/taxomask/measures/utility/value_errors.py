"""How far the released values are from the original ones, record by record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass

import numpy as np

from ...engines import Engine
from ...microdata import Column, Microdata
from ..measure import CATEGORIES, Measure, Tables
from ..side_by_side import side_by_side
from .result import Loss, mean_of
from .sse import average_of, average_on, distances, squared_error

__all__ = [
    "OVERALL", "ROOT_MEAN_SQUARE_ERRORS", "SQUARED_ERRORS", "TOTAL_DISTANCE", "overall_loss", "root_mean_square_errors",
    "squared_errors", "total_distance",
]  # fmt: skip


def squared_errors(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """SSE: Σ d(x, x')² of each attribute; overall their sum. In squared units of the attribute; see `squared_error`."""
    columns = side_by_side(original, released, attributes, linked=True)
    each = {name: squared_error(*pair).sse for name, pair in columns.items()}
    return Loss(sum(each.values()), each, left_out=_left_out(columns))


def root_mean_square_errors(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """RMSE: the root of the mean d(x, x')² over records of each attribute, in its own units; overall over all cells.

    References
    ----------
    Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45.
    """
    columns = side_by_side(original, released, attributes, linked=True)
    squares = {name: np.square(distances(*pair)) for name, pair in columns.items()}
    each = {name: _root_mean(float(one.sum()), len(one)) for name, one in squares.items()}
    whole = _root_mean(sum(float(one.sum()) for one in squares.values()), sum(map(len, squares.values())))
    return Loss(whole, each, left_out=_left_out(columns))


def total_distance(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """Dist: Σ d(x, x') over the records, of each categorical attribute; overall their sum.

    d is the difference of positions (ordinal), 0 or 1 (nominal), or the semantic distance (taxonomic).
    """
    every = side_by_side(original, released, attributes, linked=True)
    columns = {name: pair for name, pair in every.items() if pair[0].attribute.kind in CATEGORIES}
    each = {name: float(distances(*pair).sum()) for name, pair in columns.items()}
    return Loss(sum(each.values()), each, left_out=_left_out(columns))


def overall_loss(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """The normalised loss, comparable across methods, kinds of attribute and scales: SSE / SST of each attribute.

    L = Σ d(x, x')² / Σ d(x, c)², with c the average of the attribute in the original table: its mean, median (ordinal),
    mode (nominal) or least marginal value (taxonomic), and d as in `squared_error`. Overall it is the mean over the
    attributes. 0 for identical tables; 1 if every value is replaced by the average; about 2 for numbers in random
    order; never clipped.

    A suppressed value (missing in the release only) counts as if it were replaced by the average: suppressing all is 1.
    A value that only the release has is left out. An attribute that is constant in the original loses 0, or NaN if the
    release changed it: there is no spread to compare the change with.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> ages = tm.Microdata.from_frame(pa.table({"age": [20, 30, 40, 50]}), schema)
    >>> overall_loss(ages, ages.replace(age=ages.columns["age"].with_values([25, 25, 45, 45]))).overall
    0.2
    """
    columns = side_by_side(original, released, attributes, linked=True)
    each = {name: _relative(*pair) for name, pair in columns.items()}
    return Loss(mean_of(each.values()), each, left_out=_left_out(columns))


def _relative(original: Column, released: Column) -> float:
    average = average_of(original)
    total = float(np.square(distances(original, average)).sum())
    suppressed = released.missing & ~original.missing
    lost = float(np.square(distances(original, released)).sum())
    lost += float(np.square(distances(original.take(suppressed), average.take(suppressed))).sum())
    if total > 0:
        return lost / total
    return 0.0 if lost == 0 else np.nan


def _root_mean(total: float, number: int) -> float:
    return float(np.sqrt(total / number)) if number else 0.0


def _left_out(columns: Mapping[str, tuple[Column, Column]]) -> dict[str, int]:
    """The records of each attribute that have a missing value in either table."""
    numbers = {name: int((x.missing | y.missing).sum()) for name, (x, y) in columns.items()}
    return {name: number for name, number in numbers.items() if number}


# --------------------------------------------------------------------------------------- of long tables


@dataclass(frozen=True)
class _Errors:
    """Sums over the records of an attribute: the distances to the released values and their squares, the squares of
    the distances to the average, and those of suppressed values to it; how many records have both values, and not."""

    distance: float
    square: float
    away: float
    suppressed: float
    both: int
    left_out: int

    def with_(self, other: _Errors) -> _Errors:
        return _Errors(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def loss(self) -> float:
        lost = self.square + self.suppressed
        if self.away > 0:
            return lost / self.away
        return 0.0 if lost == 0 else np.nan


def _errors_on(engine: Engine, tables: Tables) -> dict[str, _Errors]:
    return {
        name: engine.fold(_errors, _Errors.with_, [x, y], average_on(engine, x), what="measuring errors")
        for name, (x, y) in tables.columns.items()
    }


def _errors(x: Column, y: Column, average: Column) -> _Errors:
    one, suppressed = distances(x, y), y.missing & ~x.missing
    away = distances(x, average.take(np.zeros(len(x), dtype=np.int64)))
    lost = away[suppressed[~x.missing]]
    return _Errors(
        float(one.sum()),
        float(np.square(one).sum()),
        float(np.square(away).sum()),
        float(np.square(lost).sum()),
        len(one),
        len(x) - len(one),
    )


def _summed(found: Mapping[str, _Errors], overall: float, each: Mapping[str, float]) -> Loss:
    return Loss(overall, each, left_out={name: one.left_out for name, one in found.items() if one.left_out})


def _overall_on(engine: Engine, tables: Tables) -> Loss:
    found = _errors_on(engine, tables)
    each = {name: one.loss for name, one in found.items()}
    return _summed(found, mean_of(each.values()), each)


def _squared_on(engine: Engine, tables: Tables) -> Loss:
    found = _errors_on(engine, tables)
    each = {name: one.square for name, one in found.items()}
    return _summed(found, sum(each.values()), each)


def _root_mean_on(engine: Engine, tables: Tables) -> Loss:
    found = _errors_on(engine, tables)
    each = {name: _root_mean(one.square, one.both) for name, one in found.items()}
    every = found.values()
    return _summed(found, _root_mean(sum(one.square for one in every), sum(one.both for one in every)), each)


def _distance_on(engine: Engine, tables: Tables) -> Loss:
    found = _errors_on(engine, tables)
    each = {name: one.distance for name, one in found.items()}
    return _summed(found, sum(each.values()), each)


OVERALL = Measure(
    "overall",
    title="loss",
    about="Squared distance of released to original values, as a share of that to the average; the mean over the "
    "protected columns.",
    paper="SSE/SST",
    unit="share of the spread",
    compute=lambda tables, _: overall_loss(*tables.aligned),
    on_engine=_overall_on,
    seconds=lambda tables: 4e-8 * tables.cells,
    needs_links=True,
    headline=True,
)
SQUARED_ERRORS = Measure(
    "squared_errors",
    title="squared errors",
    about="The sum of squared distances of released to original values, over all records and columns, units mixed.",
    paper="SSE",
    unit="squared units of the columns",
    compute=lambda tables, _: squared_errors(*tables.aligned),
    on_engine=_squared_on,
    seconds=lambda tables: 2e-8 * tables.cells,
    needs_links=True,
)
ROOT_MEAN_SQUARE_ERRORS = Measure(
    "root_mean_square_errors",
    title="typical error",
    about="The root of the mean squared distance of released to original values over all cells, units mixed.",
    paper="RMSE",
    unit="units of the columns",
    compute=lambda tables, _: root_mean_square_errors(*tables.aligned),
    on_engine=_root_mean_on,
    seconds=lambda tables: 1e-8 * tables.cells,
    needs_links=True,
)
TOTAL_DISTANCE = Measure(
    "total_distance",
    title="distance of categories",
    about="The summed distance of released to original categories and codes, over all records.",
    paper="Dist",
    unit="distance",
    compute=lambda tables, _: total_distance(*tables.aligned),
    on_engine=_distance_on,
    seconds=lambda tables: 5e-9 * tables.cells,
    columns=CATEGORIES,
    needs_links=True,
)
