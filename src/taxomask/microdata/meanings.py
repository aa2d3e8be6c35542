"""Categories that are spelled in several ways, taken as one: what a value says, not how it is written."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np

from .._support.spelling import spell
from .columns import CategoricalColumn, Column, TaxonomicColumn

__all__ = ["by_meaning", "meaning"]


def meaning(value: object) -> str:
    """The text of a value without case, outer spaces and Unicode form (NFKC): the same for all its spellings.

    >>> {meaning(value) for value in ("hiv", "HIV", " Hiv ", "ＨＩＶ")}
    {'hiv'}
    """
    text = spell(value)
    if text.isascii():
        return text.strip().lower()
    # Decomposed before each change of case, and by way of capitals: so that all cases of every letter meet.
    capitals = unicodedata.normalize("NFKD", text).upper()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", capitals).casefold()).strip()


def by_meaning(column: Column) -> Column:
    """The column with one category for each meaning: of plain and ordered categories; others stay as they are.

    An ordered category takes the first place that one of its spellings has on the scale. What is spelled like a marker
    of missing values is missing. The result depends on the categories only, not on which of them occur.
    """
    if not isinstance(column, CategoricalColumn) or isinstance(column, TaxonomicColumn):
        return column
    absent = {meaning(marker) for marker in column.attribute.missing}
    meanings = [meaning(category) for category in column.categories]
    first: dict[str, object] = {}
    for one, category in zip(meanings, column.categories, strict=True):
        if one not in absent:
            first.setdefault(one, category)
    if len(first) == len(meanings):
        return column
    places = {one: place for place, one in enumerate(first)}
    recode = np.array([*(places.get(one, -1) for one in meanings), -1], dtype=np.int32)
    return replace(column, codes=recode[column.codes], categories=tuple(first.values()))
