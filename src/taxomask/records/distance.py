"""The distance between records: S-distance and the generic distance of MDAV."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .._support.parameters import check_choice
from .._support.showing import few, line
from ..errors import DataError, SchemaError, did_you_mean
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..semantics import category_marginality
from .spread import Extent, Spread
from .terms import CodeTerm, EqualityTerm, NumberTerm, TableTerm, Term, codes_with_missing

__all__ = ["RecordDistance"]

Float = NDArray[np.float64]
Formula = Literal["s", "generic"]
Scale = Literal["balanced", "paper"]


class RecordDistance:
    """How far apart the records of a table are: δ(x, y)² = Σ over the attributes of a term.

    ============================  ===========================  ======================================
    kind                          ``distance="s"``             ``distance="generic"``
    ============================  ===========================  ======================================
    continuous                    (x - y)² / 2S²               (x - y)² / S²
    ordinal (category positions)  (x - y)² / 2S²               (x - y)² / (number of categories)²
    nominal, taxonomic            d(x, y)·f                    d(x, y)²
    ============================  ===========================  ======================================

    S² is the sample variance. With Σm the sum of all marginalities, f is n(n-1) / Σm for ``scale="balanced"``, which
    lets every attribute weigh about the same, and n / Σm for ``scale="paper"``, in which a nominal attribute weighs
    about 1/n of a numerical one. An attribute that does not vary adds nothing. S², Σm and n are of the values that are
    not missing; two missing values are at distance 0, a missing and a present one at the largest distance of the
    attribute.

    Parameters
    ----------
    data
        The table.
    attributes
        The columns that count; by default all quasi-identifiers.
    distance
        ``"s"`` (S-distance) or ``"generic"`` (the component distances of MDAV-generic).
    scale
        ``"balanced"`` or ``"paper"``; only for S-distance.

    References
    ----------
    Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Anonymization of nominal data based on semantic marginality,
    Information Sciences 242; Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 30, 70], "dx": ["25001", "25002", "4019"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> distance = tm.RecordDistance(tm.Microdata.from_frame(table, schema))
    >>> distance.to_all(0).round(3)
    array([0.   , 0.75 , 1.744])
    """

    def __init__(
        self,
        data: Microdata,
        attributes: Iterable[str] | None = None,
        *,
        distance: Formula = "s",
        scale: Scale = "balanced",
    ) -> None:
        check_choice("distance", distance, get_args(Formula))
        check_choice("scale", scale, get_args(Scale))
        names = data.schema.quasi_identifiers if attributes is None else tuple(attributes)
        if not names:
            raise SchemaError("no attribute is named to measure by.", hint="Give a column the role quasi_identifier.")
        self.names = tuple(names)
        self.n = data.n
        self.terms = tuple(_term(_column(data, name), distance, scale) for name in self.names)

    def __repr__(self) -> str:
        return line(f"<RecordDistance of {self.n:,} records by {few(self.names)}>")

    @classmethod
    def from_terms(cls, terms: Iterable[Term]) -> RecordDistance:
        """From one term per attribute, all of the same records."""
        made = object.__new__(cls)
        made.terms = tuple(terms)
        made.names = tuple(term.name for term in made.terms)
        made.n = len(made.terms[0].coordinates)
        return made

    @classmethod
    def measured(
        cls,
        columns: Iterable[tuple[Column, tuple[Extent, Spread] | None]],
        *,
        distance: Formula = "s",
        scale: Scale = "balanced",
    ) -> RecordDistance:
        """The distance of a table that is not at hand, without its records: `among` has those of some of them.

        Of numbers their extent and their spread from the smallest one are given, and of categories a column without
        rows that knows how many there are of each (`CategoricalColumn.outline`).
        """
        return cls.from_terms(
            _measured(column, *found, distance) if found is not None else _term(column, distance, scale)
            for column, found in columns
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> RecordDistance:
        """The same distance between some of the records: the scale stays that of the whole table."""
        other = self.from_terms(term.take(rows) for term in self.terms)
        other._tables = self._tables  # large, and the same
        return other

    def only(self, names: Iterable[str]) -> RecordDistance:
        """The same distance by some of the attributes only."""
        terms = {term.name: term for term in self.terms}
        return self.from_terms(terms[name] for name in names)

    def of(self, data: Microdata) -> RecordDistance:
        """The same distance between the records of another table: the scale stays that of this one.

        Its columns have the categories of this one's (see `taxomask.microdata.alike`). The distance of a record
        of the one table from records of the other is that of its coordinates.
        """
        return self.among([_column(data, term.name) for term in self.terms])

    def among(self, columns: Iterable[Column]) -> RecordDistance:
        """The same as `of`, given the column of each attribute."""
        other = self.from_terms(term.placed(column) for term, column in zip(self.terms, columns, strict=True))
        other._tables = self._tables
        return other

    @property
    def slack(self) -> float:
        """1e-14·M, with M the largest |x|/S: how far δ may be off because values are rounded, however small it is."""
        return 1e-14 * math.sqrt(2) * max((one.largest for one in self.terms if isinstance(one, NumberTerm)), default=0)

    def squared(self, i: int, j: int) -> float:
        """δ² of two records."""
        return float(self.squared_to_all(i)[j]) if self.n else 0.0

    def between(self, i: int, j: int) -> float:
        """δ of two records."""
        return float(np.sqrt(self.squared(i, j)))

    def squared_to_all(self, i: int) -> Float:
        """δ² of one record and every record."""
        numbers, codes = self.arrays[0], self.arrays[2]
        return self.squared_from(numbers[i], codes[i])

    def squared_to_rows(self, i: int, rows: NDArray[np.int64]) -> Float:
        """δ² of one record and some records."""
        from ._kernels import squared_to_rows

        out = np.empty(len(rows))
        squared_to_rows(*self.arrays, i, rows, out)
        return out

    def to_all(self, i: int) -> Float:
        """δ of one record and every record."""
        return np.sqrt(self.squared_to_all(i))

    def squared_from(self, numbers: Float, codes: NDArray[np.int32]) -> Float:
        """δ² of a point given by its coordinates (such as an average record) and every record."""
        from ._kernels import squared_to_all

        out = np.empty(self.n)
        squared_to_all(*self.arrays, np.ascontiguousarray(numbers), np.ascontiguousarray(codes), out)
        return out

    @cached_property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The records as plain arrays, for compiled kernels; see ``records/_kernels.py``."""
        numbers, codes = self.coordinates
        return (
            numbers,
            np.array([term.farthest for term in self.terms if isinstance(term, NumberTerm)]),
            codes,
            *self._tables,
            np.array([term.farthest for term in self.terms if isinstance(term, CodeTerm)]),
        )

    @cached_property
    def coordinates(self) -> tuple[Float, NDArray[np.int32]]:
        """The records alone: numbers and codes, one row per record."""
        numbers = [term.coordinates for term in self.terms if isinstance(term, NumberTerm)]
        coded = [term.coordinates for term in self.terms if isinstance(term, CodeTerm)]
        return _side_by_side(numbers, self.n, np.float64), _side_by_side(coded, self.n, np.int32)

    @cached_property
    def _tables(self) -> tuple[Float, NDArray[np.int64], NDArray[np.int64]]:
        """The tables of all taxonomic attributes one after the other, where each begins, and its size."""
        coded = [term for term in self.terms if isinstance(term, CodeTerm)]
        tables = [term.table if isinstance(term, TableTerm) else np.zeros((0, 0)) for term in coded]
        start = np.cumsum([0, *(table.size for table in tables)], dtype=np.int64)
        filled = [table for table in tables if table.size]
        if len(filled) == 1 and filled[0].flags.c_contiguous and filled[0].flags.writeable:
            flat = filled[0].reshape(
                -1
            )  # as it is: a copy of a large one for every few records takes longer than they do
        else:
            flat = np.concatenate([np.zeros(0), *(table.ravel() for table in filled)])
        return flat, start[:-1], np.array([len(table) for table in tables], dtype=np.int64)


def _column(data: Microdata, name: str) -> Column:
    try:
        return data.columns[name]
    except KeyError:
        raise SchemaError(
            f"there is no coded column {name!r} to measure by.", hint=did_you_mean(name, data.columns)
        ) from None


def _side_by_side(columns: list[NDArray[Any]], n: int, dtype: type) -> NDArray[Any]:
    out: NDArray[Any] = np.empty((n, len(columns)), dtype=dtype)
    for place, column in enumerate(columns):
        out[:, place] = column
    return out


# --------------------------------------------------------------------------------------- one term per kind


def _term(column: Column, distance: Formula, scale: Scale) -> Term:
    weight = column.attribute.weight
    if isinstance(column, ContinuousColumn):
        square = _variance(column.values) * (2 if distance == "s" else 1)
        if not np.isfinite(square):
            raise _too_large(column, float(np.nanmax(np.abs(column.values))))
        return NumberTerm(column.attribute.name, *_coordinates(column.values, square, weight))
    if column.attribute.kind == Kind.ORDINAL:
        if not len(column) and column.counts.any():  # counted elsewhere
            return _graded(column, distance)
        positions, categories = np.where(column.missing, np.nan, column.codes), len(column.categories)
        square = 2 * _variance(positions) if distance == "s" else float(categories) ** 2
        return NumberTerm(
            column.attribute.name,
            *_coordinates(positions, square, weight),
            levels=column.codes,
            categories=categories,
        )
    return _category_term(column, distance, weight * (_category_factor(column, scale) if distance == "s" else 1.0))


def _measured(column: Column, extent: Extent, spread: Spread, distance: Formula) -> Term:
    """The term of numbers that are not at hand."""
    square = spread.variance * (2 if distance == "s" else 1)
    if not np.isfinite(square):
        raise _too_large(column, max(abs(extent.smallest), abs(extent.largest)))
    return _without_records(column.attribute.name, extent, square, column.attribute.weight)


def _graded(column: CategoricalColumn, distance: Formula) -> Term:
    """The same of ordered categories of which it is known how many there are of each."""
    used, categories = np.flatnonzero(column.counts), len(column.categories)
    count = int(column.counts.sum())
    mean = float(used @ column.counts[used]) / count
    spread = Spread(count, mean, float(np.square(used - mean) @ column.counts[used]))
    square = 2 * spread.variance if distance == "s" else float(categories) ** 2
    extent = Extent(count, float(used[0]), float(used[-1]))
    term = _without_records(column.attribute.name, extent, square, column.attribute.weight)
    return replace(term, levels=column.codes, categories=categories)


def _without_records(name: str, extent: Extent, square: float, weight: float) -> NumberTerm:
    present = extent.count > 0
    scale = float(np.sqrt(weight / square)) if present and square > 0 else 0.0
    origin = extent.smallest if present else 0.0
    gap = (extent.largest - origin) * scale if present else 0.0
    return NumberTerm(name, np.empty(0), origin, scale, farthest=gap * gap)


def _too_large(column: Column, largest: float) -> DataError:
    return DataError(
        f"column {column.attribute.name!r} holds numbers as large as {largest:.2g}: "
        "distances between them cannot be computed.",
        hint="Divide the column by a large number first, so that its squares are below 1e308.",
    )


def _coordinates(values: Float, square: float, weight: float) -> tuple[Float, float, float]:
    """Numbers counted from the smallest (an offset changes nothing) in units of the root of ``square``."""
    present = values[~np.isnan(values)]
    origin = float(present.min()) if len(present) else 0.0
    scale = float(np.sqrt(weight / square)) if len(present) and square > 0 else 0.0
    return (values - origin) * scale, origin, scale


def _category_term(column: CategoricalColumn, distance: Formula, factor: float) -> Term:
    name, categories = column.attribute.name, len(column.categories)
    codes = codes_with_missing(column)
    if not isinstance(column, TaxonomicColumn):
        return EqualityTerm(name, codes, factor if categories > 1 else 0.0, categories)
    if distance == "s":
        return TableTerm(name, codes, _with_missing(column.table * factor), factor=factor or 1.0)
    squares = _with_missing(np.square(column.table) * factor)
    return TableTerm(name, codes, squares, distances=_with_missing(column.table))


def _with_missing(table: Float) -> Float:
    """One more row and column for missing values: 0 from each other, the largest distance from all values."""
    wide = np.full((len(table) + 1, len(table) + 1), table.max(initial=0.0))
    wide[:-1, :-1] = table
    wide[-1, -1] = 0.0
    return wide


def _category_factor(column: CategoricalColumn, scale: Scale) -> float:
    """What a semantic distance is multiplied by: n(n-1) / Σm, or n / Σm in the paper's scale."""
    n = int(column.counts.sum())
    total = float(category_marginality(column) @ column.counts)
    if total <= 0:
        return 0.0
    return n / total if scale == "paper" else n * (n - 1) / total


def _variance(values: Float) -> float:
    """The sample variance of the values that are not missing, counted from the smallest."""
    present = values[~np.isnan(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.var(present - present.min(), ddof=1)) if len(present) > 1 else 0.0
