"""A column of any type in pieces: Arrow tables of one column, each with some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError
from ..microdata.casting import take

__all__ = ["Pieces", "Sent", "gathered", "send"]

Table: TypeAlias = Any  # pyarrow.Table


@dataclass(frozen=True, eq=False)
class Pieces:
    """Rows of some tables, one after the other: of each table, where they begin and how many they are.

    A table on its way to a function is passed on by its name, so that whoever takes a part copies nothing.

    >>> import pyarrow as pa
    >>> pieces = Pieces.of([pa.table({"a": [1, 2, 3]}), pa.table({"a": [4, 5]})])
    >>> pieces.part(2, 4).column().to_pylist()
    [3, 4]
    """

    parts: tuple[tuple[Table, int, int], ...]

    @classmethod
    def of(cls, tables: Iterable[Table]) -> Pieces:
        """All rows of some tables, at least one."""
        return cls(tuple((table, 0, table.num_rows) for table in tables))

    def __len__(self) -> int:
        return sum(length for _, _, length in self.parts)

    def part(self, start: int, stop: int) -> Pieces:
        """Some rows that follow each other."""
        found, at = [], 0
        for table, first, length in self.parts:
            low, high = max(start - at, 0), min(stop - at, length)
            if low < high:
                found.append((table, first + low, high - low))
            at += length
        return Pieces(tuple(found) or ((self.parts[0][0], 0, 0),))

    def column(self) -> Any:
        """The rows, as a chunked array."""
        import pyarrow as pa
        import pyarrow.types as types

        columns = [table.column(0).slice(first, length) for table, first, length in self.parts]
        if len({one.type for one in columns}) > 1:  # codes and categories only where these were few
            plain = next(one.type for one in columns if not types.is_dictionary(one.type))
            columns = [one.cast(plain) for one in columns]
        chunks = [chunk for one in columns for chunk in one.chunks]
        return pa.chunked_array(chunks, columns[0].type)


@dataclass(frozen=True, eq=False)
class Sent:
    """Rows of a chunk with their places, sorted by the chunk that they go to; ``told`` is what else was found."""

    told: Any
    table: Table
    places: NDArray[Any]
    edges: NDArray[np.int64]

    def to(self, number: int) -> tuple[Pieces, NDArray[Any]]:
        """What goes to one chunk."""
        start, stop = int(self.edges[number]), int(self.edges[number + 1])
        return Pieces(((self.table, start, stop - start),)), self.places[start:stop]


def send(
    function: Callable[..., tuple[Any, Table]], arguments: Sequence[Any], places: NDArray[Any], chunk: int, n: int
) -> Sent:
    """The rows of the table that a function makes, by the chunk that they go to."""
    import pyarrow as pa

    told, table = function(*arguments)
    if table.num_rows != len(places):
        raise EngineError(f"{table.num_rows:,} rows for {len(places):,} places.", hint="Report a bug.")
    count = -(-n // chunk)
    whither = (places // chunk).astype(np.int16 if count < 1 << 15 else np.int64)
    order = np.argsort(whither, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(whither, minlength=count))])
    rows = take(table.column(0), pa.array(order))
    return Sent(told, pa.table({table.column_names[0]: rows}), places[order], edges)


def gathered(sent: Sequence[tuple[Pieces, NDArray[Any]]], start: int, stop: int) -> Table:
    """The rows that go to places from start to stop, each at its place."""
    import pyarrow as pa

    places = np.concatenate([one for _, one in sent]) - start
    order = np.full(stop - start, -1, dtype=np.int64)
    order[places] = np.arange(len(places))
    if len(places) != len(order) or (order < 0).any():
        raise EngineError("two rows have the same place.", hint="Nothing was released. Report a bug.")
    pieces = Pieces(tuple(part for one, _ in sent for part in one.parts))
    column = pieces.column().unify_dictionaries().combine_chunks()
    name = pieces.parts[0][0].column_names[0]
    return pa.table({name: take(column, pa.array(order))})
