"""SQLite and a real PostgreSQL."""

from __future__ import annotations

import datetime as dt
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from taxomask.errors import DataError
from taxomask.microdata.files import Source, open_table, read_table, write_table

TABLE = pa.table({"age": [30, None, 41], "share": [0.1, 34.333333333333336, None], 'd"x': ["038", "", None]})


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """From the name of a table to its address, in a database of each kind."""
    if request.param == "sqlite":
        yield lambda table: f"sqlite:///{tmp_path}/register.db?table={table}"
        return
    base = request.getfixturevalue("postgresql")
    sql(base, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS "we ird" CASCADE')
    yield lambda table: f"{base}&table={table}"


def sql(base: str, statements: str) -> Any:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(base, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements.split(";"):
            cursor.execute(statement)
        return cursor.fetch_arrow_table().to_pylist()


def tables(base: str) -> list[str]:
    found = sql(base, "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relname NOT LIKE 'pg_%' "
                "AND relname NOT LIKE 'sql_%' ORDER BY 1")  # fmt: skip
    return [row["name"] for row in found]


def test_values_come_back(address: Callable[[str], str]) -> None:
    write_table(TABLE, address("stays"))
    source = open_table(address("stays"))
    assert (source.n, source.names) == (3, tuple(TABLE.column_names))
    assert source.read().equals(TABLE)
    assert source.read(['d"x', "age"]).equals(TABLE.select(['d"x', "age"]))
    assert [batch.num_rows for batch in source.batches(2)] == [2, 1]
    write_table(source.batches(2), address("copy"), like=source)
    assert read_table(address("copy")).equals(TABLE)
    with pytest.raises(DataError, match=r"there is no column 'agee'.\nDid you mean 'age'"):
        source.read(["agee"])


def test_what_exists_is_overwritten_only_by_force(address: Callable[[str], str]) -> None:
    write_table(TABLE, address("stays"))
    with pytest.raises(DataError, match=r"table=stays exists already.\nChoose another name"):
        write_table(TABLE.slice(1), address("stays"))
    assert read_table(address("stays")).num_rows == 3
    write_table(TABLE.slice(1), address("stays"), force=True)
    assert read_table(address("stays")).equals(TABLE.slice(1))


def test_a_table_that_is_gone(address: Callable[[str], str]) -> None:
    write_table(TABLE, address("stays"))
    with pytest.raises(DataError, match=r"table=stay: there is no such table.\nDid you mean 'stays'"):
        open_table(address("stay"))
    source = open_table(address("stays"))
    write_table(TABLE.rename_columns(["a", "b", "c"]), address("stays"), force=True)
    with pytest.raises(DataError, match="cannot be read"):
        source.read()


def test_a_check_that_fails_changes_nothing(address: Callable[[str], str]) -> None:
    write_table(TABLE, address("stays"))
    seen = []

    def check(written: Source) -> None:
        seen.append(written.read().num_rows)
        raise DataError("not good enough.")

    for table in ("stays", "new"):
        with pytest.raises(DataError, match="not good enough"):
            write_table(TABLE.slice(2), address(table), force=True, check=check)
    assert seen == [1, 1]
    assert read_table(address("stays")).equals(TABLE)
    with pytest.raises(DataError, match="there is no such table"):
        open_table(address("new"))
    write_table(TABLE.slice(2), address("stays"), force=True, check=lambda written: seen.append(written.n))
    assert seen == [1, 1, 1]


def test_batches_that_break_off_change_nothing(address: Callable[[str], str]) -> None:
    write_table(TABLE, address("stays"))

    def pieces() -> Iterator[Any]:
        yield TABLE.to_batches()[0]
        raise OSError("the other disk is gone")

    with pytest.raises((DataError, OSError), match="the other disk is gone"):
        write_table(pa.RecordBatchReader.from_batches(TABLE.schema, pieces()), address("stays"), force=True)
    assert read_table(address("stays")).equals(TABLE)


def test_no_rows_and_all_types(address: Callable[[str], str]) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", None]).dictionary_encode(),
            "day": [dt.date(2020, 1, 2), None],
            "stamp": [dt.datetime(2020, 1, 2, 3, 4, 5), None],
            "yes": [True, None],
            "small": pa.array([1, None], pa.int8()),
            "nothing": pa.nulls(2),
            "coded": pa.array([7, None]).dictionary_encode(),
            "long": pa.array(["x", None], pa.large_string()),
        }
    )
    write_table(table, address("types"))
    found = [str(value) for value in read_table(address("types")).slice(0, 1).to_pylist()[0].values()]
    assert found[:3] == ["a", "2020-01-02", "2020-01-02 03:04:05"]
    assert found[3] in ("True", "1")
    assert read_table(address("types")).select(["coded", "long"]).to_pydict() == {
        "coded": [7, None],
        "long": ["x", None],
    }
    write_table(table.slice(0, 0), address("empty"))
    assert read_table(address("empty")).num_rows == 0
    with pytest.raises(DataError, match="but no rows"):
        open_table(address("empty")).read()


def test_addresses_without_a_table() -> None:
    for where in ("sqlite:///a.db", "postgresql://ann:secret@host/db?table="):
        with pytest.raises(DataError, match="names no table") as caught:
            open_table(where)
        assert "secret" not in str(caught.value)


# --------------------------------------------------------------------------------------- SQLite


def test_sqlite_finds_types_from_values(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (a INTEGER, b VARCHAR(3), c, d NUMERIC, e)")
        database.execute("INSERT INTO t VALUES (1, '038', 1, 1.5, NULL), (2, '1', 'x', 2, NULL)")
    source = open_table(f"sqlite:///{path}?table=t")
    assert source.read().to_pydict() == {
        "a": [1, 2],
        "b": ["038", "1"],
        "c": ["1", "x"],
        "d": [1.5, 2.0],
        "e": [None] * 2,
    }
    write_table(source.read(), f"sqlite:///{path}?table=u", like=source)
    with closing(sqlite3.connect(path)) as database:
        found = [row[2] for row in database.execute("PRAGMA table_info(u)")]
    assert found == ["INTEGER", "VARCHAR(3)", "", "NUMERIC", ""]


def test_sqlite_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.db\?table=t: there is no such file"):
        open_table(f"sqlite:///{tmp_path}/a.db?table=t")
    (tmp_path / "junk.db").write_bytes(b"junk" * 1000)
    with pytest.raises(DataError, match="file is not a database"):
        open_table(f"sqlite:///{tmp_path}/junk.db?table=t")
    write_table(TABLE, f"sqlite:///{tmp_path}/new.db?table=t")
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600
    with pytest.raises(DataError, match=r"none/a\.db: there is no such folder"):
        write_table(TABLE, f"sqlite:///{tmp_path}/none/a.db?table=t")


def test_a_killed_writer_leaves_sqlite_as_it_was(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/a.db?table=stays"
    write_table(TABLE, where)
    program = f"""
import os, signal, pyarrow as pa
from taxomask.microdata.files import write_table
batch = pa.RecordBatch.from_pydict({{"a": ["x" * 1000] * 1000}})
def pieces():
    for number in range(20):
        yield batch
    os.kill(os.getpid(), signal.SIGKILL)
write_table(pa.RecordBatchReader.from_batches(batch.schema, pieces()), {where!r}, force=True)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "a.db").stat().st_size > 100_000  # it had begun
    assert read_table(where).equals(TABLE)
    write_table(TABLE.slice(1), where, force=True)
    assert read_table(where).equals(TABLE.slice(1))


# --------------------------------------------------------------------------------------- PostgreSQL

KINDS = """
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE SCHEMA "we ird";
CREATE TABLE "we ird"."Stays" (a int2, b int4, c int8, d real, e float8, f numeric(10,2), g text, h varchar(5),
    i char(4), j date, k timestamp, l timestamptz, m time, n bool, o uuid, p jsonb, q int[], r interval, s mood);
INSERT INTO "we ird"."Stays" VALUES (1, 2, 3, 4.5, 5.5, 6.75, 'x', '038', 'ab', '2020-01-02', '2020-01-02 03:04:05',
    '2020-01-02 03:04:05+02', '01:02:03', true, '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{1,2}', '1 day',
    'happy'), (NULL)
"""


def test_postgresql_types_are_kept(postgresql: str) -> None:
    sql(postgresql, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    sql(postgresql, KINDS.replace("(NULL)", f"({', '.join(['NULL'] * 19)})"))
    source = open_table(f"{postgresql}&table=we%20ird.Stays")
    first, second = source.read().to_pylist()
    assert [first[name] for name in "abcdefghi"] == [1, 2, 3, 4.5, 5.5, 6.75, "x", "038", "ab"]
    assert first["j"] == dt.date(2020, 1, 2)
    assert [first[name] for name in "opqrs"] == [
        "00000000-0000-0000-0000-000000000001", '{"a": 1}', "{1,2}", "1 day", "happy",
    ]  # fmt: skip
    assert set(second.values()) == {None}
    write_table(source.read(), f"{postgresql}&table=we%20ird.copy", like=source)
    types = (
        "SELECT data_type::text AS kind FROM information_schema.columns WHERE table_name = '{}' ORDER BY column_name"
    )
    before, after = (sql(postgresql, types.format(name)) for name in ("Stays", "copy"))
    as_text = ("character", "USER-DEFINED")  # an enumeration lists values that may be gone
    assert [row["kind"] for row in after] == ["text" if row["kind"] in as_text else row["kind"] for row in before]
    assert open_table(f"{postgresql}&table=we%20ird.copy").read().equals(source.read())
    longer = pa.table({"h": ["a longer text"], "f": [1 / 3], "b": [2.5]})  # no longer of the type that it had
    write_table(longer, f"{postgresql}&table=masked", like=source)
    assert read_table(f"{postgresql}&table=masked").equals(longer)


def test_a_connection_lost_in_mid_write_changes_nothing(postgresql: str) -> None:
    sql(postgresql, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    where = f"{postgresql}&table=stays"
    write_table(TABLE, where)
    before = tables(postgresql)
    big = pa.RecordBatch.from_pydict({"a": list(range(200_000))})

    def pieces() -> Iterator[Any]:
        yield big
        killed = sql(postgresql, "SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity "
                     "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")  # fmt: skip
        assert killed == [{"gone": True}]
        for _ in range(20):
            yield big

    with pytest.raises(DataError, match=r"(?s)table=stays cannot be written: .*\nNothing was changed in the database"):
        write_table(pa.RecordBatchReader.from_batches(big.schema, pieces()), where, force=True)
    assert read_table(where).equals(TABLE)
    assert tables(postgresql) == before


def test_postgresql_errors_hide_the_password(postgresql: str) -> None:
    for where in (
        postgresql.replace("/postgres?", "/nope?").replace("tester@", "tester:secret@") + "&table=t",
        "postgresql://ann:secret@localhost:1/db?table=t",
    ):
        for work in (open_table, lambda where: write_table(TABLE, where)):
            with pytest.raises(DataError, match="no connection") as caught:
                work(where)
            assert "secret" not in str(caught.value)


def test_other_things_depend_on_the_table(postgresql: str) -> None:
    sql(postgresql, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    where = f"{postgresql}&table=stays"
    write_table(TABLE, where)
    sql(postgresql, "CREATE VIEW old AS SELECT age FROM stays")
    with pytest.raises(DataError, match="other objects depend on it"):
        write_table(TABLE.slice(1), where, force=True)
    assert read_table(where).equals(TABLE)
    assert read_table(f"{postgresql}&table=old").to_pydict() == {"age": [30, None, 41]}
