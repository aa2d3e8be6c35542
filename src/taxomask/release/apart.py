"""Numbers with decimals that stand together in a text or a structure: where somebody lives, two measurements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["numbers_apart"]

Array = Any  # pyarrow.Array

_MOST = 3  # numbers of a text
_LOOK = 100  # texts that are looked at first
_OF_TEXTS = 0.9  # that must have so many
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}\.\d{1,15}(?![\w.])")


def numbers_apart(texts: Array) -> list[NDArray[np.float64]]:
    """The first numbers with decimals of each text, if most have two or more; NaN where there is none.

    >>> import pyarrow as pa
    >>> [one.tolist() for one in numbers_apart(pa.array(["POINT(8.54 47.37)", "POINT(7.45 46.95)"]))]
    [[8.54, 7.45], [47.37, 46.95]]
    >>> numbers_apart(pa.array(["1.5 mg", "2.5 mg"])), numbers_apart(pa.array(["on 3.4.2018 and 5.4.2018"]))
    ([], [])
    """
    first = [_NUMBER.findall(text) for text in texts[:_LOOK].to_pylist() if text]
    several = int(np.quantile([len(one) for one in first], 1 - _OF_TEXTS)) if first else 0
    if several < 2:
        return []
    found = np.full((min(several, _MOST), len(texts)), np.nan)
    for place, text in enumerate(texts.to_pylist()):
        for which, number in enumerate(_NUMBER.findall(text or "")[:_MOST]):
            if which < len(found):
                found[which, place] = float(number)
    return list(found)
