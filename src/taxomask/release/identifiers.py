"""Whether identifiers shine through a table that is about to be released."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ..errors import DataError
from ..methods import Check
from ..microdata import Microdata
from ..microdata.distinct import Distinct
from ..microdata.frames import Frame

__all__ = ["identifier_checks"]

FEW = 10  # distinct values up to which a column may go with an identifier by chance


def identifier_checks(original: Microdata, released: Frame, untouched: Collection[str]) -> tuple[Check, ...]:
    """No identifier is released: not its column, not under another name, not its values elsewhere.

    ``untouched`` are the columns that a method left as they are. A column of measurements (numbers with fractions) may
    well have another value for every person, and is not taken for a recoded identifier.
    """
    identifiers = original.schema.identifiers
    leaked = [name for name in released.names if name in identifiers]
    known = [name for name in identifiers if _more_than(original.frame, name, FEW)]
    recoded = list(_recodings(original.frame, known, untouched))
    strays = list(_strays(original, released, known))
    return (
        Check("no identifier is released", not leaked, ", ".join(leaked) or "none found"),
        Check("no column is an identifier under another name", not recoded, "; ".join(recoded) or "none found"),
        Check("no value of an identifier turns up in another column", not strays, "; ".join(strays) or "none found"),
    )


def _more_than(frame: Frame, name: str, count: int) -> bool:
    """Whether a column has more than so many different values; as few rows are looked at as it takes."""
    array = frame.arrow(name)
    if array is None:
        return any(int(np.count_nonzero(values.counts)) > count for values in _distinct(frame, name))
    rows = count + 1
    while True:
        try:
            found = Distinct.from_arrow(array[:rows])
        except (TypeError, NotImplementedError):  # lists and the like; what pyarrow raises is one of them
            return False
        if int(np.count_nonzero(found.counts)) > count:
            return True
        if rows >= len(array):
            return False
        rows *= 8


def _distinct(frame: Frame, *names: str) -> Iterator[Distinct]:
    """The distinct values of columns that have such: not lists and the like."""
    for name in names:
        try:
            yield frame.distinct(name)
        except DataError:
            continue


def _recodings(frame: Frame, known: Collection[str], untouched: Collection[str]) -> Iterator[str]:
    for name in untouched if known else ():
        for values in _distinct(frame, name):
            size = int(np.count_nonzero(values.counts))
            if size <= FEW or values.fractions:
                continue
            for identifier in known:
                if not _more_than(frame, identifier, size) and _one_to_one(next(_distinct(frame, identifier)), values):
                    yield f"{name} goes one to one with {identifier}"


def _one_to_one(a: Distinct, b: Distinct) -> bool:
    size = int(np.count_nonzero(a.counts))
    if size != int(np.count_nonzero(b.counts)):
        return False
    pairs = np.unique(a.codes.astype(np.int64) * (b.size + 1) + b.codes)
    return len(pairs) == size + int(bool((a.codes < 0).any()))


def _strays(original: Microdata, released: Frame, known: Collection[str]) -> Iterator[str]:
    import pyarrow.compute as pc

    identifiers = [name for name in known if _may_hold_text(original.frame, name)]
    columns = [name for name in released.names if name in original.schema and name not in original.schema.identifiers]
    for name in columns if identifiers else ():
        if not _may_hold_text(released, name):
            continue
        for values in _distinct(released, name):
            new = values.texts()
            for before in _distinct(original.frame, name):
                new = new.filter(pc.invert(pc.is_in(new, before.texts())))
            for identifier in identifiers if len(new) else ():
                ids = next(_distinct(original.frame, identifier)).texts()
                count = pc.sum(pc.is_in(new, ids)).as_py() or 0
                if count:
                    yield f"{count:,} of {identifier} in {name}"


def _may_hold_text(frame: Frame, name: str) -> bool:
    import pyarrow.types as types

    kind = frame.arrow_type(name)
    kind = kind.value_type if kind is not None and types.is_dictionary(kind) else kind
    return kind is None or not (types.is_primitive(kind) or types.is_temporal(kind))
