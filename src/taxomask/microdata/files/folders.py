"""Folders of tables: Parquet or CSV files with the same columns, read as one table in the order of their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError
from ..spelling import listing
from .base import ArrowTable, Batches, Source, Text

__all__ = ["MANIFEST", "Folder", "open_folder"]

MANIFEST = "_taxomask.json"  # lists the files of a folder that taxomask wrote, once all are there


class Folder(Source):
    """Tables of one format in a folder, one below the other."""

    format = "folder"

    def __init__(self, path: Path, pieces: Sequence[Source], schema: Any) -> None:
        counts = [piece.n for piece in pieces]
        n = None if None in counts else sum(count or 0 for count in counts)
        super().__init__(path, schema.names, n)
        self.pieces = tuple(pieces)
        self._schema = schema

    def _read(self, columns: list[str]) -> ArrowTable:
        import pyarrow as pa

        schema = pa.schema([self._schema.field(name) for name in columns])
        return pa.concat_tables(piece.read(columns, empty=True).cast(schema) for piece in self.pieces)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        schema = pa.schema([self._schema.field(name) for name in columns])

        def batches() -> Iterator[Any]:
            for piece in self.pieces:
                for batch in piece.batches(rows, columns):
                    yield batch.cast(schema)

        return pa.RecordBatchReader.from_batches(schema, batches())


def open_folder(path: Path, open_file: Callable[..., Source], *, text: Text, safe_cells: bool) -> Folder:
    """Open all tables of a folder; names that begin with a dot or an underscore are passed over."""
    try:
        names = sorted(one for one in path.iterdir() if one.name[0] not in "._")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", hint="Check who may read the folder.") from None
    inner = [one.name for one in names if one.is_dir()]
    if inner:
        raise DataError(f"{path} has folders in it: {listing(inner)}.", hint="Put all files of a table in one folder.")
    if not names:
        raise DataError(f"{path} is a folder without tables.", hint="Name a file, or a folder of Parquet or CSV files.")
    _check_whole(path, [one.name for one in names])
    pieces = [open_file(one, text=text, safe_cells=safe_cells) for one in names]
    formats = sorted({piece.format for piece in pieces})
    if formats not in (["parquet"], ["csv"]):
        raise DataError(
            f"{path} holds tables of the format {' and '.join(formats)}.", hint="Make it a folder of Parquet or CSV."
        )
    for piece in pieces:
        _check_columns(pieces[0], piece)
    schema, unlike = _common_schema(pieces)
    if unlike and formats == ["csv"]:
        texts = True if text is True else [*(text or ()), *unlike]
        pieces = [open_file(one, text=texts, safe_cells=safe_cells) for one in names]
        schema, unlike = _common_schema(pieces)
    if unlike:
        raise DataError(
            f"{path}: column {unlike[0]!r} has types that do not go together in different files.",
            hint="Write the files again with one type for the column.",
        )
    return Folder(path, pieces, schema)


def _check_whole(path: Path, names: list[str]) -> None:
    """A folder that taxomask wrote must hold the files of its manifest."""
    manifest = path / MANIFEST
    if not manifest.exists():
        return
    try:
        listed = {one["name"]: one["bytes"] for one in json.loads(manifest.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        listed = {}
    if sorted(listed) != sorted(names) or any((path / name).stat().st_size != size for name, size in listed.items()):
        raise DataError(f"{path} does not hold the files of its {MANIFEST}.", hint="Copy or write the folder again.")


def _check_columns(first: Source, other: Source) -> None:
    if sorted(first.names) == sorted(other.names):
        return
    odd = set(first.names) ^ set(other.names)
    raise DataError(
        f"{other.where}: column {listing(sorted(odd))} is not in all files of the folder.",
        hint="All files of a folder must have the same columns.",
    )


def _common_schema(pieces: Sequence[Source]) -> tuple[Any, list[str]]:
    """The types that hold the values of all files, and the columns for which there is none."""
    import pyarrow as pa

    names = list(pieces[0].names)
    schemas = [piece.batches(1, names).schema.remove_metadata() for piece in pieces]
    found, unlike = [], []
    for name in names:
        fields = [pa.schema([schema.field(name).remove_metadata()]) for schema in schemas]
        try:
            found.append(pa.unify_schemas(fields, promote_options="permissive").field(0))
        except pa.ArrowException:
            unlike.append(name)
            found.append(fields[0].field(0))
    return pa.schema(found), unlike
