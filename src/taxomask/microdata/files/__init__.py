"""Tables in files and databases: one file per format, recognised from its content or its address.

To add a format, write one file with a subclass of `Source` and a ``FORMAT`` (see `Format`), and add one line to
``FORMATS`` below.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike, fspath
from pathlib import Path

from ..._support import apart
from ...errors import DataError, did_you_mean
from . import arrow, delimited, excel, parquet, postgresql, sas, spss, sqlite, stata
from ._database import shown
from .base import BATCH, ArrowTable, Batches, Extra, Format, Source, Text, new_file, plain
from .folders import MANIFEST, Folder, in_types, open_folder
from .fragile import open_apart

__all__ = [
    "FORMATS", "MANIFEST", "Extra", "Folder", "Format", "Source", "format_of", "in_types", "is_address", "open_table",
    "read_table", "shown", "split_sheet", "write_table",
]  # fmt: skip

FORMATS: tuple[Format, ...] = (  # in the order in which they are tried
    parquet.FORMAT,
    arrow.FORMAT,
    excel.FORMAT,
    spss.FORMAT,
    stata.FORMAT,
    sas.FORMAT,
    sas.TRANSPORT,
    sqlite.FORMAT,
    postgresql.FORMAT,
    delimited.FORMAT,  # whatever is text
)


def open_table(
    where: str | PathLike[str], *, text: Text = False, safe_cells: bool = False, trusted: bool = False
) -> Source:
    """Open a table for reading; the format of a file is recognised from its content.

    Files of formats whose libraries may break down on a damaged one are read by a child process.

    Parameters
    ----------
    where
        A file, a sheet of a workbook (``book.xlsx#people``), a folder of Parquet or CSV files, or a table of a
        database: ``sqlite:///file.db?table=name``,
        ``postgresql://user@host/db?table=name``.
    text
        Columns of a CSV file to keep as text, so that leading zeros survive (``"038"``); True for all. Other formats
        know the types of their columns.
    safe_cells
        The file was written by `write_table` with ``safe_cells``: take the apostrophes off again.
    trusted
        Read the file in this process, as it is known to be whole; all files are if the environment variable
        ``TAXOMASK_TRUST_FILES`` is 1.

    Returns
    -------
    Source
        With ``names``, ``read(columns)`` and ``batches(rows, columns)``.
    """
    address = _by_address(where)
    if address is not None:
        return address.open(fspath(where), text=text, safe_cells=safe_cells)
    path, sheet = split_sheet(where)
    if os.path.isdir(path):  # unlike Path.is_dir no error where one may not look
        return open_folder(path, partial(open_table, trusted=trusted), text=text, safe_cells=safe_cells)
    start = _start(path)
    form = next(one for one in FORMATS if one.recognises(start))
    options = {"text": text, "safe_cells": safe_cells}
    if sheet is not None:
        if form is not excel.FORMAT:
            raise DataError(f"{path} is no workbook, and has no sheet {sheet!r}.", hint="Leave the sheet out.")
        options["sheet"] = sheet
    if form.fragile and not trusted and not apart.trusted():
        return open_apart(form, path, **options)
    return form.open(path, **options)


def split_sheet(where: str | PathLike[str]) -> tuple[Path, str | None]:
    """The file, and the sheet of a workbook that is named behind it: ``book.xlsx#people``."""
    file, sign, sheet = fspath(where).rpartition("#")
    if sign and sheet and not os.path.exists(where) and os.path.isfile(file):
        return Path(file), sheet
    return Path(where), None


def read_table(where: str | PathLike[str], columns: Sequence[str] | None = None, *, text: Text = False) -> ArrowTable:
    """Read a table: `open_table` and ``read`` in one, and a table without rows is returned as it is.

    Parameters
    ----------
    where
        As in `open_table`.
    columns
        The columns to read, in this order; all by default.
    text
        As in `open_table`.

    Returns
    -------
    pyarrow.Table
        Empty cells are null; nothing else is.
    """
    return open_table(where, text=text).read(columns, empty=True)


def write_table(
    table: ArrowTable | Batches,
    where: str | PathLike[str],
    *,
    like: Source | None = None,
    name: str | None = None,
    force: bool = False,
    safe_cells: bool = True,
    check: Callable[[Source], None] | None = None,
) -> None:
    """Write a table; the suffix of the file, or the scheme of the address, decides on the format.

    A file is created so that only its owner can read it, and is gone again if writing fails. A table of a database is
    written under another name and renamed at the end, in one transaction.

    Parameters
    ----------
    table
        A pyarrow.Table, or batches of one (pyarrow.RecordBatchReader), which are written as they come.
    where
        The file, or the table of a database as in `open_table`.
    like
        The source that the table came from: its dialect (CSV) or its labels and user missing values (SPSS, Stata, SAS)
        are written again where the format can.
    name
        The file name that decides on the format, where the file is first written under a temporary one.
    force
        Overwrite what is there.
    safe_cells
        Put an apostrophe before text cells of a CSV file that a spreadsheet would take for formulas (= + - @);
        numbers stay as they are.
    check
        Is given what was written, read back; if it raises, nothing is kept.
    """
    import pyarrow as pa

    form = format_of(where if name is None else name)
    batches = table.to_reader(BATCH) if isinstance(table, pa.Table) else table
    if form.write is None:
        writable = [one.suffixes[0] for one in FORMATS if one.write]
        raise DataError(f"{form.name} files can only be read.", hint=f"Write one of {', '.join(writable)}.")
    if form is _by_address(where):
        form.write(batches, fspath(where), like=like, force=force, check=check)
        return
    path = Path(where)
    schema = plain(batches).schema
    with new_file(path, force=force):
        form.write(batches, path, like=like, name=(name or path.name).lower(), safe_cells=safe_cells)
        if check is not None:
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            check(form.open(path, text=texts, safe_cells=safe_cells))


def format_of(where: str | PathLike[str]) -> Format:
    """The format in which a file of this name, or a table at this address, is written.

    >>> format_of("protected.csv.gz").name, format_of("sqlite:///register.db?table=protected").name
    ('csv', 'sqlite')
    """
    address = _by_address(where)
    if address is not None:
        return address
    name = Path(where).name.lower()
    for one in FORMATS:
        if name.endswith(one.suffixes):
            return one
    known = [suffix for one in FORMATS for suffix in one.suffixes if suffix.startswith(".")]
    raise DataError(
        f"{Path(where).name}: the suffix does not say in which format to write.",
        hint=did_you_mean(Path(where).suffix, known),
    )


def is_address(where: str | PathLike[str]) -> bool:
    """Whether this is the address of a table in a database, not a file."""
    return "://" in fspath(where)


def _by_address(where: str | PathLike[str]) -> Format | None:
    text = fspath(where)
    return next((one for one in FORMATS if text.startswith(tuple(s for s in one.suffixes if "://" in s))), None)


def _start(path: Path) -> bytes:
    """The first bytes of a file that can be read and is not empty."""
    try:
        with path.open("rb") as file:
            start = file.read(400)
    except FileNotFoundError:
        near = [other.name for other in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near) if near else "Check the path."
        raise DataError(f"{path}: there is no such file.", hint=hint) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", hint="Check who may read the file.") from None
    except ValueError:
        raise DataError(f"{str(path)!r} is not the name of a file.", hint="Check the path.") from None
    if not start:
        raise DataError(f"{path} is empty.", hint="A table has a header line and at least one row.")
    return start
