"""Folders of tables: Parquet or CSV files with the same columns, read as one table in the order of their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..._support.spelling import listing
from ...errors import DataError
from .base import BATCH, ArrowTable, Batches, Extra, Source, Text

__all__ = ["MANIFEST", "Folder", "in_types", "open_folder"]

MANIFEST = "_taxomask.json"  # lists the files of a folder that taxomask wrote, once all are there
_ONE_TYPE = "Write the files again with one type for the column."


class Folder(Source):
    """Tables of one format in a folder, one below the other. Their types are compared when they are first read.

    Parameters
    ----------
    path
        The folder.
    pieces
        Its tables.
    open_as_text
        Opens all tables again, with these columns as text; None if types that do not go together are an error.
    """

    format = "folder"

    def __init__(
        self, path: Path, pieces: Sequence[Source], open_as_text: Callable[[list[str]], Sequence[Source]] | None
    ) -> None:
        counts = [piece.n for piece in pieces]
        n = None if None in counts else sum(count or 0 for count in counts)
        super().__init__(path, pieces[0].names, n)
        self.pieces = tuple(pieces)
        self.columnar = all(piece.columnar for piece in pieces)
        self.empty_text = any(piece.empty_text for piece in pieces)
        self._open_as_text = open_as_text

    @cached_property
    def schema(self) -> Any:
        """The types that hold the values of all files (a pyarrow.Schema)."""
        schema, unlike = _common_schema(self.pieces)
        if unlike and self._open_as_text is not None:
            self.pieces = tuple(self._open_as_text(unlike))
            schema, unlike = _common_schema(self.pieces)
        if unlike:
            raise DataError(
                f"{self.where}: column {unlike[0]!r} has types that do not go together in different files.",
                hint=_ONE_TYPE,
            )
        return schema

    def _read(self, columns: list[str]) -> ArrowTable:
        import pyarrow as pa

        schema = self._chosen_types(columns)
        return pa.concat_tables(_cast(piece, piece.read(columns, empty=True), schema) for piece in self.pieces)

    def _read_rows(self, columns: list[str], start: int, stop: int) -> ArrowTable:
        import pyarrow as pa

        schema, found, at = self._chosen_types(columns), [], 0
        for piece in self.pieces:
            if piece.n is None:
                return super()._read_rows(columns, start, stop)
            low, high = max(start - at, 0), min(stop - at, piece.n)
            if low < high:
                found.append(_cast(piece, piece.read_rows(columns, low, high), schema))
            at += piece.n
        return pa.concat_tables(found) if found else schema.empty_table()

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        schema = self._chosen_types(columns)
        batches = (batch for piece in self.pieces for batch in in_types(piece, schema, rows))
        return pa.RecordBatchReader.from_batches(schema, batches)

    def extras(self) -> Iterator[Extra]:
        for piece in self.pieces:
            yield from piece.extras()

    def _chosen_types(self, columns: list[str]) -> Any:
        import pyarrow as pa

        return pa.schema([self.schema.field(name) for name in columns])


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

    def pieces(text: Text) -> list[Source]:
        return [open_file(one, text=text, safe_cells=safe_cells) for one in names]

    found = pieces(text)
    formats = sorted({piece.format for piece in found})
    if formats not in (["parquet"], ["csv"]):
        raise DataError(
            f"{path} holds tables of the format {' and '.join(formats)}.", hint="Make it a folder of Parquet or CSV."
        )
    for piece in found:
        _check_columns(found[0], piece)
    known = () if isinstance(text, bool) else text
    return Folder(path, found, (lambda more: pieces([*known, *more])) if formats == ["csv"] else None)


def in_types(piece: Source, schema: Any, rows: int = BATCH) -> Batches:
    """One file of a folder, in the types of all."""
    import pyarrow as pa

    batches = (_cast(piece, batch, schema) for batch in piece.batches(rows, schema.names))
    return pa.RecordBatchReader.from_batches(schema, batches)


def _cast(piece: Source, content: Any, schema: Any) -> Any:
    """A table or batch of one file in the types of all."""
    import pyarrow as pa

    try:
        return content.cast(schema)
    except pa.ArrowInvalid as error:
        types = ", ".join(f"{field.name!r} is {field.type}" for field in schema)
        raise DataError(
            f"{piece.where}: in the other files {types}, and that cannot hold all values here: {error}.", hint=_ONE_TYPE
        ) from None


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
