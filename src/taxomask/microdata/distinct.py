"""A column as its distinct values and a number per row: the form in which all coding is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import is_nan, spell

__all__ = ["Distinct", "Frequent", "encode"]


class Distinct:
    """Distinct values as they stand in the data, and for each row the number of its value (-1: no value).

    Some values may not occur at all (unused categories) or occur twice (in a badly made dictionary). Values that came
    from pyarrow become Python objects when they are looked at, not before: there may be one for every row.
    """

    def __init__(self, codes: NDArray[np.int32], values: Any) -> None:
        self.codes = codes
        self._values = values  # a list, or a pyarrow array

    @classmethod
    def from_arrow(cls, array: Any) -> Distinct:
        """From a pyarrow array, chunked or not."""
        codes, dictionary = encode(array)
        empty = dictionary.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        if not empty.any():
            return cls(codes, dictionary)
        return cls(_without(codes, empty), dictionary.filter(~empty))

    @classmethod
    def from_objects(cls, objects: Iterable[Any]) -> Distinct:
        """From Python objects of any types; 1, 1.0, True and "1" stay apart."""
        numbers: dict[tuple[type, Any], int] = {}
        codes = [numbers.setdefault((type(value), value), len(numbers)) for value in objects]
        return cls.without_nulls(np.array(codes, dtype=np.int32), [value for _, value in numbers])

    @classmethod
    def without_nulls(cls, codes: NDArray[Any], values: list[Any]) -> Distinct:
        """With None, NaN and the like among the values turned into "no value"."""
        codes = np.asarray(codes, dtype=np.int32)
        empty = np.array([value is None or is_nan(value) for value in values], dtype=np.bool_)
        if not empty.any():
            return cls(codes, values)
        return cls(_without(codes, empty), [value for value, no in zip(values, empty, strict=True) if not no])

    @cached_property
    def values(self) -> list[Any]:
        """The distinct values."""
        return self._values if isinstance(self._values, list) else self._values.to_pylist()

    def some(self, places: list[int]) -> list[Any]:
        """Some of the values."""
        import pyarrow as pa

        if isinstance(self._values, list):
            return [self._values[place] for place in places]
        return list(self._values.take(pa.array(places, pa.int64())).to_pylist())

    def used(self) -> Distinct:
        """The same rows without the values that do not occur."""
        there = np.flatnonzero(self.counts)
        if len(there) == self.size:
            return self
        place = np.full(self.size + 1, -1, dtype=np.int32)
        place[there] = np.arange(len(there), dtype=np.int32)
        return Distinct(place[self.codes], [self.values[i] for i in there.tolist()])

    @cached_property
    def empty(self) -> int:
        """How many rows have no value."""
        return int((self.codes < 0).sum())

    def outline(self, first: int = 0) -> Distinct:
        """The values without the rows, but for how often each occurs and where first; rows begin at ``first``.

        Its only rows are one for each value, in their order.
        """
        return self._outlined(self._values, self.counts, self.first_rows + first, self.empty)

    @classmethod
    def _outlined(cls, values: Any, counts: NDArray[np.int64], first: NDArray[np.int64], empty: int) -> Distinct:
        found = cls(np.arange(len(values), dtype=np.int32), values)
        vars(found).update(counts=counts, first_rows=first, empty=empty)
        return found

    @classmethod
    def together(cls, outlines: Sequence[Distinct]) -> tuple[Distinct, list[NDArray[np.int64]]]:
        """The outline of all parts of a column of pyarrow, and the numbers in it of the values of each part.

        Values are numbered in the order in which they are first met.
        """
        import pyarrow as pa

        sizes = [one.size for one in outlines]
        met = pa.concat_arrays([one._values for one in outlines]).dictionary_encode()
        number = met.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        counts = np.zeros(len(met.dictionary), dtype=np.int64)
        first = np.full(len(met.dictionary), np.iinfo(np.int64).max)
        np.add.at(counts, number, np.concatenate([one.counts for one in outlines]))
        np.minimum.at(first, number, np.concatenate([one.first_rows for one in outlines]))
        whole = cls._outlined(met.dictionary, counts, first, sum(one.empty for one in outlines))
        return whole, np.split(number, np.cumsum(sizes)[:-1])

    @property
    def size(self) -> int:
        """How many values there are, also those that do not occur."""
        return len(self._values)

    @property
    def fractions(self) -> bool:
        """Whether some values are numbers with a fraction."""
        import pyarrow.types as types

        if isinstance(self._values, list):
            return any(isinstance(value, float) and not value.is_integer() for value in self._values)
        if not types.is_floating(self._values.type):
            return False
        numbers = self._values.to_numpy(zero_copy_only=False)
        return bool((numbers != np.floor(numbers)).any())

    def texts(self) -> Any:
        """The values that are text, as pyarrow."""
        import pyarrow as pa
        import pyarrow.types as types

        if isinstance(self._values, list):
            return pa.array([value for value in self._values if isinstance(value, str)], pa.large_string())
        kind = self._values.type
        text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        return self._values.cast(pa.large_string()) if text else pa.array([], pa.large_string())

    def spelled(self) -> Any:
        """The values as text, as pyarrow: `spellings`, without a Python object for each where that can be."""
        import pyarrow as pa
        import pyarrow.types as types

        if not isinstance(self._values, list):
            if types.is_integer(self._values.type):
                return self._values.cast(pa.large_string())
            if len(texts := self.texts()) == self.size:
                return texts
        return pa.array(self.spellings, pa.large_string())

    @cached_property
    def spellings(self) -> list[str]:
        """The values as text."""
        return [spell(value) for value in self.values]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.codes + 1, minlength=self.size + 1)[1:].astype(np.int64, copy=False)

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The row in which each value occurs first; the number of rows where it does not."""
        first = np.full(self.size + 1, len(self.codes), dtype=np.int64)
        first[self.codes[::-1]] = np.arange(len(self.codes))[::-1]  # of equal codes the last one written stays
        return first[:-1]


@dataclass(frozen=True, eq=False)
class Frequent:
    """The most frequent values of a column with their counts, for a first look."""

    values: list[Any]
    counts: NDArray[np.int64]
    rows: int
    distinct: int

    @classmethod
    def from_arrow(cls, array: Any, limit: int) -> Frequent:
        """From a pyarrow array; no more than ``limit`` values become Python objects."""
        codes, dictionary = encode(array)
        if len(dictionary) <= limit:
            return cls.from_distinct(Distinct.from_arrow(array), limit)
        counts = np.bincount(codes + 1, minlength=len(dictionary) + 1)
        top = np.sort(np.argsort(-counts[1:], kind="stable")[:limit])
        pairs = zip(dictionary.take(top).to_pylist(), counts[1:][top].tolist(), strict=True)
        looked = [(value, count) for value, count in pairs if value is not None and not is_nan(value)]
        nulls = limit - len(looked)
        return cls(
            [value for value, _ in looked],
            np.array([count for _, count in looked], dtype=np.int64),
            len(codes),
            len(dictionary) - nulls,
        )

    @classmethod
    def from_distinct(cls, distinct: Distinct, limit: int, rows: int | None = None) -> Frequent:
        """From distinct values, or an outline of so many rows; those that do not occur are left out."""
        used = np.flatnonzero(distinct.counts)
        top = np.sort(used[np.argsort(-distinct.counts[used], kind="stable")[:limit]])
        rows = len(distinct.codes) if rows is None else rows
        return cls(distinct.some(top.tolist()), distinct.counts[top], rows, len(used))

    @property
    def complete(self) -> bool:
        """Whether these are all the values that occur."""
        return len(self.values) == self.distinct

    @cached_property
    def spellings(self) -> list[str]:
        """The values as text."""
        return [spell(value) for value in self.values]


def _without(codes: NDArray[np.int32], empty: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Codes after some of the values were taken out."""
    recode = np.full(len(empty) + 1, -1, dtype=np.int32)
    recode[np.flatnonzero(~empty)] = np.arange(int((~empty).sum()), dtype=np.int32)
    return recode[codes]


def encode(array: Any) -> tuple[NDArray[np.int32], Any]:
    """The codes of an array (-1: no value) and its dictionary."""
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    is_coded = types.is_dictionary(chunked.type)
    chunked = chunked.unify_dictionaries() if is_coded else chunked.dictionary_encode()  # one dictionary for all chunks
    if chunked.num_chunks == 0:
        return np.empty(0, np.int32), pa.array([], chunked.type.value_type)
    indices = pa.chunked_array([chunk.indices for chunk in chunked.chunks]).combine_chunks()
    codes = indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, chunked.chunk(0).dictionary
