"""Tables of several chunks: read, coded, hashed, put in order, written and read back chunk by chunk, as in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, all_sorts, hashes, on_engine, outcome
from taxomask.engines import DaskCluster, Engine, Files, Memory, Pieces, Scratch, Threads, read_coded
from taxomask.errors import DataError, EngineError, PlanError
from taxomask.methods import Masked
from taxomask.methods._kept import MissingStays
from taxomask.methods._runs import Runs, runs_of
from taxomask.methods.promises import KAnonymity, Permutation
from taxomask.microdata import Attribute, CategoricalColumn, Microdata, Schema
from taxomask.microdata.distinct import Distinct
from taxomask.microdata.files import Extra, open_table, read_table
from taxomask.microdata.frames import Frame
from taxomask.partition import blocks
from taxomask.release import checks, protect_on, written
from taxomask.release.released import Released, orders_on, restored_on, row_order
from taxomask.release.residue import residue_check

CHUNK = 50  # of 240 rows, 237 of which are records


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", CHUNK)


# --------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("group", [7, 64, 240])
@pytest.mark.parametrize("trusted", [True, False])
def test_some_rows_of_a_file(tmp_path: Path, group: int, trusted: bool) -> None:
    table = all_sorts()
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=group)
    source = open_table(tmp_path / "in.parquet", trusted=trusted)
    for start, stop in [(0, 240), (0, 0), (3, 4), (60, 70), (239, 240), (6, 8)]:
        assert source.read_rows(["dx", "age"], start, stop).equals(
            table.select(["dx", "age"]).slice(start, stop - start)
        )


def test_rows_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    pq.write_table(all_sorts(), tmp_path / "in.parquet")
    with pytest.raises(DataError, match="rows 236 to 245 are not there"):
        open_table(tmp_path / "in.parquet").read_rows(["age"], 235, 245)


def test_some_rows_of_a_folder_are_of_the_types_of_all_files(tmp_path: Path) -> None:
    for number, values in enumerate(([1, 2, 3], [4.5], [5, 6])):
        pq.write_table(pa.table({"a": values}), tmp_path / f"{number}.parquet")
    source = open_table(tmp_path)
    assert source.read_rows(["a"], 2, 5)["a"].to_pylist() == [3.0, 4.5, 5.0]
    assert source.read_rows(["a"], 0, 2)["a"].type == pa.float64()
    assert source.read_rows(["a"], 1, 1).num_rows == 0


def test_a_part_of_a_frame_of_any_kind() -> None:
    table = all_sorts()
    for native in (table, table.to_pandas().set_index(np.arange(240.0) / 3)):
        part = Frame(native).part(235, 250)
        assert part.n == len(part) == 5
        assert set(part.distinct("dx").values) == {one for one in table["dx"].to_pylist()[235:] if one}
        assert part.objects("remark") == Frame(native).objects("remark")[235:]


def test_a_table_that_is_read_again_from_the_same_place_is_the_new_one(local: Threads, tmp_path: Path) -> None:
    schema, path = Schema([Attribute("a", kind="continuous", role="other")]), tmp_path / "in.parquet"
    for n in (120, 70):
        pq.write_table(pa.table({"a": np.arange(n) * 1.5}), path)
        with Scratch.temporary(tmp_path / "taxomask") as scratch:
            data = read_coded(str(path), schema, Files(local, scratch))
            assert data.continuous("a").values.tolist() == (np.arange(n) * 1.5).tolist()


# --------------------------------------------------------------------------------------- coding


def same_column(a: Any, b: Any) -> bool:
    categories = not isinstance(a, CategoricalColumn) or a.categories == b.categories
    return categories and a.cells.dtype == b.cells.dtype and bool(np.array_equal(a.cells, b.cells, equal_nan=True))


@pytest.mark.parametrize("large", [1, 1 << 16])
def test_columns_are_coded_as_in_memory(local: Threads, parquet: Path, tmp_path: Path, large: int) -> None:
    whole = Microdata.from_frame(read_table(parquet), SCHEMA)
    with Scratch.temporary(tmp_path / "taxomask", large=large) as scratch:
        data = read_coded(str(parquet), SCHEMA, Files(local, scratch))
        assert data.notes == whole.notes
        assert data._markers == whole._markers
        assert data.rows.tolist() == whole.rows.tolist()
        for name, column in whole.columns.items():
            assert same_column(data.columns[name], column), name


def test_distinct_values_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(4)
    values = pa.array(rng.choice(["b", "a", "d", "", None, "c"], 300).tolist())
    whole = Distinct.from_arrow(values)
    parts = [Distinct.from_arrow(values[start : start + 7]) for start in range(0, 300, 7)]
    found, numbers = Distinct.together([part.outline(7 * place) for place, part in enumerate(parts)])
    assert found.values == whole.values
    assert found.counts.tolist() == whole.counts.tolist()
    assert found.first_rows.tolist() == whole.first_rows.tolist()
    assert found.empty == whole.empty == values.null_count
    codes = [np.append(number, -1)[part.codes] for number, part in zip(numbers, parts, strict=True)]
    assert np.concatenate(codes).tolist() == whole.codes.tolist()


@pytest.mark.parametrize(
    ("column", "attribute", "said"),
    [
        ([*(["1.5"] * 130), "x1", *(["2"] * 20)], {"kind": "continuous"}, "row 131: 'x1' is not a number"),
        ([*([1.5] * 130), float("inf")], {"kind": "continuous"}, "row 131: inf is not a finite number"),
        ([*(["a"] * 130), "b"], {"kind": "ordinal", "order": ["a", "c"]}, "'b': 1 time, first in row 131"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(
    local: Threads, tmp_path: Path, column: list[Any], attribute: dict[str, Any], said: str
) -> None:
    pq.write_table(pa.table({"a": column}), tmp_path / "in.parquet")
    schema = Schema([Attribute("a", role="quasi_identifier", **attribute)])
    with (
        Scratch.temporary(tmp_path / "taxomask") as scratch,
        pytest.raises(DataError, match=said),
    ):
        read_coded(str(tmp_path / "in.parquet"), schema, Files(local, scratch))


# --------------------------------------------------------------------------------------- the order of rows


def test_the_order_of_rows_is_drawn_in_chunks_on_every_engine(local: Threads, tmp_path: Path) -> None:
    expected = row_order("draws", 237)
    assert sorted(expected.tolist()) == list(range(237))
    assert expected.tolist() != row_order("draws", 237, in_chunks=False).tolist()
    assert row_order("draws", CHUNK).tolist() == row_order("draws", CHUNK, in_chunks=False).tolist()
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for engine in (Memory(), Files(local, scratch)):
            orders = orders_on(engine, "draws", 237)
            assert orders.order is not None
            assert orders.places is not None
            assert orders.order.tolist() == expected.tolist()
            assert orders.places[orders.order].tolist() == list(range(237))


def named(values: list[Any], name: str) -> tuple[None, pa.Table]:
    return None, pa.table({name: values})


def test_a_part_of_what_was_read_back_names_the_pieces_of_its_own_rows(local: Threads, tmp_path: Path) -> None:
    """Or messages, and the time to open what they name, would grow with the square of the length of the table."""
    table = pa.table({"a": np.arange(237), "b": [f"{row % 5}" for row in range(237)]})
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        orders = orders_on(engine, "draws", 237)
        columns = {}
        for name in table.column_names:
            items = [(table[name][start:stop].to_pylist(), name) for start, stop in engine.parts(237)]
            columns[name] = Released(None, engine.rearrange(named, items, orders.places, "moving")[1])
        frame = restored_on(engine, columns, orders, 237)
        assert frame.arrow("b").to_pylist() == table["b"].to_pylist()
        part = frame.part(60, 130).part(30, 50)  # rows 90 to 110: of two chunks of five
        assert part.arrow("a").to_pylist() == list(range(90, 110))
        one, whole = scratch.pack([part, frame], "given")
        assert [message.count(b".arrow") for message in (one, whole)] == [2 * 2, 2 * 5]


def test_rows_of_any_type_go_to_their_places(local: Threads, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    places = rng.permutation(237)
    columns = [
        pa.array([[1, None], None, []] * 79),
        pa.array(rng.choice(["x", "y", None], 237).tolist()).dictionary_encode(),
        pa.array([f"{value}" for value in rng.integers(0, 9, 237)]),
    ]
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for engine in (Memory(), Files(local, scratch)):
            for column in columns:
                items = [(column[start:stop].to_pylist(), start) for start, stop in engine.parts(237)]
                told, moved = engine.rearrange(as_text, items, places, "moving")
                assert told == [start for start, _ in engine.parts(237)]
                back = moved.column().to_pylist()
                assert [back[place] for place in places] == column.to_pylist()
                assert moved.part(40, 130).column().to_pylist() == back[40:130]
                assert len(moved.part(237, 400)) == 0
        with pytest.raises(EngineError, match="same place"):
            engine.rearrange(as_text, items, np.zeros(237, dtype=np.int64), "moving")


def as_text(values: list[Any], start: int) -> tuple[int, pa.Table]:
    """Every other chunk as codes and categories, where that can be."""
    array = pa.array(values)
    return start, pa.table(
        {"a": array.dictionary_encode() if start % 100 and pa.types.is_string(array.type) else array}
    )


def test_pieces_of_different_forms_are_one_column() -> None:
    pieces = Pieces.of([pa.table({"a": ["x", "y"]}), pa.table({"a": pa.array(["z", "z"]).dictionary_encode()})])
    assert pieces.column().to_pylist() == ["x", "y", "z", "z"]


# --------------------------------------------------------------------------------------- writing

NOISE = "noise, which makes fractions of whole numbers"
METHODS = {
    NOISE: tm.Noise(attributes=["age", "pay", "weight"]),
    "codes and dictionaries": tm.Pram(keep=0.6),
    "a number in text, a date": tm.NumericalSwapping(p=20, attributes=["weight", "born"]),
}
CASES = [(NOISE, "out.parquet"), (NOISE, "out.csv"), (NOISE, "out.csv/"), *((name, "out/") for name in METHODS)]


@pytest.mark.parametrize(("method", "target"), CASES)
def test_files_are_those_of_memory(
    local: Threads, parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, target: str
) -> None:
    monkeypatch.setattr(written, "PART", 70)
    for name in ("memory", "local"):
        (tmp_path / name).mkdir()
    end = "/" if target.endswith("/") else ""
    release = protect_on(Memory(), Microdata.from_frame(read_table(parquet), SCHEMA), METHODS[method], seed=SEED)
    expected = outcome(release, f"{tmp_path / 'memory' / target}{end}")
    found = on_engine(local, parquet, METHODS[method], f"{tmp_path / 'local' / target}{end}", large=1)
    assert found.files == expected.files
    assert found.note == expected.note
    assert found.release.audit["sha256"] == release.audit["sha256"]
    assert found.release.promise == expected.release.promise


def test_a_column_is_widened_if_one_chunk_needs_it(local: Threads, tmp_path: Path) -> None:
    """Only the last record gets a fraction, or a number that 8 bits do not hold: the whole column is of that type."""
    n = 120
    table = pa.table({"a": pa.array([1] * n, pa.int8()), "b": pa.array([1] * n, pa.int8())})
    pq.write_table(table, tmp_path / "in.parquet")
    schema = Schema([Attribute(name, role="confidential", kind="continuous") for name in "ab"])
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        data = read_coded(str(tmp_path / "in.parquet"), schema, engine)
        last = np.append(np.ones(n - 1), [1.5])
        more = np.append(np.ones(n - 1), [1000.0])
        changed = data.replace(a=data.continuous("a").with_values(last), b=data.continuous("b").with_values(more))
        columns = written.decoded_on(engine, changed, ["a", "b"], orders_on(engine, "draws", n))
        assert [columns[name].field.type for name in "ab"] == [pa.float64(), pa.int64()]
        assert sorted(columns["a"].values.column().to_pylist())[-2:] == [1.0, 1.5]
        assert columns["b"].values.column().type == pa.int64()


def test_the_audit_says_how_rows_were_put_in_order(local: Threads, parquet: Path, tmp_path: Path) -> None:
    done = on_engine(local, parquet, tm.Pram(keep=0.6), tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.audit.json").read_text())["rows"] == "shuffled in chunks"
    assert hashes(done.tables) == done.files


# --------------------------------------------------------------------------------------- checks


@dataclass(frozen=True)
class Rows:
    """Reads some rows of a table in memory."""

    table: pa.Table

    def __call__(self, name: str, rows: range) -> pa.Table:
        return self.table.select([name])[rows.start : rows.stop]


def test_checks_in_chunks_find_what_checks_of_the_whole_find(local: Threads, parquet: Path, tmp_path: Path) -> None:
    """On what a permutation left, and on tables in which one cell, or what is missing, is not as promised."""
    schema = Schema([one for name, one in SCHEMA.items() if name not in ("id", "remark", "dx")])
    table = read_table(parquet).select(list(schema))
    rng = np.random.default_rng(1)
    permuted = table.take(rng.permutation(240))
    one_more = permuted.set_column(0, "age", pa.array([*permuted["age"].to_pylist()[:-1], 17], pa.int16()))
    other = [*permuted["job"].to_pylist()[:-1], "baker"]
    new_category = permuted.set_column(permuted.column_names.index("job"), "job", pa.array(other))
    names = tuple(schema)
    promises = [
        Permutation(names, missing_move=True),
        Permutation(names),
        MissingStays(names),
        KAnonymity(2, ("sex",)),
        KAnonymity(2, names),
    ]
    original = Microdata.from_frame(table, schema)
    masked = Masked(original)
    seen = set()
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        for released in (table, permuted, one_more, new_category):
            frame = Frame.lazy(released.column_names, 240, Rows(released), typed=True)
            for promise in promises:
                expected = promise.check(original, Frame(released), masked)
                assert promise.check_on(engine, original, frame, masked) == expected
                seen.add((type(promise), expected.holds))
            whole = checks._changed_on(Memory(), original, Frame(released), names)
            assert checks._changed_on(engine, original, frame, names) == whole
    assert len(seen) == 6  # each promise was kept once, and broken once


def test_decimals_and_what_is_missing_are_found_in_chunks(local: Threads, tmp_path: Path) -> None:
    """Only the last chunk has a third decimal, and a number at its limit; two records are alone by what is missing."""
    n = 160
    rng = np.random.default_rng(2)
    ages = [*(rng.integers(20, 90, n - 1) / 10).tolist(), 3.125]
    pay: list[float | None] = rng.gamma(2, 500, n).round(2).tolist()
    size: list[float | None] = rng.normal(10, 1, n).round(1).tolist()
    pay[3] = pay[151] = size[151] = None
    table = pa.table({"age": ages, "pay": pay, "size": size, "day": pa.array(np.arange(n) * 86_400, pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "in.parquet")
    table = read_table(tmp_path / "in.parquet")
    roles = {"age": "quasi_identifier", "pay": "quasi_identifier", "size": "other", "day": "quasi_identifier"}
    schema = Schema([Attribute(name, role=role, kind="continuous") for name, role in roles.items()])
    for method in (tm.Noise(), tm.MultiplicativeNoise(attributes=["age", "pay"]), tm.MicroHybrid(3, block_size=40)):
        expected = tm.protect(table, schema, method, seed=4)
        assert "finds 2 of 160 records by that alone" in str(expected.promise)
        decimals = {len(f"{value}".partition(".")[2]) for value in expected.data["age"].to_pylist()}
        assert max(decimals) == (3 if isinstance(method, tm.MicroHybrid) else 5)  # which draws from the table
        with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
            engine = Files(local, scratch)
            release = protect_on(engine, read_coded(str(tmp_path / "in.parquet"), schema, engine), method, seed=4)
            assert release.audit["sha256"] == expected.audit["sha256"]
            assert release.check(Frame(expected.data)).checks == expected.promise


def test_residue_is_looked_for_in_every_chunk(local: Threads, tmp_path: Path) -> None:
    """A name in a description that is a value of the last record only; a statistic that no cell has."""
    n = 130
    table = pa.table({"name": [*(f"nobody {i}" for i in range(n - 1)), "hermine"], "a": [1.5] * n, "b": [7] * n})
    pq.write_table(table, tmp_path / "in.parquet")
    schema = Schema([Attribute("name", role="identifier"), Attribute("a", role="other"), Attribute("b", role="other")])
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        data = read_coded(str(tmp_path / "in.parquet"), schema, engine)
        released = table.drop(["name"]).set_column(0, "a", pa.array([1.5] * (n - 1) + [2.5]))
        frame = Frame.lazy(released.column_names, n, Rows(released), typed=True)
        cases: list[tuple[list[Extra], bool]] = [
            ([Extra("the title", "for Hermine, with love", "said")], False),
            ([Extra("the title", "for nobody at all", "said")], True),
            ([Extra("max of a", "2.5", "value", "a"), Extra("max of b", "7", "value", "b")], True),
            ([Extra("max of a", "3.5", "value", "a")], False),
            ([Extra("max of b", "8", "value", "b")], False),
        ]
        for extras, holds in cases:
            back = Beside(extras)
            found = residue_check(engine, data, frame, back, None)  # type: ignore[arg-type]
            assert found == residue_check(Memory(), data, Frame(released), back, None)  # type: ignore[arg-type]
            assert found.holds == holds, extras


@dataclass
class Beside:
    """A file with something beside its cells."""

    found: list[Extra]
    names: tuple[str, ...] = ("a", "b")
    beside: tuple[str, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)

    def extras(self) -> list[Extra]:
        return self.found


@pytest.mark.parametrize("ends", [(1, 1, 2, 3, 3), (1, 2), (5,), (5, 5), (1, 2, 2, 3), (1, 1, 1, 2)])
def test_keys_that_stand_once_are_counted_whatever_the_chunks(ends: tuple[int, ...]) -> None:
    keys = np.array(ends)
    expected = sum(list(ends).count(key) == 1 for key in ends)
    for size in range(1, len(keys) + 1):
        parts = [runs_of(keys[start : start + size]) for start in range(0, len(keys), size)]
        assert reduce(Runs.then, parts).alone == expected


@pytest.mark.parametrize("method", [tm.Microaggregation(3), tm.MicroHybrid(3), tm.GroupPermutation(3)])
def test_a_table_too_long_for_one_piece_needs_blocks(monkeypatch: pytest.MonkeyPatch, method: Any) -> None:
    monkeypatch.setattr(blocks, "MOST", 230)
    with pytest.raises(PlanError, match="all records at once, which can be done with 230; the table has 237") as error:
        tm.protect(all_sorts(), SCHEMA, method)
    assert "block_size" in str(error.value.hint)
    monkeypatch.setattr(blocks, "MOST", 237)
    blocks.check_in_one_piece(237, "it")


@pytest.mark.slow
@pytest.mark.parametrize("method", [METHODS[NOISE], tm.Microaggregation(3, block_size=40)])
def test_a_cluster_writes_the_same_files(
    two_workers: DaskCluster, parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Any
) -> None:
    monkeypatch.setattr(written, "PART", 70)
    release = protect_on(Memory(), Microdata.from_frame(read_table(parquet), SCHEMA), method, seed=SEED)
    (tmp_path / "memory").mkdir()
    expected = outcome(release, f"{tmp_path / 'memory' / 'out'}/")
    found = on_engine(two_workers, parquet, method, f"{tmp_path / 'out'}/", large=1)
    assert found.files == expected.files
    assert found.release.audit["sha256"] == release.audit["sha256"]
