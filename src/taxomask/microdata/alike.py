"""Two versions of a column, before and after masking, in one numbering of the categories."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .columns import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn

__all__ = ["alike", "places_of_both"]


@overload
def alike(original: TaxonomicColumn, released: Column) -> tuple[TaxonomicColumn, TaxonomicColumn]: ...
@overload
def alike(original: CategoricalColumn, released: Column) -> tuple[CategoricalColumn, CategoricalColumn]: ...
@overload
def alike(
    original: Column, released: Column
) -> tuple[ContinuousColumn, ContinuousColumn] | tuple[CategoricalColumn, CategoricalColumn]: ...
def alike(original: Column, released: Column) -> tuple[Column, Column]:
    """Both columns with the categories of both, so that equal codes mean equal categories.

    Distances stay those of the original attribute: in τ(X) of the original values.
    """
    if isinstance(original, ContinuousColumn) and isinstance(released, ContinuousColumn):
        return original, released
    if isinstance(original, ContinuousColumn) or isinstance(released, ContinuousColumn):
        was, now = ("numbers", "categories") if isinstance(original, ContinuousColumn) else ("categories", "numbers")
        raise DataError(
            f"column {original.attribute.name!r}: {was} were masked as {now}, which cannot be compared.",
            hint="Leave the column out: name attributes=[…] without it.",
        )
    if original.categories == released.categories:
        return original, original.with_codes(released.codes)
    wide = _including(original, released)
    numbers = {key: number for number, key in enumerate(_keys(wide))}
    recode = np.array([*(numbers[key] for key in _keys(released)), -1], dtype=np.int32)
    return wide, wide.with_codes(recode[released.codes])


def places_of_both(first: Column, second: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of each value in the common order of two columns that are alike: equal values have the same one.

    Missing ones come last, and have the same.
    """
    both = np.unique(np.concatenate([first.numbers(), second.numbers()]), return_inverse=True)[1]
    places = both.astype(np.int64, copy=False)
    return places[: len(first)], places[len(first) :]


def _including(original: CategoricalColumn, released: CategoricalColumn) -> CategoricalColumn:
    """The original with the further categories of the released column."""
    if isinstance(original, TaxonomicColumn) and isinstance(released, TaxonomicColumn):
        known = released.positions[released.positions >= 0]
        return original if np.isin(known, original.positions).all() else original.including(known)
    seen = set(original.categories)
    return replace(
        original, categories=(*original.categories, *(one for one in released.categories if one not in seen))
    )


def _keys(column: CategoricalColumn) -> list[object]:
    """What identifies each category: its concept, or the value itself."""
    if not isinstance(column, TaxonomicColumn):
        return list(column.categories)
    pairs = zip(column.positions.tolist(), column.categories, strict=True)
    return [("concept", position) if position >= 0 else category for position, category in pairs]
