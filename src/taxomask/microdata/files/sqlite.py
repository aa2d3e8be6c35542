"""Tables of SQLite databases: sqlite:///file.db?table=name."""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..._support.spelling import spell
from ...errors import DataError
from ._database import Address, exists, gone, miscounted, quoted, temporary_name, unchanged
from .base import Batches, Extra, Format, Source, Text, cannot_write, plain

__all__ = ["FORMAT"]


class _Sqlite(Source):
    """A table of an open connection.

    SQLite checks no types: the type of a column is found out from its values.
    """

    format = "sqlite"
    empty_text = True

    def __init__(self, address: Address, connect: Callable[[], Any], table: str) -> None:
        self._address = address
        self._connect = connect
        self._table = quoted(table)
        with self._connected() as connection:
            rows = connection.execute(f"PRAGMA table_info({self._table})").fetchall()
            if not rows:
                tables = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
                raise gone(address, [name for (name,) in tables])
            named = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            self.beside = [name for (name,) in connection.execute(named) if name != table]
            n = connection.execute(f"SELECT count(*) FROM {self._table}").fetchone()[0]
        super().__init__(address, [row[1] for row in rows], n)
        self.declared: dict[str, str] = {row[1]: row[2] for row in rows}
        self._kinds: dict[str, Any] = {}

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        try:
            with self._connect() as connection:
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: a name of a column is damaged
            raise DataError(f"{self._address} cannot be read: {error}.", hint="Check the file and the table.") from None

    def _column(self, name: str) -> str:
        return f"{self._table}.{quoted(name)}"  # alone, SQLite takes an unknown name in quotes for a text

    def kind(self, name: str) -> Any:
        """The pyarrow type of a column."""
        import pyarrow as pa

        if name not in self._kinds:
            with self._connected() as connection:
                rows = connection.execute(f"SELECT DISTINCT typeof({self._column(name)}) FROM {self._table}").fetchall()
            found = {kind for (kind,) in rows} - {"null"}
            one = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
            if len(found) == 1:
                self._kinds[name] = one[found.pop()]
            else:
                self._kinds[name] = pa.float64() if found == {"integer", "real"} else pa.string()
        return self._kinds[name]

    def extras(self) -> Iterator[Extra]:
        """How the table was declared, and what else belongs to it; other tables of the database are not looked at."""
        with self._connected() as connection:
            said = connection.execute("SELECT name, tbl_name, sql FROM sqlite_schema").fetchall()
        for name, table, sql in said:
            if quoted(table) == self._table:
                yield from (Extra("the declaration of the table", text) for text in (name, sql) if text)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        schema = pa.schema([(name, self.kind(name)) for name in columns])
        listed = ", ".join(map(self._column, columns))

        def pieces() -> Iterator[Any]:
            with self._connected() as connection:
                cursor = connection.execute(f"SELECT {listed} FROM {self._table}")
                while found := cursor.fetchmany(rows):
                    values = zip(*found, strict=True)
                    arrays = [_array(value, kind) for value, kind in zip(values, schema.types, strict=True)]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, pieces())


def _array(values: tuple[Any, ...], kind: Any) -> Any:
    import pyarrow as pa

    if kind == pa.string():
        return pa.array([None if value is None else spell(value) for value in values], kind)
    return pa.array(values, kind)


def _file(address: Address) -> Path:
    return Path(unquote(address.place))


def _open(where: str, *, text: Text, safe_cells: bool) -> Source:
    address = Address.parse(where)
    path = _file(address)
    if not path.is_file():
        raise DataError(
            f"{address}: there is no such file.", hint="Check the path: sqlite:///folder/file.db?table=name"
        )
    interrupted = path.with_name(f"{path.name}-journal").exists()  # SQLite undoes what a killed writer left
    return _Sqlite(address, lambda: closing(_connection(path, "rw" if interrupted else "ro")), address.table)


def _connection(path: Path, mode: str) -> Any:
    return sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, isolation_level=None)


def _write(
    batches: Batches, where: str, *, like: Source | None, force: bool, check: Callable[[Source], None] | None
) -> None:
    address = Address.parse(where)
    path = _file(address)
    new = not path.exists()
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise cannot_write(path, error) from None
    done = False
    try:
        with closing(_connection(path, "rw")) as connection:
            connection.execute("PRAGMA secure_delete = ON")  # nothing of a table that is overwritten stays in the file
            connection.execute("BEGIN IMMEDIATE")
            _fill(connection, batches, address, like, force, check)
            connection.execute("COMMIT")
        done = True
    except sqlite3.Error as error:
        raise unchanged(address, error) from None
    finally:
        if new and not done:
            path.unlink(missing_ok=True)


def _fill(
    connection: Any,
    batches: Batches,
    address: Address,
    like: Source | None,
    force: bool,
    check: Callable[[Source], None] | None,
) -> None:
    target = quoted(address.table)
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", [address.table]).fetchone():
        if not force:
            raise exists(address)
        connection.execute(f"DROP TABLE {target}")
    name = temporary_name()
    batches = plain(batches)
    fields = list(batches.schema)
    columns = ", ".join(f"{quoted(field.name)} {_declared(field, like)}" for field in fields)
    connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
    insert = f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(fields))})"
    rows = 0
    for batch in batches:
        lists = [[_value(one) for one in column.to_pylist()] for column in batch.columns]
        connection.executemany(insert, zip(*lists, strict=True))
        rows += batch.num_rows
    found = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]
    if found != rows:
        raise miscounted(address, rows, found)
    if check is not None:

        @contextmanager
        def inside() -> Iterator[Any]:  # the table is not yet there for others
            yield connection

        check(_Sqlite(address, inside, name))
    connection.execute(f"ALTER TABLE {quoted(name)} RENAME TO {target}")


def _declared(field: Any, like: Source | None) -> str:
    import pyarrow.types as types

    if isinstance(like, _Sqlite) and field.name in like.names and like.kind(field.name) == field.type:
        return like.declared[field.name]
    if types.is_integer(field.type) or types.is_boolean(field.type):
        return "INTEGER"
    return "REAL" if types.is_floating(field.type) else "BLOB" if types.is_binary(field.type) else "TEXT"


def _value(value: Any) -> Any:
    """Dates, times and decimals as text, as SQLite has no types for them."""
    return str(value) if isinstance(value, (dt.date, dt.time, dt.timedelta, Decimal)) else value


FORMAT = Format("sqlite", ("sqlite://",), lambda start: False, _open, _write)
