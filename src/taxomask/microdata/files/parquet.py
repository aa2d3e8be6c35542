"""Parquet files; types are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._parquet_extras import parquet_extras
from .base import Batches, Extra, Format, Source, Text
from .fragile import Fragile, whole

__all__ = ["FORMAT"]


class _Parquet(Fragile):
    format = "parquet"
    columnar = True

    def __init__(self, path: Path) -> None:
        with _opened(path) as file:
            super().__init__(path, file.schema_arrow, file.metadata.num_rows)
            groups = file.metadata.num_row_groups and file.metadata.num_columns
            self.compression: str = file.metadata.row_group(0).column(0).compression if groups else "SNAPPY"

    def _pieces(self, rows: int, columns: list[str]) -> Iterator[Any]:
        with _opened(self._path) as file:
            for batch in file.iter_batches(rows, columns=columns):
                yield batch.select(columns)

    def extras(self) -> Iterator[Extra]:
        with whole(self._path, "Parquet"):
            yield from parquet_extras(self._path)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with whole(path, "Parquet"), pq.ParquetFile(path) as file:
        yield file


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


FORMAT = Format("parquet", (".parquet", ".pq"), lambda start: start.startswith(b"PAR1"), _open, _write, True)
