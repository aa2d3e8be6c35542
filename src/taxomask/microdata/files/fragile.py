"""Files whose library may break down on a damaged one: a child process reads them, unless they are trusted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ..._support import apart
from ...errors import DataError, TaxomaskError
from .base import Batches, Format, Source

__all__ = ["Fragile", "open_apart", "table_apart", "whole"]


class Fragile(Source):
    """A file that is read in pieces.

    Attributes
    ----------
    apart
        Whether a child process reads it. This object is made there as well, and comes from there with the description
        of the file; rows follow when they are asked for.
    """

    apart = False

    def __init__(self, path: Path, schema: Any, n: int | None = None) -> None:
        super().__init__(path, schema.names, n)
        self._path = path
        self._schema = schema

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        schema = pa.schema([self._schema.field(name) for name in columns])
        pieces = self._pieces_apart(rows, columns) if self.apart else self._sound(rows, columns)
        return pa.RecordBatchReader.from_batches(schema, pieces)

    def _pieces_apart(self, rows: int, columns: list[str]) -> Iterator[Any]:
        with _damage(self._path):
            yield from apart.batches(partial(_batches_here, self, rows, columns))

    def _sound(self, rows: int, columns: list[str]) -> Iterator[Any]:
        """The pieces, if all values are what they should be: later on, nobody looks at that again."""
        called = self.format.capitalize()
        with whole(self._path, called):
            found = 0
            for batch in self._pieces(rows, columns):
                batch.validate(full=True)
                found += batch.num_rows
                yield batch
            if self.n not in (None, found):
                raise DataError(
                    f"{self._path} is not a whole {called} file: it says {self.n:,} rows, and has {found:,}.",
                    hint="Write it again.",
                )

    def _read_rows(self, columns: list[str], start: int, stop: int) -> Any:
        if not self.apart:
            return self._rows(columns, start, stop)
        with _damage(self._path):
            return apart.table(partial(_rows_here, self, columns, start, stop))

    def _rows(self, columns: list[str], start: int, stop: int) -> Any:
        """Some rows, read here."""
        return self._read(columns).slice(start, stop - start)

    @abstractmethod
    def _pieces(self, rows: int, columns: list[str]) -> Iterator[Any]:
        """The record batches, read here."""


def open_apart(form: Format, path: Path, **options: Any) -> Source:
    """Open a file in a child process."""
    with _damage(path):
        source: Any = apart.call(partial(form.open, path, **options))
    source.apart = True
    return source


def table_apart(path: Path, load: Any) -> Any:
    """The table that a function loads, called in a child process."""
    with _damage(path):
        return apart.table(partial(_as_batches, load))


@contextmanager
def whole(path: Path, what: str, hint: str = "Write it again.") -> Iterator[None]:
    """Whatever a library raises on a damaged file, in our words."""
    try:
        yield
    except TaxomaskError:
        raise
    except Exception as error:  # there is no list of what they raise
        text = str(error).strip().rstrip(".")
        reason = text if " " in text else f"{type(error).__name__} {text}".rstrip()
        raise DataError(f"{path} is not a whole {what} file: {reason}.", hint=hint) from None


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """A child that broke down, in our words."""
    try:
        yield
    except apart.BrokenDownError as error:
        message, hint = error.over(path)
        raise DataError(message, hint=hint) from None


# --------------------------------------------------------------------------------------- in the child


def _batches_here(source: Fragile, rows: int, columns: Sequence[str]) -> Batches:
    source.apart = False
    return source.batches(rows, columns)


def _rows_here(source: Fragile, columns: Sequence[str], start: int, stop: int) -> Batches:
    source.apart = False
    return source.read_rows(columns, start, stop).to_reader()


def _as_batches(load: Any) -> Batches:
    table = load()
    return table.to_reader()
