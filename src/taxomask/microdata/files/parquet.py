"""Parquet files; types are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from ._parquet_extras import parquet_extras
from .base import BATCH, Batches, Extra, Format, Source, Text
from .fragile import Fragile, whole

__all__ = ["FORMAT"]


class _Parquet(Fragile):
    format = "parquet"
    empty_text = True
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

    def _rows(self, columns: list[str], start: int, stop: int) -> Any:
        import pyarrow as pa

        schema = pa.schema([self._schema.field(name) for name in columns])
        with _opened(self._path) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
            ends = list(accumulate(sizes))
            groups = [
                group
                for group, (size, end) in enumerate(zip(sizes, ends, strict=True))
                if size and end > start and end - size < stop
            ]
            at = ends[groups[0]] - sizes[groups[0]] if groups else 0
            found = []
            for batch in file.iter_batches(BATCH, row_groups=groups, columns=columns) if groups else ():
                low, high = max(start - at, 0), min(stop - at, batch.num_rows)
                if low < high:
                    found.append(batch.select(columns).slice(low, high - low))
                    found[-1].validate(full=True)
                at += batch.num_rows
                if at >= stop:
                    break
            table = pa.Table.from_batches(found, schema)
            if table.num_rows != stop - start:
                raise ValueError(f"rows {start + 1:,} to {stop:,} are not there")
            return table

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
