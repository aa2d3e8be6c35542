"""Values under missing cells: an array of Arrow keeps a value for every cell and says beside it which are missing.

Whoever empties a cell by saying so leaves its value where it was, and in every file that keeps arrays as they are.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell

__all__ = ["hidden_in", "without_hidden"]

Array: TypeAlias = Any  # pyarrow.Array, pyarrow.ChunkedArray


def hidden_in(array: Array) -> str:
    """A value that an array holds and no cell shows, as text; "" if there is none.

    >>> import numpy as np, pyarrow as pa
    >>> hidden_in(pa.array(np.array([40.0, 777.0]), mask=np.array([False, True])))
    '777'
    """
    import pyarrow as pa
    import pyarrow.types as types

    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return hidden_in(array.storage)
    if types.is_dictionary(kind):
        return hidden_in(array.indices)
    if types.is_struct(kind):
        gone = array.filter(array.is_null()) if array.null_count else array[:0]
        under = (spell(one) for place in range(kind.num_fields) for one in gone.field(place).drop_null().to_pylist())
        inside = (hidden_in(array.field(place)) for place in range(kind.num_fields))
        return next(filter(None, (*under, *inside)), "")
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        beyond = len(array.flatten()) < len(array.values)
        return spell(array.values.to_pylist()) if beyond else hidden_in(array.values)
    if _is_text(kind):
        return _letters(array)
    if not array.null_count or not _is_fixed(kind):
        return ""
    under = _cells(array)[np.asarray(array.is_null())]
    rows = {row.tobytes() for row in under} - {bytes(under.shape[1])}
    if types.is_floating(kind):
        rows.discard(np.array(np.nan, f"f{under.shape[1]}").tobytes())
    if not rows:
        return ""
    return spell(pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(min(rows))])[0].as_py())


def without_hidden(array: Array) -> Array:
    """The same cells, and nothing under those that are missing.

    >>> import numpy as np, pyarrow as pa
    >>> hidden_in(without_hidden(pa.array(np.array([40.0, 777.0]), mask=np.array([False, True]))))
    ''
    """
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([without_hidden(one) for one in array.chunks], array.type)
    if not hidden_in(array):
        return array
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return kind.wrap_array(without_hidden(array.storage))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(without_hidden(array.indices), array.dictionary, ordered=kind.ordered)
    if _is_text(kind):
        return array.take(pa.array(np.arange(len(array))))  # copies what the cells show
    if not _is_fixed(kind):
        return pa.array(array.to_pylist(), kind)
    cells, there = _cells(array).copy(), np.asarray(array.is_valid())
    cells[~there] = 0
    return pa.Array.from_buffers(kind, len(array), [pa.array(there).buffers()[1], pa.py_buffer(cells.tobytes())])


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def _is_fixed(kind: Any) -> bool:
    """Whether the values of a type have one width, in whole bytes."""
    import pyarrow.types as types

    if types.is_nested(kind) or types.is_dictionary(kind) or types.is_boolean(kind) or types.is_null(kind):
        return False
    try:
        return bool(kind.bit_width % 8 == 0)
    except ValueError:
        return False


def _cells(array: Array) -> NDArray[np.uint8]:
    """The bytes of each value, also of those under missing cells."""
    width = array.type.bit_width // 8
    content = np.frombuffer(array.buffers()[1], np.uint8)
    return content[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)


def _letters(array: Array) -> str:
    """What texts hold beyond those of the cells."""
    import pyarrow.types as types

    _, offsets, content = array.buffers()
    if content is None or not content.size:
        return ""
    wide = np.int64 if types.is_large_string(array.type) or types.is_large_binary(array.type) else np.int32
    ends = np.frombuffer(offsets, wide)[array.offset : array.offset + len(array) + 1]
    there = np.asarray(array.is_valid())
    if int((np.diff(ends) * there).sum()) == content.size:
        return ""
    size = content.size + 1
    shown = np.bincount(ends[:-1][there], minlength=size) - np.bincount(ends[1:][there], minlength=size)
    left = np.frombuffer(content, np.uint8)[np.cumsum(shown[:-1]) == 0]
    return left[left != 0].tobytes().decode("utf-8", "replace")[:80]
