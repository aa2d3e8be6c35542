"""SAS files: .sas7bdat, which are only read, and transport files (.xpt), which are written with variable labels."""

from __future__ import annotations

from pathlib import Path

from ...errors import DataError
from ._readstat import StatisticalFile, titles_for, writing
from .base import Batches, Format, Source, Text, plain

__all__ = ["FORMAT", "TRANSPORT"]

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")


class _Sas(StatisticalFile):
    format = "SAS"

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """The lettered missing values of each column."""
        return self.tags


class _Transport(StatisticalFile):
    format = "SAS transport"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "read_xport")
        with path.open("rb") as file:
            self.version = 8 if file.read(28).endswith(b"LIBV8   ") else 5


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
