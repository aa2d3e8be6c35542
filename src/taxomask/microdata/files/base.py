"""What a table in a file or a database is, and what each format must offer."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..._support.spelling import listing
from ...errors import DataError, did_you_mean

__all__ = [
    "ArrowTable", "Batches", "Extra", "Format", "Source", "Text", "cannot_write", "import_extra", "named", "new_file",
    "plain", "said", "texts_in", "unlike",
]  # fmt: skip

ArrowTable: TypeAlias = Any  # pyarrow.Table
Batches: TypeAlias = Any  # pyarrow.RecordBatchReader
Text: TypeAlias = bool | Sequence[str]
BATCH = 65_536


@dataclass(frozen=True)
class Extra:
    """Something in a file that is not a cell.

    Parameters
    ----------
    where
        What it is, in words.
    text
        What it says.
    kind
        ``"text"``: anything; ``"said"``: a text that stands by itself; ``"title"``: what a file says about a column as
        a whole; ``"value"``: one of the values of a column, kept apart from the cells (a level, a statistic);
        ``"hidden"``: a value that no cell shows.
    column
        The column, where it belongs to one.
    """

    where: str
    text: str
    kind: str = "text"
    column: str | None = None


def texts_in(content: bytes, where: str) -> Iterator[Extra]:
    """The texts in bytes of any kind: what stands between bytes that are no letters, digits or signs."""
    for text in re.split("[\\x00-\\x1f\\x7f\ufffd]+", content.decode("utf-8", "replace")):
        if text.strip():
            yield Extra(where, text.strip())
            yield from _in_json(text, where)


def said(text: str, where: str) -> Iterator[Extra]:
    """A text that stands by itself, and what stands in it if it is JSON."""
    yield Extra(where, text, "said")
    yield from _in_json(text, where)


def _in_json(text: str, where: str) -> Iterator[Extra]:
    """The texts of a text that is JSON, in which letters may be written as numbers."""
    start = re.search(r"[\[{]", text)
    if start is None:
        return
    try:
        stack = [json.JSONDecoder().raw_decode(text[start.start() :])[0]]
    except (ValueError, RecursionError):
        return
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield Extra(where, one, "said")
        elif isinstance(one, (dict, list)):
            stack += [*one, *(one.values() if isinstance(one, dict) else ())]


class Source(ABC):
    """A table in a file or a database, of which nothing but the description was read so far.

    Attributes
    ----------
    where
        The file, or the address of the database (without its password), for messages.
    format
        The name of the format.
    names
        The columns.
    n
        The number of rows, if the description says so.
    titles
        What the file says about its columns (variable labels).
    labels
        What the file says that values mean (value labels).
    missing
        Values that mean "missing" according to the file (user missing values).
    levels
        What the file says that columns are measured on: ``"nominal"``, ``"ordinal"`` or ``"scale"``.
    columnar
        Whether a column can be read without the others.
    empty_text
        Whether an empty text is something else than no value.
    beside
        What else lies in the same file: other tables.
    hidden
        Columns that the file hides from those who open it; they are read as any other.
    told
        What else whoever decides about the table should know of the file, in sentences.
    whole
        Whether the file is read whole, whatever is asked for.
    """

    format: str
    columnar: bool = False
    empty_text: bool = False
    beside: Sequence[str] = ()
    hidden: Sequence[str] = ()
    told: Sequence[str] = ()
    whole: bool = False
    titles: Mapping[str, str] = {}
    labels: Mapping[str, Mapping[Any, str]] = {}
    missing: Mapping[str, tuple[Any, ...]] = {}
    levels: Mapping[str, str] = {}

    def __init__(self, where: object, names: Sequence[str], n: int | None = None) -> None:
        for number, name in enumerate(names, start=1):
            if not isinstance(name, str):  # of a damaged file
                raise DataError(f"{where}: column {number} has no name.", hint="Save the file again.")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise DataError(f"{where}: column {listing(twice)} stands more than once.", hint="Rename one of them.")
        self.where = str(where)
        self.names = tuple(names)
        self.n = n

    def read(self, columns: Sequence[str] | None = None, *, empty: bool = False) -> ArrowTable:
        """The table, or some of its columns in the order in which they are asked for.

        A table without rows is an error unless ``empty`` allows it.
        """
        table = self._read(self._chosen(columns))
        if not table.num_rows and not empty:
            raise DataError(
                f"{self.where} has columns ({listing(self.names)}) but no rows.", hint="Check that it is complete."
            )
        return table

    def batches(self, rows: int = BATCH, columns: Sequence[str] | None = None) -> Batches:
        """The table in pieces of about ``rows`` rows, one at a time, as a pyarrow.RecordBatchReader.

        CSV, Parquet, Arrow files and databases are read as they are asked for, in bounded memory; other formats are
        read whole.
        """
        return self._batches(rows, self._chosen(columns))

    def read_rows(self, columns: Sequence[str], start: int, stop: int) -> ArrowTable:
        """Some rows of some columns. Of Parquet files only the row groups that hold them are read."""
        return self._read_rows(self._chosen(columns), start, stop)

    def _chosen(self, columns: Sequence[str] | None) -> list[str]:
        chosen = list(self.names if columns is None else columns)
        for name in chosen:
            if name not in self.names:
                raise DataError(f"{self.where}: there is no column {name!r}.", hint=did_you_mean(name, self.names))
        return chosen

    def _read(self, columns: list[str]) -> ArrowTable:
        return self._batches(BATCH, columns).read_all()

    def _read_rows(self, columns: list[str], start: int, stop: int) -> ArrowTable:
        return self._read(columns).slice(start, stop - start)

    @abstractmethod
    def _batches(self, rows: int, columns: list[str]) -> Batches: ...

    @abstractmethod
    def extras(self) -> Iterator[Extra]:
        """All that stands in the file and is not a cell, unpacked: a release is searched for what must not be there.

        What every file of the format says in the same words, whatever its table, is left out; so are names of columns.
        """


@dataclass(frozen=True)
class Format:
    """One format: how it is recognised, read and written.

    Parameters
    ----------
    name
        Its name.
    suffixes
        How names of its files end, in small letters; or the scheme of its addresses, such as ``sqlite://``.
    recognises
        Whether the first bytes of a file are those of this format.
    open
        From a path or address to a source. Options: ``text``, ``safe_cells``.
    write
        Writes batches to a path or address; None if the format can only be read. Options: ``like``, the source whose
        dialect and labels are taken over; ``name``, the file name that the data will have; ``safe_cells``; for
        databases ``force`` and ``check``.
    fragile
        Whether the library that reads it may break down on a damaged file: a child process opens such files.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[bytes], bool]
    open: Callable[..., Source]
    write: Callable[..., None] | None = None
    fragile: bool = False


def named(header: Sequence[str]) -> list[str]:
    """The names of columns; one without a name is called by its place, as ``column 3``.

    >>> named(["age", "", "column 2"])
    ['age', 'column 2 (unnamed)', 'column 2']
    """
    taken = set(header)
    found = []
    for number, name in enumerate(header, start=1):
        shown = name if name.strip() else f"column {number}"
        found.append(f"{shown} (unnamed)" if not name.strip() and shown in taken else shown)
    return found


def import_extra(module: str, extra: str, what: str) -> Any:
    """A module that comes with an extra of the package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            f"{what} needs the package {module.partition('.')[0]}, which is not installed.",
            hint=f"Install it with: pip install 'taxomask[{extra}]'",
        ) from None


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[None]:
    """An empty file that only its owner can read, to be filled; it is gone again if that fails."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
        handle = os.open(path, flags, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except FileExistsError:
        raise DataError(f"{path} exists already.", hint="Choose another name, or overwrite it with force.") from None
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        yield
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from None
        raise


def cannot_write(path: object, error: OSError) -> DataError:
    """What went wrong in writing a file, in words."""
    if error.errno == errno.ENOSPC:
        return DataError(f"{path}: no space left on the device.", hint="Nothing was kept. Make room and try again.")
    if error.errno == errno.ENOENT:
        return DataError(f"{path}: there is no such folder.", hint="Make it first.")
    reason = os.strerror(error.errno) if error.errno else str(error)
    return DataError(f"{path} cannot be written: {reason}.", hint="Check the folder and who may write there.")


def plain(batches: Batches) -> Batches:
    """Batches for formats that have neither dictionaries, nor extension types, nor several kinds of text."""
    import pyarrow as pa

    def pieces() -> Iterator[Any]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([_plain(array) for array in batch.columns], names=batch.schema.names)

    empty = pa.RecordBatch.from_pylist([], schema=batches.schema)
    schema = pa.schema(
        [(name, _plain(array).type) for name, array in zip(empty.schema.names, empty.columns, strict=True)]
    )
    return pa.RecordBatchReader.from_batches(schema, pieces())


def _plain(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    text = types.is_large_string(array.type) or types.is_string_view(array.type)
    return array.cast(pa.string()) if text else array


def unlike(name: str, dtype: object, what: str) -> DataError:
    """A column of a type that a format has no place for."""
    return DataError(
        f"column {name!r} holds {dtype}, which {what} cannot hold.", hint="Write Parquet, or drop the column."
    )
