"""Parquet files; types are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import DataError
from .base import ArrowTable, Batches, Format, Source, Text

__all__ = ["FORMAT"]


class _Parquet(Source):
    format = "parquet"
    columnar = True

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            super().__init__(path, file.schema_arrow.names, file.metadata.num_rows)
            self._schema = file.schema_arrow
            groups = file.metadata.num_row_groups and file.metadata.num_columns
            self.compression: str = file.metadata.row_group(0).column(0).compression if groups else "SNAPPY"

    @contextmanager
    def _open(self) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self._path) as file:
                yield file
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self._path} is not a whole Parquet file: {error}.", hint="Write it again.") from None

    def _read(self, columns: list[str]) -> ArrowTable:
        with self._open() as file:
            return file.read(columns).select(columns)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        def pieces() -> Iterator[Any]:
            with self._open() as file:
                for batch in file.iter_batches(rows, columns=columns):
                    yield batch.select(columns)

        return pa.RecordBatchReader.from_batches(pa.schema([self._schema.field(name) for name in columns]), pieces())


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Parquet(path)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    """Only the columns are written: key-value metadata of another file may say what must not be released."""
    import pyarrow.parquet as pq

    schema = batches.schema.remove_metadata()
    compression = like.compression if isinstance(like, _Parquet) else "SNAPPY"
    with pq.ParquetWriter(path, schema, compression=compression) as writer:
        for batch in batches:
            writer.write_batch(batch.replace_schema_metadata(None))


FORMAT = Format("parquet", (".parquet", ".pq"), lambda start: start.startswith(b"PAR1"), _open, _write)
