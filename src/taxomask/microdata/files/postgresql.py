"""Tables of PostgreSQL: postgresql://user@host/database?table=name, or table=schema.name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import DataError
from ._database import Address, exists, gone, miscounted, quoted, temporary_name, unchanged
from .base import Batches, Extra, Format, Source, Text, import_extra, plain

__all__ = ["FORMAT"]

# Types that come as they are. The others come as text and go back by a cast; numbers of any length as double ones.
# Enumerations stay text: they list values that may be gone.
_NATIVE = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz", "time"})
_COLUMNS = """
SELECT a.attname::text AS name, CASE t.typtype WHEN 'e' THEN 'text' ELSE t.typname::text END AS type
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass('{table}') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_SAID = """
SELECT a.attname::text AS name, e.enumlabel::text AS level, col_description(a.attrelid, a.attnum)::text AS comment
FROM pg_attribute a LEFT JOIN pg_enum e ON e.enumtypid = a.atttypid
WHERE a.attrelid = to_regclass('{table}') AND a.attnum > 0 AND NOT a.attisdropped
"""
_TABLES = (
    "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = ANY (current_schemas(false))"
)


class _PostgreSql(Source):
    format = "postgresql"
    empty_text = True

    def __init__(self, address: Address, connect: Callable[[], Any], table: str) -> None:
        self._address = address
        self._connect = connect
        self._table = table
        with self._connected() as connection:
            columns = _ask(connection, _COLUMNS.format(table=table.replace("'", "''"))).to_pylist()
            if not columns:
                raise gone(address, _ask(connection, _TABLES)["name"].to_pylist())
            self.declared: dict[str, str] = {column["name"]: column["type"] for column in columns}
            n = _ask(connection, f"SELECT count(*) AS n FROM {table}")["n"][0].as_py()
            self.schema = _ask(connection, f"SELECT {self._list(list(self.declared))} FROM {table} LIMIT 0").schema
        super().__init__(address, list(self.declared), n)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        adbc = import_extra("adbc_driver_postgresql.dbapi", "sql", "PostgreSQL")
        try:
            with self._connect() as connection:
                yield connection
        except adbc.Error as error:
            raise DataError(
                f"{self._address} cannot be read: {str(error).strip()}", hint="Check the address, and who may read."
            ) from None

    def extras(self) -> Iterator[Extra]:
        """Levels of enumerations and comments; other tables of the database are not looked at."""
        with self._connected() as connection:
            said = _ask(connection, _SAID.format(table=self._table.replace("'", "''"))).to_pylist()
        for one in said:
            if one["level"] is not None:
                yield Extra(f"the levels of {one['name']}", one["level"], "value", one["name"])
            if one["comment"] is not None:
                yield Extra("the title of a column", one["comment"], "title")

    def _list(self, columns: list[str]) -> str:
        return ", ".join(f"{quoted(name)}{_cast(self.declared[name])} AS {quoted(name)}" for name in columns)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        schema = pa.schema([(name, self.schema.field(name).type) for name in columns])

        def pieces() -> Iterator[Any]:
            with self._connected() as connection, connection.cursor() as cursor:
                cursor.execute(f"SELECT {self._list(columns)} FROM {self._table}")
                for batch in cursor.fetch_record_batch():
                    whole = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                    yield from (whole.slice(start, rows) for start in range(0, whole.num_rows, rows))

        return pa.RecordBatchReader.from_batches(schema, pieces())


def _cast(declared: str) -> str:
    return "" if declared in _NATIVE else "::float8" if declared == "numeric" else "::text"


def _ask(connection: Any, query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetch_arrow_table()


def _name(address: Address) -> str:
    """The table, in its schema if one is named, as it stands in SQL."""
    return ".".join(map(quoted, address.table.split(".", 1)))


def _connecting(address: Address) -> Callable[[], Any]:
    adbc = import_extra("adbc_driver_postgresql.dbapi", "sql", "PostgreSQL")

    def connect() -> Any:
        try:
            return adbc.connect(address.connection)
        except adbc.Error as error:
            raise DataError(
                f"{address}: no connection: {str(error).strip()}", hint="Check the address and that the server runs."
            ) from None

    return connect


def _open(where: str, *, text: Text, safe_cells: bool) -> Source:
    address = Address.parse(where)
    return _PostgreSql(address, _connecting(address), _name(address))


def _write(
    batches: Batches, where: str, *, like: Source | None, force: bool, check: Callable[[Source], None] | None
) -> None:
    adbc = import_extra("adbc_driver_postgresql.dbapi", "sql", "PostgreSQL")
    address = Address.parse(where)
    try:
        with _connecting(address)() as connection, connection.cursor() as cursor:
            _fill(connection, cursor, batches, address, like, force, check)
            connection.commit()
    except (adbc.Error, OSError) as error:
        raise unchanged(address, error) from None


def _fill(
    connection: Any,
    cursor: Any,
    batches: Batches,
    address: Address,
    like: Source | None,
    force: bool,
    check: Callable[[Source], None] | None,
) -> None:
    """Fill a temporary table, cast it into a new one of the right types, and give that its name."""
    import pyarrow as pa

    batches = plain(batches)
    target = _name(address)
    if _ask(
        connection, f"SELECT 1 AS n WHERE to_regclass('{target.replace(chr(39), chr(39) * 2)}') IS NOT NULL"
    ).num_rows:
        if not force:
            raise exists(address)
        cursor.execute(f"DROP TABLE {target}")
    staged, name = temporary_name(), temporary_name()
    schema, table = target.rpartition(".")[0::2]
    place = f"{schema}.{quoted(name)}" if schema else quoted(name)
    sent = 0

    def counted() -> Iterator[Any]:
        nonlocal sent
        for batch in batches:
            sent += batch.num_rows
            yield batch

    cursor.adbc_ingest(
        staged, pa.RecordBatchReader.from_batches(batches.schema, counted()), mode="create", temporary=True
    )
    columns = ", ".join(f"{quoted(field.name)}{_back(field, like)} AS {quoted(field.name)}" for field in batches.schema)
    cursor.execute(f"CREATE TABLE {place} AS SELECT {columns} FROM {quoted(staged)}")
    found = _ask(connection, f"SELECT count(*) AS n FROM {place}")["n"][0].as_py()
    if found != sent:
        raise miscounted(address, sent, found)
    if check is not None:

        @contextmanager
        def inside() -> Iterator[Any]:  # the table is not yet there for others
            yield connection

        check(_PostgreSql(address, inside, place))
    cursor.execute(f"DROP TABLE {quoted(staged)}")
    cursor.execute(f"ALTER TABLE {place} RENAME TO {table}")


def _back(field: Any, like: Source | None) -> str:
    """The cast to the type that the column had, without its length, as longer values would be cut off silently."""
    if not isinstance(like, _PostgreSql) or field.name not in like.names:
        return ""
    if like.schema.field(field.name).type != field.type:
        return ""
    declared = like.declared[field.name]
    return "" if declared in _NATIVE or declared == "bpchar" else f"::text::{quoted(declared)}"


FORMAT = Format("postgresql", ("postgresql://", "postgres://"), lambda start: False, _open, _write)
