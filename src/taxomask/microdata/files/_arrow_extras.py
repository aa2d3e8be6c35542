"""What an Arrow file holds besides its cells: its messages with their metadata, levels, values under missing cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._support.spelling import spell
from ..hidden import hidden_in
from .base import Extra, texts_in

__all__ = ["arrow_extras", "column_extras"]

_MAGIC = b"ARROW1"


def arrow_extras(path: Path) -> Iterator[Extra]:
    """The texts of all messages of a file or stream, and of what ends a file."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        indexed = file.read(6) == _MAGIC
        file.seek(8 if indexed else 0)
        reader = pa.ipc.MessageReader.open_stream(file)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                break
            yield from texts_in(message.metadata.to_pybytes(), f"a message about the {message.type}")
        yield from texts_in(file.read().removesuffix(_MAGIC), "the end of the file")


def column_extras(array: Any, name: str) -> Iterator[Extra]:
    """The levels of a column, and a value that stands under a missing cell."""
    import pyarrow as pa
    import pyarrow.types as types

    for one in _parts(array):
        if types.is_dictionary(one.type):
            levels = one.dictionary.drop_null().to_pylist()
            yield from (Extra(f"the levels of {name}", spell(level), "value", name) for level in levels)
    storage = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
    if hidden := hidden_in(storage):
        yield Extra(f"what stands under missing cells of {name}", hidden, "hidden", name)


def _parts(array: Any) -> Iterator[Any]:
    """An array and what it is made of."""
    import pyarrow as pa
    import pyarrow.types as types

    yield array
    if isinstance(array.type, pa.BaseExtensionType):
        yield from _parts(array.storage)
    elif types.is_struct(array.type):
        for place in range(array.type.num_fields):
            yield from _parts(array.field(place))
    elif hasattr(array, "values"):
        yield from _parts(array.values)
