"""Arrow files and streams, Feather among them; types are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..hidden import without_hidden
from ._arrow_extras import arrow_extras, column_extras
from .base import Batches, Extra, Format, Source, Text
from .fragile import Fragile, whole

__all__ = ["FORMAT"]


class _Arrow(Fragile):
    format = "arrow"
    empty_text = True

    def __init__(self, path: Path) -> None:
        with _opened(path) as (schema, _):
            super().__init__(path, schema)

    def _pieces(self, rows: int, columns: list[str]) -> Iterator[Any]:
        with _opened(self._path) as (_, batches):
            for batch in batches:
                chosen = batch.select(columns)
                yield from (chosen.slice(start, rows) for start in range(0, chosen.num_rows, rows))

    def extras(self) -> Iterator[Extra]:
        with whole(self._path, "Arrow"):
            yield from arrow_extras(self._path)
            with _opened(self._path) as (_, batches):
                for batch in batches:
                    for name, array in zip(batch.schema.names, batch.columns, strict=True):
                        yield from column_extras(array, name)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Iterator[Any]]]:
    import pyarrow as pa

    with whole(path, "Arrow"), pa.OSFile(str(path)) as file:
        indexed = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = pa.ipc.open_file(file) if indexed else pa.ipc.open_stream(file)
        yield reader.schema, (map(reader.get_batch, range(reader.num_record_batches)) if indexed else reader)


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Arrow(path)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    """Only the columns are written: metadata of another file may say what must not be released."""
    import pyarrow as pa

    schema = batches.schema.remove_metadata()
    if any(pa.types.is_dictionary(kind) for kind in schema.types):  # a file has one dictionary per column
        batches = batches.read_all().unify_dictionaries().to_batches()
    new = pa.ipc.new_stream if name.endswith(".arrows") else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, new(file, schema) as writer:
        for batch in batches:
            columns = [without_hidden(column) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


FORMAT = Format(
    "arrow",
    (".arrow", ".feather", ".ipc", ".arrows"),
    lambda start: start.startswith((b"ARROW1", b"\xff\xff\xff\xff")),
    _open,
    _write,
    True,
)
