"""The columns of a table as they are released, on their way out: decoded, put in order, and put back for checks.

Where an engine works in chunks, no function holds more of a column than that: every chunk is decoded by itself, and its
rows go to their places in the order of the release. Some columns cannot be decoded in parts (`Microdata.in_parts`):
these are decoded as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine, Memory, Pieces
from ..microdata import Microdata
from ..microdata.casting import take, widest
from ..microdata.frames import Frame
from .randomness import generator
from .read_back import BATCH, plain_type, without_empty_text

__all__ = ["Orders", "Released", "batches", "decoded_on", "order_in_chunks", "orders_on", "restored_on", "row_order"]

_FEW = 4  # rows for each different text from which on texts are kept as codes and categories


# --------------------------------------------------------------------------------------- the order of rows


@dataclass(frozen=True, eq=False)
class Orders:
    """The order in which rows are written (row i of the file is record order[i]), and the place of each record."""

    order: NDArray[Any] | None = None
    places: NDArray[Any] | None = None


def order_in_chunks(n: int) -> bool:
    """Whether the order of n rows is drawn chunk by chunk: by a number for each row, by which they are sorted."""
    return n > Engine.chunk


def row_order(draws: str, n: int, *, in_chunks: bool | None = None) -> NDArray[np.int64]:
    """The order in which rows are written: row i of the file is record order[i].

    ``in_chunks`` says whether it was drawn chunk by chunk; by default as it is now.
    """
    if order_in_chunks(n) if in_chunks is None else in_chunks:
        return _order_on(Memory(), draws, n)
    return generator(draws, "rows").permutation(n)


def orders_on(engine: Engine, draws: str, n: int) -> Orders:
    """The order of n rows, wherever they lie."""
    if not engine.in_parts(n):
        return Orders(*engine.run(_orders, draws, n, what="shuffling rows"))
    order = engine.each(_short, [_order_on(engine, draws, n)], n, what="shuffling rows")
    numbers = engine.each(_numbers, [range(n)], n, what="shuffling rows")
    return Orders(order, engine.move(numbers, order, what="shuffling rows"))


def _order_on(engine: Engine, draws: str, n: int) -> NDArray[np.int64]:
    keys = engine.each(_keys, [range(n)], what="shuffling rows", rng=generator(draws, "rows"))
    return engine.order(keys, "shuffling rows")


def _orders(draws: str, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    order = _short(row_order(draws, n), n)
    places = np.empty_like(order)
    places[order] = np.arange(n, dtype=order.dtype)
    return order, places


def _keys(rows: range, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.random(len(rows))


def _short(positions: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Positions among n rows in half the memory, where that can be."""
    return positions.astype(np.int32) if n < 2**31 else positions


def _numbers(rows: range, n: int) -> NDArray[Any]:
    return _short(np.arange(rows.start, rows.stop), n)


# --------------------------------------------------------------------------------------- columns as they will be seen


@dataclass(frozen=True, eq=False)
class Released:
    """A column that is about to be written: what it is, and its values."""

    field: Any
    values: Pieces

    def part(self, start: int, stop: int) -> Released:
        """Some rows that follow each other."""
        return Released(self.field, self.values.part(start, stop))


def decoded_on(engine: Engine, data: Microdata, names: Sequence[str], orders: Orders) -> dict[str, Released]:
    """The columns of a table as they are released, in the order of the release."""
    apart = [name for name in names if engine.in_parts(data.n) and data.in_parts(name)]
    whole = [name for name in names if name not in apart]
    found = engine.map(_decoded, [(data, name, orders.order) for name in whole], "decoding")
    decoded = {name: Released(field, Pieces.of([table])) for name, (field, table) in zip(whole, found, strict=True)}
    decoded |= {name: _decoded_in_parts(engine, data, name, orders) for name in apart}
    return {name: decoded[name] for name in names}


def _decoded_in_parts(engine: Engine, data: Microdata, name: str, orders: Orders) -> Released:
    """A column that is decoded chunk by chunk, all of one type: the widest that one of them needs."""
    parts = [data.part(start, stop, [name]) for start, stop in engine.parts(data.n)]
    items = [(part, name) for part in parts]
    fields, values = engine.rearrange(_decoded, items, orders.places, "decoding", _in_one_type)
    nullable = any(field.nullable for field in fields)
    return Released(fields[0].with_nullable(nullable), values)


def _in_one_type(fields: list[Any]) -> tuple[None, Any] | None:
    """The arguments for `_decoded` if chunks became columns of different types."""
    dtype = widest(field.type for field in fields)
    return None if dtype is None else (None, dtype)


def _decoded(data: Microdata, name: str, order: NDArray[Any] | None = None, dtype: Any = None) -> tuple[Any, Any]:
    """A column as it is released, in the order of the release: what it is, and an Arrow table of it.

    Text comes as codes and categories if these are few: rows change places several times faster.
    """
    import pyarrow as pa

    table = data.to_arrow(name, dtype)
    field, column = table.schema.field(0), table.column(0)
    del table
    if pa.types.is_dictionary(field.type) and data.frame.scale(name) is None:
        column = _levels_in_order(column)
    if pa.types.is_string(plain_type(column.type)) and not pa.types.is_dictionary(column.type):
        coded = column.dictionary_encode()  # one dictionary for all chunks
        few = not coded.num_chunks or len(coded.chunk(0).dictionary) < len(coded) / _FEW
        column = coded if few else column
        del coded
    if order is not None:
        column = take(column, pa.array(order))
    return field, pa.table({name: column})


def _levels_in_order(column: Any) -> Any:
    """Codes and categories, the categories sorted: they often stand as the original rows first had them, whose order is
    not to be told."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.unify_dictionaries()
    if not column.num_chunks:
        return column
    levels, kind = column.chunk(0).dictionary, column.type
    try:
        order = pc.sort_indices(levels)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, TypeError):
        return column
    places = pa.array(np.argsort(order.to_numpy()), kind.index_type)
    codes = [take(places, chunk.indices) for chunk in column.chunks]
    levels = take(levels, order)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(some, levels) for some in codes], kind)


def batches(columns: Sequence[Released]) -> Any:
    """Rows of the released table, as a reader."""
    import pyarrow as pa

    schema = pa.schema([one.field for one in columns])

    def pieces() -> Iterator[Any]:
        for first in range(0, len(columns[0].values) if columns else 0, BATCH):
            some = [one.values.part(first, first + BATCH).column().combine_chunks() for one in columns]
            arrays = [one.cast(field.type) for one, field in zip(some, schema, strict=True)]
            whole = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in arrays]
            yield pa.RecordBatch.from_arrays(whole, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, pieces())


# --------------------------------------------------------------------------------------- and back


def restored_on(
    engine: Engine, columns: dict[str, Released], orders: Orders, n: int, *, empty_text: bool = True
) -> Frame:
    """The columns in the order of the original records: what was found to be the one in the file.

    Each is taken from ``columns``, so that long tables do not lie on disk twice. ``empty_text`` says whether the file
    tells an empty text from no value.
    """
    names = list(columns)
    if orders.order is None or not engine.in_parts(n):
        whole = {name: columns.pop(name).values for name in names}
        return Frame.lazy(names, n, _Restored(whole, orders.places, empty_text))
    values = {}
    for name in names:
        items = [(columns[name].values.part(start, stop),) for start, stop in engine.parts(n)]
        del columns[name]
        values[name] = engine.rearrange(_as_table, items, orders.order, "reading back")[1]
        del items
    return Frame.lazy(names, n, _Restored(values, None, empty_text), typed=True)


def _as_table(pieces: Pieces) -> tuple[None, Any]:
    import pyarrow as pa

    return None, pa.table({pieces.parts[0][0].column_names[0]: pieces.column()})


@dataclass(frozen=True, eq=False)
class _Restored:
    """Reads a released column in the order of the original records; of a part of the table it knows that part only."""

    columns: Mapping[str, Pieces]
    places: NDArray[Any] | None
    empty_text: bool
    first: int = 0  # the row with which the columns begin

    def part(self, rows: range) -> _Restored:
        """What can be read of some rows: a message with it names no other pieces of columns that have thousands."""
        if self.places is not None:
            return self
        start, stop = rows.start - self.first, rows.stop - self.first
        some = {name: pieces.part(start, stop) for name, pieces in self.columns.items()}
        return replace(self, columns=some, first=rows.start)

    def __call__(self, name: str, rows: range) -> Any:
        import pyarrow as pa

        if self.places is None:
            column = self.columns[name].part(rows.start - self.first, rows.stop - self.first).column()
        else:
            column = take(self.columns[name].column(), pa.array(self.places[rows.start : rows.stop]))
        return pa.table({name: column if self.empty_text else without_empty_text(column)})
