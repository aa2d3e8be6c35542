"""Values of a long table by a number each, and some of them with all their records.

A value that is kept is kept in every record: which are is decided by its number, not by a draw of records. So values
that stand once, or in many records, are told apart as in the whole table, and what is found in chunks can be added up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata.distinct import Distinct

__all__ = ["Kept", "Numbers", "joined", "mixed", "numbers_of", "text_numbers"]

Numbers = NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ALL = 2.0**64
_LONG = 256  # bytes of a text


@dataclass(frozen=True, eq=False)
class Kept:
    """Values whose number is below a share of all numbers, with how many records have each."""

    values: Numbers
    counts: NDArray[np.int64]
    share: float

    @classmethod
    def of(cls, numbers: Numbers, share: float) -> Kept:
        """Of the numbers of some records."""
        if share < 1:
            numbers = numbers[numbers < np.uint64(int(share * _ALL))]
        values, counts = np.unique(numbers, return_counts=True)
        return cls(values, counts, share)

    def with_(self, other: Kept) -> Kept:
        """Those of both."""
        values, inverse = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.bincount(inverse, weights=np.concatenate([self.counts, other.counts]), minlength=len(values))
        return Kept(values, counts.astype(np.int64), self.share)

    def thinned(self, share: float) -> Kept:
        """A smaller share of them."""
        few = self.values < np.uint64(int(share * _ALL))
        return Kept(self.values[few], self.counts[few], share)

    @property
    def size(self) -> float:
        """About how many values there are; exactly, where all are kept."""
        return len(self.values) / self.share

    @property
    def records(self) -> int:
        """How many records have the values that are kept."""
        return int(self.counts.sum())

    @property
    def alone(self) -> float:
        """About how many records have a value that no other one has."""
        return int((self.counts == 1).sum()) / self.share


def numbers_of(distinct: Distinct, values: Any, empty: NDArray[np.bool_]) -> Numbers:
    """The number of the value of each record; 0 where there is none.

    ``values`` are the different ones as pyarrow or as a list, and some of them are ``empty``.
    """
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(values, list):
        found = text_numbers(pa.array(distinct.spellings, pa.large_string()))
    elif types.is_integer(values.type):
        found = mixed(values.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False).view(np.uint64))
    elif types.is_floating(values.type):
        plain = values.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0  # one zero
        found = mixed(plain.view(np.uint64))
    elif types.is_string(values.type) or types.is_large_string(values.type):
        found = text_numbers(values.cast(pa.large_string()))
    else:
        found = text_numbers(pa.array(distinct.spellings, pa.large_string()))
    found = np.where(empty, np.uint64(0), np.maximum(found, np.uint64(1)))
    return np.append(found, np.uint64(0))[distinct.codes]


def joined(first: Numbers, second: Numbers) -> Numbers:
    """The number of each combination of two values."""
    return mixed(first * _ODD + second)


def text_numbers(texts: Any) -> Numbers:
    """A number for each of some texts; of a text that is null, that of an empty one.

    It is a polynomial of the bytes, made even by mixing its bits; of long texts a hash.
    """
    import pyarrow as pa

    texts = texts.fill_null("") if texts.null_count else texts
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    n = len(texts)
    if not n:
        return np.empty(0, dtype=np.uint64)
    _, offsets, content = texts.buffers()
    edges = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + n + 1]
    lengths = np.diff(edges)
    found = lengths.astype(np.uint64)
    data = np.frombuffer(content, dtype=np.uint8) if content is not None else np.empty(0, np.uint8)
    for place in np.flatnonzero(lengths > _LONG).tolist():
        digest = hashlib.blake2b(data[edges[place] : edges[place + 1]].tobytes(), digest_size=8).digest()
        found[place] = np.uint64(int.from_bytes(digest, "little"))
    start, left = edges[:-1], np.flatnonzero((lengths > 0) & (lengths <= _LONG))
    for place in range(int(lengths[left].max(initial=0))):  # the n-th byte of all texts that have as many
        found[left] = found[left] * _ODD + (data[start[left] + place].astype(np.uint64) + np.uint64(1))
        left = left[lengths[left] > place + 1]
    return mixed(found)


def mixed(numbers: Numbers) -> Numbers:
    """Numbers with their bits mixed, different for different ones (the finaliser of SplitMix64)."""
    found = numbers + _ODD
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))
