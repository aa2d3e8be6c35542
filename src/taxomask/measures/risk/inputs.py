"""What measures of risk look at: attributes, classes of records, and whether there is anything to measure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, SchemaError, did_you_mean
from ...microdata import Column, Microdata
from ...microdata.alike import alike
from ...microdata.combinations import numbered

__all__ = ["check_linked", "check_records", "chosen", "class_numbers", "in_one_numbering"]


def chosen(original: Microdata, released: Microdata, attributes: Iterable[str] | None) -> tuple[str, ...]:
    """The attributes to look at: those named, or all quasi-identifiers."""
    names = original.schema.quasi_identifiers if attributes is None else tuple(attributes)
    if not names:
        raise SchemaError(
            "the table has no quasi-identifiers to look at.",
            hint="Give columns that role; or name attributes=[…].",
        )
    for name in names:
        for data, which in ((original, "original"), (released, "released")):
            if name not in data.columns:
                raise SchemaError(
                    f"the {which} table has no coded column {name!r}.", hint=did_you_mean(name, data.columns)
                )
    return names


def in_one_numbering(*columns: Column) -> list[Column]:
    """Several versions of a column with the categories of all of them; distances stay those of the first."""
    wide = columns[0]
    for column in columns[1:]:
        wide = alike(wide, column)[0]
    return [alike(wide, column)[1] for column in columns]


def check_records(data: Microdata, which: str) -> None:
    """There must be something to measure."""
    if not data.n:
        raise DataError(f"the {which} table has no records.", hint="Give a table with at least one record.")


def check_linked(original: Microdata, released: Microdata, what: str) -> None:
    """Record i of the one table must belong to record i of the other."""
    check_records(original, "original")
    if original.n != released.n:
        raise DataError(
            f"{what} compares records one by one, but there are {original.n:,} original and {released.n:,} released "
            "records.",
            hint="It cannot be measured where records are not linked (synthetic data); use inference() with a control "
            "sample. If some records were left out of the release, give original.take(rows).",
        )


def class_numbers(columns: Iterable[Column]) -> NDArray[np.int64]:
    """The class of each record: the same number for records with the same values, missing ones included."""
    columns = list(columns)
    return numbered((column.numbered()[0] for column in columns), len(columns[0]))[0]
