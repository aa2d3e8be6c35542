"""Words inside of texts: whether those of a text tell what is protected, which no other text need repeat.

"67 y, hypertension, no change" stands in one record only, so that no other record tells anything about it as a whole.
But "hypertension" stands in many. Of each text the word is taken that tells most, and whether it does is learned on the
other half of the records, so that a word cannot seem to tell what it merely stood beside. How well these words tell is
then measured as for any column, on the texts that have such a word: a tenth of the records at least.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .telling import ENOUGH, View

__all__ = ["Words", "telling_words", "words_of"]

LEAST = 3  # records of a half in which a word stands
SHARE = 0.1  # of the records that must have a word that tells
STEPS = 4  # of a scale, of which a word tells one
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Words:
    """The words of texts: the record and the number of each, ordered by records; words that stand in few are left out.

    ``looked`` are the records that were looked at, of ``n``.
    """

    records: NDArray[np.int64]
    numbers: NDArray[np.int64]
    looked: NDArray[np.int64]
    n: int


def words_of(texts: Sequence[str | None], looked: NDArray[np.int64], n: int) -> Words | None:
    """The words of the texts in some of n records; None if hardly any repeats."""
    number: dict[str, int] = {}
    records, numbers = [], []
    for record, text in zip(looked.tolist(), texts, strict=True):
        for word in dict.fromkeys(_WORD.findall(text.lower())) if text else ():
            records.append(record)
            numbers.append(number.setdefault(word, len(number)))
    found, which = np.array(numbers, dtype=np.int64), np.array(records, dtype=np.int64)
    often = np.bincount(found, minlength=1)[found] >= 2 * LEAST
    return Words(which[often], found[often], looked, n) if often.any() else None


def telling_words(words: Words, view: View) -> NDArray[np.int32] | None:
    """The word of each record that tells most about a view (-1: none does); None if few have any.

    >>> texts = [f"seen {n}, {('female', 'male')[n % 2]}" for n in range(40)]
    >>> words = words_of(texts, np.arange(40), 40)
    >>> telling_words(words, View(np.arange(40, dtype=np.int32) % 2))[:4]
    array([2, 4, 2, 4], dtype=int32)
    """
    values = view.codes.astype(np.int64)
    if view.places is not None:
        values = np.append((view.places * STEPS).astype(np.int64), -1)[values]
    of_record = values[words.records]
    known = of_record >= 0
    records, numbers, of_record = words.records[known], words.numbers[known], of_record[known]
    odd = _halves(words)[records]
    found = np.full(words.n, -1, dtype=np.int32)
    for half in (False, True):
        learned, asked = odd != half, odd == half
        tells = _tells(numbers[learned], of_record[learned], int(words.numbers.max()) + 1)
        gain, best = tells[numbers[asked]], numbers[asked]
        order = np.lexsort((best, -gain, records[asked]))
        first, places = np.unique(records[asked][order], return_index=True)
        sure = gain[order][places] >= ENOUGH
        found[first[sure]] = best[order][places][sure]
    return found if int((found >= 0).sum()) >= SHARE * len(words.looked) else None


def _halves(words: Words) -> NDArray[np.bool_]:
    """In which half each record is: pairs of neighbours take turns, so that alternate records do not."""
    odd = np.zeros(words.n, dtype=bool)
    odd[words.looked] = np.arange(len(words.looked)) // 2 % 2 == 1
    return odd


def _tells(numbers: NDArray[np.int64], values: NDArray[np.int64], words: int) -> NDArray[np.float64]:
    """Of what is not known without a word, the share that it tells: how much more often its commonest value stands
    beside it than the commonest value of all does; below 0 for words that stand in few records."""
    tells = np.full(words, -1.0)
    if not len(numbers):
        return tells
    size = int(values.max()) + 1
    keys, counts = np.unique(numbers * size + values, return_counts=True)
    starts = np.flatnonzero(np.diff(keys // size, prepend=-1))
    total, most = np.add.reduceat(counts, starts), np.maximum.reduceat(counts, starts)
    blind = np.bincount(values).max() / len(values)
    often = total >= LEAST
    share = (most / total - blind) / max(1 - blind, 1e-9)
    tells[(keys // size)[starts[often]]] = share[often]
    return tells
