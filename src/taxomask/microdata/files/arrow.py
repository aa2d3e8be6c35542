"""Arrow files and streams, Feather among them; types are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import DataError
from .base import Batches, Format, Source, Text

__all__ = ["FORMAT"]


class _Arrow(Source):
    format = "arrow"

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as (schema, _):
            super().__init__(path, schema.names)
            self._schema = schema

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        import pyarrow as pa

        try:
            with pa.OSFile(str(self._path)) as file:
                indexed = file.read(6) == b"ARROW1"
                file.seek(0)
                reader = pa.ipc.open_file(file) if indexed else pa.ipc.open_stream(file)
                yield reader.schema, (map(reader.get_batch, range(reader.num_record_batches)) if indexed else reader)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self._path} is not a whole Arrow file: {error}.", hint="Write it again.") from None

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        def pieces() -> Iterator[Any]:
            with self._open() as (_, batches):
                for batch in batches:
                    chosen = batch.select(columns)
                    yield from (chosen.slice(start, rows) for start in range(0, chosen.num_rows, rows))

        return pa.RecordBatchReader.from_batches(pa.schema([self._schema.field(name) for name in columns]), pieces())


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
            writer.write_batch(batch.replace_schema_metadata(None))


FORMAT = Format(
    "arrow",
    (".arrow", ".feather", ".ipc", ".arrows"),
    lambda start: start.startswith((b"ARROW1", b"\xff\xff\xff\xff")),
    _open,
    _write,
)
