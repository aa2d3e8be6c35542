"""SAS files: .sas7bdat, which are only read, and transport files (.xpt), which are written with variable labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ...errors import DataError
from ._readstat import StatisticalFile, titles_for, writing
from .base import Batches, Extra, Format, Source, Text, plain, texts_in

__all__ = ["FORMAT", "TRANSPORT"]

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_STAMP = re.compile(
    rb"^SAS +(SAS|DATASET) +SAS(LIB|DATA)|[0-9]{2}[A-Z]{3}[0-9]{2}:[0-9:]{8}"
)  # who wrote the file and when


class _Sas(StatisticalFile):
    format = "SAS"

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """The lettered missing values of each column."""
        return self.tags

    def _header(self) -> Iterator[Extra]:
        raise NotImplementedError("such files are not written")


class _Transport(StatisticalFile):
    format = "SAS transport"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "read_xport")
        with path.open("rb") as file:
            self.version = 8 if file.read(28).endswith(b"LIBV8   ") else 5

    def _header(self) -> Iterator[Extra]:
        """What stands before the cells, without the records that every file has."""
        with self._path.open("rb") as file:
            for piece in iter(partial(file.read, 80), b""):
                if piece.startswith((b"HEADER RECORD*******OBS ", b"HEADER RECORD*******OBSV8")):
                    return
                if not piece.startswith(b"HEADER RECORD"):
                    yield from texts_in(_STAMP.sub(b"", piece), "what the file says about itself")


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Sas(path, "read_sas7bdat", user_missing=True)


def _open_transport(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Transport(path)


def _write_transport(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    table = plain(batches).read_all()
    with writing(path) as (pyreadstat, polars):
        pyreadstat.write_xport(
            polars.from_arrow(table),
            str(path),
            column_labels=titles_for(like, table.column_names),
            file_format_version=like.version if isinstance(like, _Transport) else 8,
        )
    if _Transport(path).read(table.column_names[:1], empty=True).num_rows != table.num_rows:
        raise DataError(f"{path} was cut off.", hint="Is there space left on the device?")  # the writer does not tell


FORMAT = Format("SAS", (".sas7bdat",), lambda start: start.startswith(_MAGIC), _open, fragile=True)
TRANSPORT = Format(
    "SAS transport", (".xpt", ".xport"), lambda start: start.startswith(b"HEADER RECORD*******LIB"), _open_transport,
    _write_transport, True,
)  # fmt: skip
