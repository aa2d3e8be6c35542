"""Coded columns: what methods and measures work on. A column of numbers, or of small integer codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from .attribute import Attribute

if TYPE_CHECKING:
    from ..taxonomy import Scope

__all__ = ["CategoricalColumn", "Column", "ContinuousColumn", "TaxonomicColumn"]

Codes = NDArray[np.int32]
Table = NDArray[np.float64]


class _Coded(ABC):
    """What columns of all kinds can do."""

    attribute: Attribute

    @property
    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Where the value is missing."""

    @abstractmethod
    def numbers(self) -> NDArray[np.float64]:
        """The values of a continuous column, or the codes of categories; NaN where missing."""

    @abstractmethod
    def numbered(self) -> tuple[NDArray[np.int64], int]:
        """The number of each cell's value, -1 where it is missing, and how many values there can be."""

    def same(self, other: Column) -> NDArray[np.bool_]:
        """Where another version of the column, in the same numbering of the categories, holds the same."""
        return (self.numbers() == other.numbers()) | (self.missing & other.missing)

    @abstractmethod
    def take(self, rows: ArrayLike) -> Self:
        """The column of these rows only (positions, or a mask)."""

    @property
    def categorical(self) -> CategoricalColumn:
        """The column, for who knows that it holds categories."""
        raise TypeError(f"column {self.attribute.name!r} holds numbers, not categories")

    @property
    @abstractmethod
    def cells(self) -> NDArray[Any]:
        """The array that holds the values or codes."""

    @abstractmethod
    def with_cells(self, cells: NDArray[Any]) -> Self:
        """The same attribute and categories with cells of a column like it, which are not looked at again."""

    def part(self, start: int, stop: int) -> Self:
        """Some rows that follow each other; nothing is copied, nor looked at."""
        return self.with_cells(self.cells[start:stop])

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.attribute.name!r}: {len(self):,} records>"


@dataclass(frozen=True, eq=False, repr=False)
class ContinuousColumn(_Coded):
    """Numbers; NaN where missing. Dates and times count in their own unit from 1970 (or midnight)."""

    attribute: Attribute
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.values)

    def numbers(self) -> NDArray[np.float64]:
        return self.values

    def numbered(self) -> tuple[NDArray[np.int64], int]:
        known, codes = np.unique(self.values, return_inverse=True)
        return np.where(self.missing, -1, codes), len(known) - int(self.missing.any())  # NaN is sorted last

    def with_values(self, values: ArrayLike) -> ContinuousColumn:
        """The same attribute with other values."""
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def take(self, rows: ArrayLike) -> ContinuousColumn:
        return self.with_values(self.values[np.asarray(rows)])

    @property
    def cells(self) -> NDArray[np.float64]:
        return self.values

    def with_cells(self, cells: NDArray[Any]) -> ContinuousColumn:
        return self.with_values(cells)


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalColumn(_Coded):
    """Categories by number: ``codes`` points into ``categories``, -1 where missing.

    The categories of an ordinal attribute are its whole scale, in order; those of a nominal one are the
    values that occur, sorted. They are held as they stand in the data (250 and "250" are spelled alike but
    not the same).
    """

    attribute: Attribute
    codes: Codes
    categories: tuple[object, ...]

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes, dtype=np.int32)
        if len(codes) and (codes.min() < -1 or codes.max() >= len(self.categories)):
            raise DataError(
                f"column {self.attribute.name!r}: codes must be between -1 and {len(self.categories) - 1}; "
                f"got {codes.min()} to {codes.max()}.",
                hint="Codes count the categories from 0; -1 means missing.",
            )
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "categories", tuple(self.categories))

    @property
    def missing(self) -> NDArray[np.bool_]:
        return self.codes < 0

    def numbers(self) -> NDArray[np.float64]:
        return np.where(self.missing, np.nan, self.codes)

    def numbered(self) -> tuple[NDArray[np.int64], int]:
        return self.codes.astype(np.int64), len(self.categories)

    @property
    def categorical(self) -> Self:
        return self

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many records have each category; missing ones not counted."""
        return np.bincount(self.codes + 1, minlength=len(self.categories) + 1)[1:].astype(np.int64, copy=False)

    def with_codes(self, codes: ArrayLike) -> Self:
        """The same categories with other codes."""
        return replace(self, codes=np.asarray(codes, dtype=np.int32))

    def take(self, rows: ArrayLike) -> Self:
        return self.with_codes(self.codes[np.asarray(rows)])

    def compact(self) -> Self:
        """The same column without the categories that do not occur."""
        used = np.flatnonzero(self.counts)
        return self if len(used) == len(self.categories) else self._select(used)

    def _select(self, used: NDArray[np.intp], **changes: Any) -> Self:
        recode = np.full(len(self.categories) + 1, -1, dtype=np.int32)
        recode[used] = np.arange(len(used), dtype=np.int32)
        categories = tuple(self.categories[i] for i in used.tolist())
        return replace(self, codes=recode[self.codes], categories=categories, **changes)

    def outline(self, counts: NDArray[np.int64]) -> Self:
        """What a column is, without its rows: its categories, and how many records have each."""
        outline = self.part(0, 0)
        vars(outline)["counts"] = counts
        return outline

    @property
    def cells(self) -> Codes:
        return self.codes

    def with_cells(self, cells: NDArray[Any]) -> Self:
        other = object.__new__(type(self))
        vars(other).update({name: value for name, value in vars(self).items() if name != "counts"}, codes=cells)
        return other


@dataclass(frozen=True, eq=False, repr=False)
class TaxonomicColumn(CategoricalColumn):
    """Categories that are concepts of a taxonomy, in taxonomy order.

    ``positions`` are those of the categories in the (first) taxonomy. With several taxonomies, ``further``
    has one row for each of the others; -1 where a taxonomy does not know the value. Values that the first
    does not know come after all others, in the order of the next one.
    """

    positions: Codes
    further: Codes | None = None
    _shared: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "positions", np.asarray(self.positions, dtype=np.int32))
        if len(self.positions) != len(self.categories):
            raise DataError(
                f"column {self.attribute.name!r}: {len(self.categories)} categories but "
                f"{len(self.positions)} positions.",
                hint="Give every category its position in the taxonomy.",
            )

    @property
    def places(self) -> Codes:
        """The positions of the categories in each taxonomy, one row per taxonomy."""
        first = self.positions[None, :]
        return first if self.further is None else np.concatenate([first, self.further])

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """τ(X) of the original attribute in each taxonomy."""
        if "scopes" not in self._shared:
            pairs = zip(self.attribute.taxonomies, self.places, strict=True)
            self._shared["scopes"] = tuple(taxonomy.scope(row[row >= 0]) for (taxonomy, _), row in pairs)
        scopes: tuple[Scope, ...] = self._shared["scopes"]
        return scopes

    @property
    def table(self) -> Table:
        """The distances between the categories, made on first use.

        With several taxonomies: the weighted mean over those that know both values; where none does, the
        largest distance of the table.
        """
        if "table" not in self._shared:
            self._shared["table"] = self._make_table()
        table: Table = self._shared["table"]
        return table

    @property
    def has_table(self) -> bool:
        """Whether the table was made already; for a few rows of a very large one it need not be."""
        return "table" in self._shared

    def with_codes(self, codes: ArrayLike) -> Self:
        other = super().with_codes(codes)
        object.__setattr__(other, "_shared", self._shared)
        return other

    def including(self, positions: ArrayLike) -> Self:
        """The same column with more categories: these concepts of the first taxonomy.

        Distances go on to be measured in τ(X) of the original attribute.
        """
        new = np.setdiff1d(np.asarray(positions, dtype=np.int32), self.positions)
        (first, _), *others = self.attribute.taxonomies
        match: Any = self.attribute.match
        names = first.names(new, match=match)
        found = [tax.lookup(names, match=match, normalize=self.attribute.normalize) for tax, _ in others]
        places = np.concatenate([self.places, np.stack([new, *found])], axis=1)
        order = sort_places(places)
        recode = np.full(len(order) + 1, -1, dtype=np.int32)
        recode[order] = np.arange(len(order), dtype=np.int32)
        categories = (*self.categories, *names)
        other = replace(
            self,
            codes=recode[self.codes],
            categories=tuple(categories[i] for i in order.tolist()),
            positions=places[0, order],
            further=places[1:, order] if others else None,
        )
        other._shared["scopes"] = self.scopes
        return other

    def _select(self, used: NDArray[np.intp], **changes: Any) -> Self:
        further = None if self.further is None else self.further[:, used]
        return super()._select(used, positions=self.positions[used], further=further, **changes)

    def _make_table(self) -> Table:
        distance = self.attribute.distance
        parts = zip(self.attribute.taxonomies, self.places, self.scopes, strict=True)
        if self.further is None:
            ((taxonomy, _), row, scope) = next(iter(parts))
            return taxonomy.table(row, distance=distance, scope=scope)
        total = np.zeros((len(self.categories),) * 2)
        weights = np.zeros_like(total)
        for (taxonomy, weight), row, scope in parts:
            known = np.flatnonzero(row >= 0)
            block = np.ix_(known, known)
            total[block] += weight * taxonomy.table(row[known], distance=distance, scope=scope)
            weights[block] += weight
        table = np.divide(total, weights, out=np.full_like(total, np.nan), where=weights > 0)
        table[weights == 0] = np.nanmax(table, initial=0.0)
        return table


#: One coded column of a table. There are no others: what is not continuous is categorical.
Column = ContinuousColumn | CategoricalColumn


def sort_places(places: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """The order of concepts by position in the first taxonomy, then the next; unknown ones (-1) last."""
    keys = np.where(places < 0, np.iinfo(np.int32).max, places)
    return np.lexsort(keys[::-1])
