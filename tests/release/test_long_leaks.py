"""Leaks of tables of more than one chunk: found as in the whole table, and the same on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from release.planted import clean, with_leak
from taxomask.engines import Engine, Files, Memory, Scratch, Threads, read_coded
from taxomask.microdata.distinct import Distinct
from taxomask.microdata.frames import Frame
from taxomask.release import long_alone, long_chunks, long_leaks, protect_on
from taxomask.release.leaks import Terms
from taxomask.release.values import Kept, numbers_of, text_numbers

CHUNK = 190
N = 500
RNG = np.random.default_rng(3)
IDS = RNG.choice(90_000, N, replace=False) + 10_000
NAMES = [f"Name-{one:x}q" for one in IDS]


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", CHUNK)


def stopped(table: pa.Table, schema: tm.Schema, method: Any) -> str | None:
    try:
        tm.protect(table, schema, method, seed=1)
    except tm.PromiseError as error:
        return error.message
    return None


# --------------------------------------------------------------------------------------- random tables


@pytest.mark.parametrize("sample", [None, pytest.param(150, marks=pytest.mark.slow)])
def test_planted_leaks_are_found_in_chunks(
    short_chunks: None, monkeypatch: pytest.MonkeyPatch, sample: int | None
) -> None:
    if sample is not None:
        monkeypatch.setattr(long_leaks, "_LEAST_SAMPLE", sample)
    missed = []
    for number in range(14 if sample is None else 42):
        case = with_leak(number)
        message = stopped(case.table, case.schema, case.method)
        if message is None or not all(name in message for name in (*case.guilty, case.of)):
            missed.append((number, case.kind))
    assert len(missed) <= (0 if sample is None else 8), missed  # of 150 records a pair of columns tells less


def test_clean_tables_pass_in_chunks(short_chunks: None) -> None:
    messages = [stopped(case.table, case.schema, case.method) for case in map(clean, range(10))]
    assert messages == [None] * 10


# --------------------------------------------------------------------------------------- engines

SCHEMA = tm.Schema(
    [
        tm.Attribute("patient", role="identifier"),
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("rest", role="other"),
        tm.Attribute("ward", role="other"),
    ]
)


def table(rest: Any) -> pa.Table:
    rng = np.random.default_rng(6)
    return pa.table(
        {
            "patient": IDS,
            "name": NAMES,
            "age": rng.integers(18, 95, N),
            "rest": rest,
            "ward": pa.array(rng.choice(["a", "b", "", None, "c"], N).tolist()),
        }
    )


FEW_HITS = [f"seen {place % 7}" for place in range(N)]
for place in (3, 100, 200, 300, 400, 499):
    FEW_HITS[place] = f"file {IDS[place]} of today"
RESTS = {
    "nothing": (RNG.integers(0, 60, N).tolist(), None),
    "a few in texts": (FEW_HITS, "patient stands in rest in 1.2 % of the records"),
    "in another row": ([NAMES[(place * 7 + 3) % N].upper() for place in range(N)], "of the values of name stand in"),
    "+ c": ((IDS + 7).tolist(), "rest is patient with the same number added"),
    "one to one": ([f"{(one * 7919) % 100_003:x}zz" for one in IDS.tolist()], "rest goes one to one with patient"),
    "the age": ([f"about {age}" for age in np.random.default_rng(6).integers(18, 95, N).tolist()], "rest tells age"),
}


@pytest.mark.parametrize("name", RESTS)
@pytest.mark.parametrize("sample", [pytest.param(None, marks=pytest.mark.slow), 200])
def test_every_engine_says_the_same(
    short_chunks: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, sample: int | None
) -> None:
    if sample is not None:
        monkeypatch.setattr(long_leaks, "_LEAST_SAMPLE", sample)
    rest, found = RESTS[name]
    rows = table(rest)
    method = tm.Microaggregation(3, block_size=40)
    message = stopped(rows, SCHEMA, method)
    assert (message is None) == (found is None)
    if found is not None:
        assert found in str(message)
    check_from_files(tmp_path, rows, SCHEMA, method)


def check_from_files(folder: Path, rows: pa.Table, schema: tm.Schema, method: Any) -> None:
    """The checks of a release from files are those of the same in memory."""
    pq.write_table(rows, folder / "in.parquet")
    with Threads(1) as workers, Scratch.temporary(folder / "taxomask", large=1) as scratch:
        engine = Files(workers, scratch)
        release = protect_on(engine, read_coded(str(folder / "in.parquet"), schema, engine), method, seed=1)
        expected = protect_on(Memory(), release.original.of(rows, schema), method, seed=1)
        lazy = Frame.lazy(expected.data.column_names, N, _Rows(expected.data), typed=True)
        assert release.check(lazy).checks == expected.check(Frame(expected.data)).checks


class _Rows:
    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def __call__(self, name: str, some: range) -> pa.Table:
        return self.rows.select([name])[some.start : some.stop]


def test_what_was_looked_at_is_said(short_chunks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(RESTS["nothing"][0])
    whole = tm.protect(rows, SCHEMA, tm.Microaggregation(3), seed=1)
    assert not any("of 500 records" in one.found for one in whole.promise[:-1])
    monkeypatch.setattr(long_leaks, "_LEAST_SAMPLE", 200)
    monkeypatch.setattr(long_chunks, "_VALUES", 16)
    found = {one.promise: one.found for one in tm.protect(rows, SCHEMA, tm.Microaggregation(3), seed=1).promise}
    assert "numbers added or multiplied were looked for in 200 of 500 records" in found[tm.release.leaks.NO_IDENTIFIER]
    assert found[tm.release.leaks.NO_TWIN].endswith("looked at 200 of 500 records")
    assert found["who stands alone"].startswith("about, by one of 2 combinations of values: alone by")


def test_a_value_that_is_new_in_the_last_chunk_is_found(short_chunks: None) -> None:
    rows = table(["x"] * (N - 1) + ["y"])
    release = tm.protect(rows, SCHEMA, tm.Microaggregation(3), seed=1)
    changed = [*release.data["rest"].to_pylist()[:-1], NAMES[4].lower()]
    place = release.data.column_names.index("rest")
    with pytest.raises(tm.PromiseError, match="1 of the values of name stand in rest, and did not before"):
        release.verify(release.data.set_column(place, "rest", pa.array(changed)))


@pytest.mark.parametrize("sample", [None, 100])
def test_who_is_alone_is_counted_for_sure_where_there_is_a_limit(
    short_chunks: None, monkeypatch: pytest.MonkeyPatch, sample: int | None
) -> None:
    if sample is not None:
        monkeypatch.setattr(long_leaks, "_LEAST_SAMPLE", sample)
    rest = [place // 2 if place < 400 else place for place in range(N)]  # 100 of 500 by rest alone
    rows = table(rest).drop(["ward"])
    schema = tm.Schema([one for name, one in SCHEMA.items() if name != "ward"])
    data = tm.Microdata.from_frame(rows, schema)
    for limit, holds in ((0.2, True), (0.199, False)):
        release = protect_on(Memory(), data, tm.Microaggregation(3), seed=1, terms=Terms(singled_out=limit))
        checks = {one.promise: one for one in release.check(Frame(release.data)).checks}
        (one,) = [check for promise, check in checks.items() if "are alone by the columns" in promise]
        assert one.holds == holds, one


def visits(rest: list[Any]) -> tuple[pa.Table, tm.Schema]:
    """The same of people of one to many records, some of whom name nobody."""
    who = np.minimum(np.random.default_rng(7).geometric(0.02, N), 120)
    rows = table(rest)
    names = pa.array([None if one == 5 else f"P{one}" for one in who.tolist()])
    place = rows.column_names.index("name")
    rows = rows.set_column(place, "name", names)
    return rows, SCHEMA.of(SCHEMA.values(), person="name")


@pytest.mark.parametrize("least", [None, 120])
def test_people_who_are_alone_are_counted_in_chunks(monkeypatch: pytest.MonkeyPatch, least: int | None) -> None:
    rows, schema = visits([place // 2 if place < 400 else place for place in range(N)])
    method = tm.Microaggregation(3)
    whole = {one.promise: one.found for one in tm.protect(rows, schema, method, seed=1).promise}
    monkeypatch.setattr(Engine, "chunk", CHUNK)
    if least is not None:
        monkeypatch.setattr(long_alone, "_LEAST", least)
    found = {one.promise: one.found for one in tm.protect(rows, schema, method, seed=1).promise}
    if least is None:
        assert found["who stands alone"] == whole["who stands alone"]
    else:
        assert found["who stands alone"].startswith("about, by one of 4 people: alone by")
    data = tm.Microdata.from_frame(rows, schema)
    assert data.units is not None
    alone = len({who for who, value in zip(data.units.tolist(), rows["rest"].to_pylist(), strict=True) if value >= 400})
    for limit, holds in ((1.0, True), (alone / 2 / len(set(data.units.tolist())), False)):
        release = protect_on(Memory(), data, method, seed=1, terms=Terms(singled_out=limit))
        (one,) = [
            check for check in release.check(Frame(release.data)).checks if "are alone by the columns" in check.promise
        ]
        assert one.holds == holds, one


@pytest.mark.parametrize("name", RESTS)
def test_what_tells_an_identifier_of_people_is_found_in_chunks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    rows, schema = visits(RESTS[name][0])
    method = tm.Microaggregation(3, block_size=40)

    def said() -> str | None:
        return stopped(rows, schema, method)

    whole = said()
    monkeypatch.setattr(Engine, "chunk", CHUNK)
    found = said()
    assert (found is None) == (whole is None)
    check_from_files(tmp_path, rows, schema, method)


# --------------------------------------------------------------------------------------- values


def test_values_that_are_kept_are_kept_with_all_their_records() -> None:
    rng = np.random.default_rng(1)
    values = pa.array(rng.integers(0, 3000, 20_000))
    distinct = Distinct.from_arrow(values)
    numbers = numbers_of(distinct, distinct._values, np.zeros(distinct.size, bool))
    every = Kept.of(numbers, 1.0)
    assert every.size == len(np.unique(values))
    some = Kept.of(numbers[:7000], 0.25).with_(Kept.of(numbers[7000:], 0.25))
    assert some.size == pytest.approx(every.size, rel=0.1)
    counts = dict(zip(every.values.tolist(), every.counts.tolist(), strict=True))
    assert all(counts[value] == count for value, count in zip(some.values.tolist(), some.counts.tolist(), strict=True))
    thin = every.thinned(0.25)
    assert thin.values.tolist() == some.values.tolist()


def test_texts_have_different_numbers_whatever_their_chunk() -> None:
    texts = ["", "a", "b", "ab", "ba", "a" * 300, "a" * 301, "ä", "aa"]
    numbers = text_numbers(pa.array(texts, pa.large_string()))
    assert len(set(numbers.tolist())) == len(texts)
    sliced = text_numbers(pa.array(["zz", *texts, "y"], pa.large_string())[1:-1])
    assert sliced.tolist() == numbers.tolist()
    assert text_numbers(pa.array([None], pa.large_string())).tolist() == numbers[:1].tolist()
