"""Whether identifiers shine through a table that is about to be released."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from .errors import DataError
from .methods import Check
from .microdata import Microdata
from .microdata.distinct import Distinct
from .microdata.frames import Frame

__all__ = ["identifier_checks"]

FEW = 10  # distinct values up to which a column may go with an identifier by chance


def identifier_checks(original: Microdata, released: Frame, untouched: Collection[str]) -> tuple[Check, ...]:
    """No identifier is released: not its column, not under another name, not its values elsewhere.

    ``untouched`` are the columns that a method left as they are. A column of measurements (numbers with fractions) may
    well have another value for every person, and is not taken for a recoded identifier.
    """
    identifiers = original.schema.identifiers
    leaked = [name for name in released.names if name in identifiers]
    known = {name: values for name, values in _columns(original.frame, identifiers) if values.size > FEW}
    recoded = list(_recodings(original, known, untouched))
    strays = list(_strays(original, released, known))
    return (
        Check("no identifier is released", not leaked, ", ".join(leaked) or "none found"),
        Check("no column is an identifier under another name", not recoded, "; ".join(recoded) or "none found"),
        Check("no value of an identifier turns up in another column", not strays, "; ".join(strays) or "none found"),
    )


def _columns(frame: Frame, names: Collection[str]) -> Iterator[tuple[str, Distinct]]:
    for name in names:
        try:
            yield name, frame.distinct(name)
        except DataError:  # lists and the like
            continue


def _recodings(original: Microdata, known: dict[str, Distinct], untouched: Collection[str]) -> Iterator[str]:
    for name, values in _columns(original.frame, untouched if known else ()):
        if values.fractions:
            continue
        for identifier, ids in known.items():
            if _one_to_one(ids, values):
                yield f"{name} goes one to one with {identifier}"


def _one_to_one(a: Distinct, b: Distinct) -> bool:
    size = int(np.count_nonzero(a.counts))
    if size != int(np.count_nonzero(b.counts)):
        return False
    pairs = np.unique(a.codes.astype(np.int64) * (b.size + 1) + b.codes)
    return len(pairs) == size + int(bool((a.codes < 0).any()))


def _strays(original: Microdata, released: Frame, known: dict[str, Distinct]) -> Iterator[str]:
    import pyarrow.compute as pc

    texts = {name: ids.texts() for name, ids in known.items()}
    if not any(len(values) for values in texts.values()):
        return
    names = [name for name in released.names if name in original.schema and name not in original.schema.identifiers]
    for name, values in _columns(released, names):
        new = values.texts()
        for _, before in _columns(original.frame, [name]):
            new = new.filter(pc.invert(pc.is_in(new, before.texts())))
        for identifier, ids in texts.items():
            count = pc.sum(pc.is_in(new, ids)).as_py() or 0
            if count:
                yield f"{count:,} of {identifier} in {name}"
