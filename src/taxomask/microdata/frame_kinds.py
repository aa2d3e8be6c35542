"""What differs between kinds of tables: one small class each for pyarrow, polars and pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import is_nan
from .casting import Values, fit, take
from .distinct import Distinct
from .hidden import without_hidden

__all__ = ["ArrowKind", "FrameKind", "LazyKind", "PandasKind", "PolarsKind", "Rows"]

Rows: TypeAlias = NDArray[np.integer[Any]]
DataType: TypeAlias = Any  # pyarrow.DataType
Replaced: TypeAlias = Mapping[str, tuple[Values, DataType | None]]  # new values, and the type that they had


class FrameKind(ABC):
    """A native table, its columns read one by one and put back one by one."""

    typed = False  # whether the type of a column can be told without its rows
    may_hold_objects = False  # such that pyarrow has no type for them

    def __init__(self, native: Any) -> None:
        self.native = native

    @abstractmethod
    def arrow(self, name: str) -> Any:
        """A column as pyarrow."""

    def objects(self, name: str) -> list[Any]:
        """A column as Python objects, for what pyarrow has no type for."""
        return list(self.arrow(name).to_pylist())

    def coded(self, name: str) -> Distinct | None:
        """A column that is held as codes and categories already, where pyarrow might lose some of them."""
        return None

    @abstractmethod
    def scale(self, name: str) -> tuple[object, ...] | None:
        """The categories in order, if the type of the column says that they are ordered."""

    def part(self, start: int, stop: int) -> FrameKind:
        """Some rows that follow each other."""
        return type(self)(self.native[start:stop])

    @abstractmethod
    def rebuild(self, kept: list[str], rows: Rows | None, replaced: Replaced) -> Any:
        """The table with these columns and rows only, some columns replaced."""


class ArrowKind(FrameKind):
    def arrow(self, name: str) -> Any:
        return self.native.column(name)

    def scale(self, name: str) -> tuple[object, ...] | None:
        column = self.native.column(name)
        return tuple(_dictionary(column)) if getattr(column.type, "ordered", False) else None

    def rebuild(self, kept: list[str], rows: Rows | None, replaced: Replaced) -> Any:
        import pyarrow as pa

        fields, columns = [], []
        for name in kept:
            field, column = self.native.schema.field(name).remove_metadata(), self.native.column(name)
            if name in replaced:
                column = restore(column, *replaced[name])
                field = field.with_nullable(field.nullable or column.null_count > 0)
            elif rows is not None:
                column = take(column, pa.array(rows))
            columns.append(without_hidden(only_used(column)))
            fields.append(field.with_type(columns[-1].type))
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))


class LazyKind(FrameKind):
    """A table whose columns are read when they are asked for: ``read`` makes a pyarrow table of rows of one of them."""

    def __init__(self, read: Callable[[str, range], Any], rows: range, typed: bool) -> None:
        super().__init__(None)
        self._read_rows, self._rows, self.typed = read, rows, typed

    def _read(self, name: str) -> Any:
        return self._read_rows(name, self._rows)

    def arrow(self, name: str) -> Any:
        return self._read(name).column(0)

    def scale(self, name: str) -> tuple[object, ...] | None:
        return ArrowKind(self._read(name)).scale(name)

    def part(self, start: int, stop: int) -> LazyKind:
        rows = self._rows[start:stop]
        read = self._read_rows.part(rows) if hasattr(self._read_rows, "part") else self._read_rows
        return LazyKind(read, rows, self.typed)

    def rebuild(self, kept: list[str], rows: Rows | None, replaced: Replaced) -> Any:
        import pyarrow as pa

        columns = [self._read(name) for name in kept]
        schema = pa.schema([column.schema.field(0) for column in columns])
        table = pa.Table.from_arrays([column.column(0) for column in columns], schema=schema)
        return ArrowKind(table).rebuild(kept, rows, replaced)


class PolarsKind(FrameKind):
    may_hold_objects = True

    def arrow(self, name: str) -> Any:
        import polars as pl

        column = self.native.get_column(name)
        if column.dtype == pl.Object:  # pyarrow would be given their addresses
            raise TypeError("Python objects")
        return column.to_arrow()

    def objects(self, name: str) -> list[Any]:
        return list(self.native.get_column(name).to_list())

    def scale(self, name: str) -> tuple[object, ...] | None:
        import polars as pl

        dtype = self.native.get_column(name).dtype
        return tuple(dtype.categories.to_list()) if isinstance(dtype, pl.Enum) else None

    def rebuild(self, kept: list[str], rows: Rows | None, replaced: Replaced) -> Any:
        import polars as pl

        # Column by column: names such as "*" or "^a$" would mean more than one column to polars.
        columns = {}
        for name in kept:
            column = self.native.get_column(name)
            if name in replaced:
                column = self._restore(column, *replaced[name])
            else:
                column = column if rows is None else column.gather(pl.Series(rows))
                if isinstance(column.dtype, pl.Enum):
                    there = set(column.unique().to_list())
                    column = column.cast(pl.Enum([one for one in column.dtype.categories.to_list() if one in there]))
            columns[name] = column
        return pl.DataFrame(columns)

    def _restore(self, original: Any, values: Values, dtype: DataType | None) -> Any:
        import polars as pl

        name, kind = original.name, original.dtype
        if dtype is None:
            return pl.Series(name, _objects(values, None), dtype=pl.Object)
        if isinstance(kind, pl.Enum) and (coded := _as_distinct(values)) is not None:
            kind = pl.Enum([str(value) for value in recode(coded, kind.categories.to_list()).used().values])
        array = fit(values, dtype)
        column = pl.Series(name, pl.from_arrow(array))
        same = array.type == dtype or (array.type == getattr(dtype, "value_type", None))
        return column.cast(kind) if same else column


class PandasKind(FrameKind):
    may_hold_objects = True

    def arrow(self, name: str) -> Any:
        import pyarrow as pa

        return pa.Array.from_pandas(self.native[name])

    def objects(self, name: str) -> list[Any]:
        return list(self.native[name].tolist())

    def coded(self, name: str) -> Distinct | None:
        column = self.native[name]
        if not _is_categorical(column):
            return None
        return Distinct.without_nulls(column.cat.codes.to_numpy(), column.cat.categories.tolist())

    def part(self, start: int, stop: int) -> PandasKind:
        return PandasKind(self.native.iloc[start:stop])

    def scale(self, name: str) -> tuple[object, ...] | None:
        column = self.native[name]
        if not _is_categorical(column) or not column.cat.ordered:
            return None
        return tuple(column.cat.categories.tolist())

    def rebuild(self, kept: list[str], rows: Rows | None, replaced: Replaced) -> Any:
        import pyarrow as pa

        table = self.native[kept]
        if rows is not None:
            table = table.take(rows)
        table = table.reset_index(drop=True)
        for place, name in enumerate(kept):
            column = table[name]
            if name in replaced:
                table.isetitem(place, self._restore(self.native[name], *replaced[name]))
            elif _is_categorical(column):
                table.isetitem(place, column.cat.remove_unused_categories())
            elif str(column.dtype).startswith("dictionary"):
                table.isetitem(place, _of_arrow(only_used(pa.chunked_array([pa.Array.from_pandas(column)]))))
        table.attrs, table.columns.name = {}, None
        return table

    def _restore(self, original: Any, values: Values, dtype: DataType | None) -> Any:
        import pandas as pd
        import pyarrow as pa

        kind = original.dtype
        if _is_categorical(original) and (coded := _as_distinct(values)) is not None:
            coded = recode(coded, original.cat.categories.tolist()).used()
            kind = pd.CategoricalDtype(pd.Index(coded.values, dtype=object), ordered=original.cat.ordered)
            if coded.values:
                fitting = original.cat.categories[:0].append(pd.Index(coded.values))
                kind = pd.CategoricalDtype(fitting, ordered=original.cat.ordered)
            return pd.Categorical.from_codes(coded.codes, dtype=kind)
        if dtype is None or kind == np.object_:
            objects = _objects(values if dtype is None else fit(values, dtype), original)
            return _of_dtype(objects, kind)
        if isinstance(kind, pd.ArrowDtype):
            return _of_arrow(restore(pa.chunked_array([pa.Array.from_pandas(original)]), values, dtype))
        array = fit(values, dtype)
        if array.type == dtype:
            extension = hasattr(kind, "__from_arrow__")
            return kind.__from_arrow__(array) if extension else array.to_numpy(zero_copy_only=False)
        nullable = isinstance(kind, pd.api.extensions.ExtensionDtype) and not _is_categorical(original)
        if nullable and array.type in _nullable():
            return _nullable()[array.type].__from_arrow__(array)
        return array.to_pandas().array


def restore(original: Any, values: Values, dtype: DataType) -> Any:
    """Values as a pyarrow array of a type; categories stay in the order of the original column's dictionary."""
    import pyarrow as pa

    if not pa.types.is_dictionary(dtype) or (coded := _as_distinct(values)) is None:
        return fit(values, dtype)
    coded = recode(coded, _dictionary(original)).used()
    size = len(coded.values)
    index = dtype.index_type if size <= 2 ** (dtype.index_type.bit_width - 1) else pa.int32()
    indices = pa.array(coded.codes, mask=coded.codes < 0).cast(index)
    dictionary = fit(Distinct(np.arange(size, dtype=np.int32), coded.values), dtype)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=dtype.ordered)


def only_used(column: Any) -> Any:
    """A pyarrow column whose dictionary holds the values of its rows and no others, which would be released as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        flat = _without_dictionaries(column.type)
        return column if flat == column.type else pa.chunked_array([pa.array(column.to_pylist(), flat)])
    column = column.unify_dictionaries() if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not column.num_chunks:
        return pa.chunked_array([], column.type)
    values, codes = column.chunk(0).dictionary, [chunk.indices for chunk in column.chunks]
    used = np.sort(pc.unique(pa.chunked_array(codes)).drop_null().to_numpy())
    if len(used) == len(values):
        return column
    place = np.zeros(len(values), dtype=np.int64)
    place[used] = np.arange(len(used))
    table = pa.array(place).cast(column.type.index_type)
    parts = [
        pa.DictionaryArray.from_arrays(take(table, some), take(values, pa.array(used)), ordered=column.type.ordered)
        for some in codes
    ]
    return pa.chunked_array(parts)


def _without_dictionaries(kind: DataType) -> DataType:
    """A type of lists or structs with plain values where it has dictionaries."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return kind.value_type
    if types.is_struct(kind):
        return pa.struct([one.with_type(_without_dictionaries(one.type)) for one in kind])
    if types.is_map(kind):
        return pa.map_(_without_dictionaries(kind.key_type), _without_dictionaries(kind.item_type))
    for is_one, make in ((types.is_list, pa.list_), (types.is_large_list, pa.large_list)):
        if is_one(kind):
            return make(kind.value_field.with_type(_without_dictionaries(kind.value_type)))
    return kind


def _of_arrow(array: Any) -> Any:
    """A column of pandas that is held by pyarrow."""
    import pandas as pd

    kind: Any = pd.ArrowDtype(array.type)
    return kind.__from_arrow__(array)


def recode(values: Distinct, categories: list[Any]) -> Distinct:
    """The same rows, numbered by other categories; values that these lack are added at their end.

    >>> coded = recode(Distinct.from_objects(["a", None, "c"]), ["b", "a"])
    >>> coded.codes, coded.values
    (array([ 1, -1,  2], dtype=int32), ['b', 'a', 'c'])
    """
    extended = list(categories)
    places = {category: place for place, category in reversed(list(enumerate(categories)))}
    used = values.counts > 0
    table = np.full(len(values.values) + 1, -1, dtype=np.int32)
    for i in np.flatnonzero(used).tolist():
        value = values.values[i]
        if value not in places:
            places[value] = len(extended)
            extended.append(value)
        table[i] = places[value]
    return Distinct(table[values.codes], extended)


def _as_distinct(values: Values) -> Distinct | None:
    """Categories, if the values come as such: numbers are not turned into categories again."""
    import pyarrow as pa

    if isinstance(values, Distinct):
        return values
    if isinstance(values, np.ndarray):
        return Distinct.from_objects(values.tolist()) if values.dtype == object else None
    return None if pa.types.is_floating(values.type) else Distinct.from_arrow(values)


def _objects(values: Values, original: Any) -> NDArray[np.object_]:
    """Python objects, missing ones as the original column writes them."""
    empty = None
    if original is not None and original.hasnans:
        empty = original[original.isna()].iloc[0]
    if isinstance(values, Distinct):
        known = np.empty(len(values.values) + 1, dtype=object)
        known[:-1], known[-1] = values.values, empty
        return known[values.codes]
    listed = values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()
    objects = np.empty(len(listed), dtype=object)
    objects[:] = [empty if value is None or is_nan(value) else value for value in listed]
    return objects


def _of_dtype(objects: NDArray[np.object_], kind: Any) -> Any:
    """Objects in their pandas type, or as they are where it cannot hold them."""
    import pandas as pd

    try:
        return pd.Series(objects, dtype=kind)
    except (TypeError, ValueError):
        return pd.Series(objects, dtype=object)


def _nullable() -> dict[Any, Any]:
    import pandas as pd
    import pyarrow as pa

    return {pa.float64(): pd.Float64Dtype(), pa.int64(): pd.Int64Dtype(), pa.large_string(): pd.StringDtype()}


def _is_categorical(column: Any) -> bool:
    return str(column.dtype) == "category"


def _dictionary(column: Any) -> list[Any]:
    """The dictionary of a chunked dictionary column."""
    column = column.unify_dictionaries()
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []
