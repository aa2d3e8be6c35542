"""What was written, read back from disk and compared with what should be there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._support.spelling import listing
from ..errors import PromiseError
from ..microdata.files import Source, format_of, open_table

__all__ = ["BATCH", "compare", "compare_file", "compare_names", "open_written", "plain_type", "without_empty_text"]

BATCH = 65_536  # rows that are looked at together


def open_written(where: str, name: str, *, text: Sequence[str] = (), escaped: bool = False) -> Source:
    """A file or folder that was written under a temporary name; ``name`` is the one that it will have."""
    opened = partial(open_table, trusted=True) if name.endswith("/") else format_of(name).open
    return opened(Path(where), text=text, safe_cells=escaped)


def compare_file(columns: Mapping[str, Any], where: str, name: str, escaped: bool) -> None:
    """Read some columns of a file or folder back; an error if one is not as written.

    ``columns`` are Arrow tables of one column each.
    """
    import pyarrow as pa

    texts = [one for one, table in columns.items() if pa.types.is_string(plain_type(table.schema.field(0).type))]
    compare(columns, open_written(where, name, text=texts, escaped=escaped))


def compare(columns: Mapping[str, Any], source: Source) -> None:
    """Compare some columns of a table that was written, piece by piece; an error if one is not as it should be."""
    import pyarrow as pa

    kinds = [table.schema.field(0) for table in columns.values()]
    written = pa.Table.from_arrays([table.column(0) for table in columns.values()], schema=pa.schema(kinds))
    for ours, theirs in _aligned(written.to_batches(BATCH), source.batches(BATCH, list(columns))):
        _as_written(ours, theirs)


def compare_names(names: Iterable[str], source: Source) -> None:
    """Look at the columns of a table that was written; an error if they are not these, in this order."""
    if list(names) != list(source.names):
        raise _differs(f"it has the columns {listing(source.names)}", "")


def without_empty_text(column: Any) -> Any:
    """With nothing in place of an empty text, which a text file does not tell from it; other columns as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(plain_type(column.type)):
        return column
    if not pa.types.is_dictionary(column.type):
        return pc.if_else(pc.equal(column, ""), None, column)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([_without_empty_category(one) for one in chunks], column.type)


def _without_empty_category(coded: Any) -> Any:
    """The same of codes and categories; a category that is nothing could not be told from others any more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, categories = coded.indices, coded.dictionary
    place = categories.cast(pa.string()).index("").as_py()
    if place < 0:
        return coded
    codes = pc.if_else(pc.equal(codes, place), None, codes)
    codes = pc.subtract(codes, pc.greater(codes, place).cast(codes.type))
    rest = pa.concat_arrays([categories[:place], categories[place + 1 :]])
    return pa.DictionaryArray.from_arrays(codes, rest, ordered=coded.type.ordered)


def plain_type(kind: Any) -> Any:
    """The type of the values themselves, without dictionaries; one type for text."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(inner) or pa.types.is_string_view(inner) else inner


def _aligned(first: Iterable[Any], second: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Two streams of batches in pieces of equal length; both must end together."""
    a, b, left, right = iter(first), iter(second), None, None
    while True:
        left = left if left is not None and left.num_rows else _next(a)
        right = right if right is not None and right.num_rows else _next(b)
        if left is None or right is None:
            if left is not right:
                raise PromiseError(
                    "what was read back from disk has another number of rows than what was written.",
                    hint="Nothing was released. Check the disk, or choose another format.",
                )
            return
        length = min(left.num_rows, right.num_rows)
        yield left.slice(0, length), right.slice(0, length)
        left, right = left.slice(length), right.slice(length)


def _next(batches: Iterator[Any]) -> Any:
    """The next batch that has rows; None at the end."""
    return next((batch for batch in batches if batch.num_rows), None)


def _as_written(written: Any, back: Any) -> None:
    import pyarrow as pa

    for name in written.schema.names:
        expected, found = written[name], back[name]
        kind = plain_type(expected.type)
        try:
            found = found.cast(kind)
        except (pa.ArrowException, NotImplementedError) as error:
            raise _differs(f"column {name!r} holds {found.type}", str(error)) from None
        if not _equal(without_empty_text(found), without_empty_text(expected.cast(kind))):
            raise _differs(f"column {name!r}", "")


def _equal(a: Any, b: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_floating(a.type):
        x, y = (one.to_numpy(zero_copy_only=False) for one in (a, b))
        return bool(np.array_equal(np.asarray(x, float), np.asarray(y, float), equal_nan=True))
    return bool(a.equals(b))


def _differs(what: str, why: str) -> PromiseError:
    return PromiseError(
        f"what was read back from disk differs from what was written: {what}. {why}".rstrip(),
        hint="Nothing was released. Check the disk, or choose another format.",
    )
