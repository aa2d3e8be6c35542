"""Methods and checks that look at tables of several chunks in chunks or parts: as in memory, and as they promise."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taxomask as tm
from engines.conftest import SCHEMA, SEED, on_engine, outcome
from engines.test_methods import BLOCKS, NUMBERS, UNLINKED
from taxomask.engines import Engine, Files, Memory, Scratch, Threads, read_coded
from taxomask.errors import EngineError
from taxomask.methods import Masked
from taxomask.methods._by_value import different_on
from taxomask.methods._joint_moments import Joint
from taxomask.methods._parts import Parts
from taxomask.methods.base import Method
from taxomask.methods.multiplicative_noise import KeptSigns
from taxomask.methods.pram import OnlySeen
from taxomask.methods.promises import KAnonymity, LDiversity, TCloseness
from taxomask.methods.recoding import AboveLevel
from taxomask.methods.reverse_mapping import _mixed_on
from taxomask.methods.rounding import _up_or_down_on
from taxomask.methods.top_bottom_coding import Bounds
from taxomask.microdata import Attribute, ContinuousColumn, Microdata, Schema
from taxomask.microdata.files import read_table
from taxomask.microdata.frames import Frame
from taxomask.release import protect_on

CHUNK = 50  # of 237 records
LONG: dict[str, Method] = {
    "MicroHybrid": tm.MicroHybrid(**BLOCKS),
    "MicroHybrid, domain": tm.MicroHybrid(**BLOCKS, candidates="domain", draw="uniform"),
    "MicroHybrid, moments": tm.MicroHybrid(**BLOCKS, synthesis="moments", attributes=(*NUMBERS, "dx", "sex")),
    "noise": tm.Noise(0.2, attributes=(*NUMBERS, "grade")),
    "noise, moments": tm.Noise(0.2, keep_moments=True, attributes=NUMBERS),
    "noise, correlated": tm.Noise(0.2, correlated=True, attributes=(*NUMBERS, "grade")),
    "noise, correlated, moments": tm.Noise(0.2, correlated=True, keep_moments=True, attributes=NUMBERS),
    "rounding": tm.Rounding({"age": 5, "income": 100, "weight": 2}, random=True),
    "recoding": tm.Recoding({"dx": 3}),
    "recoding by rules": tm.Recoding(
        rules={"age": {30: [None, 40]}, "sex": {"any": ["f", "m"]}, "grade": {"mid": ["low", "mid"]}}
    ),
    "top and bottom": tm.TopBottomCoding(bottom=5, top={"age": 90, "weight": 80}),
    "suppression": tm.Suppression(2),
    "suppression, in order": tm.Suppression(3, importance=("sex", "region", "grade", "age")),
    "rank swapping 3": tm.RankSwapping(k=4, algorithm=3, block_size=60),
    "reverse mapping of suppression": tm.ReverseMapping(tm.Suppression(2, importance=("sex", "age"))),
    "pipeline": tm.Pipeline([tm.Recoding({"dx": 3}), tm.MultiplicativeNoise(0.1, attributes=("income", "weight"))]),
    "PRAM": tm.Pram(attributes=("sex", "grade")),
    "imputation": tm.Imputation(attributes=("age", "dx"), given=("sex", "grade"), copies=2),
    "full synthesis": tm.Imputation(synthesis="full", copies=2),
}


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", CHUNK)


@pytest.mark.parametrize("case", LONG)
def test_files_are_those_of_memory(local: Threads, parquet: Path, tmp_path: Path, case: str) -> None:
    """Every promise is checked on what was written, or there would be none."""
    schema = UNLINKED if case.startswith("full") else SCHEMA
    release = protect_on(Memory(), Microdata.from_frame(read_table(parquet), schema), LONG[case], seed=SEED)
    (tmp_path / "memory").mkdir()
    expected = outcome(release, f"{tmp_path / 'memory' / 'out'}/")
    found = on_engine(local, parquet, LONG[case], f"{tmp_path / 'out'}/", schema=schema, large=1)
    assert found.files == expected.files
    assert found.release.promise == expected.release.promise
    assert found.release.notes == expected.release.notes


# --------------------------------------------------------------------------------------- steps


def numbers(values: np.ndarray) -> ContinuousColumn:
    return ContinuousColumn(Attribute("a", role="quasi_identifier", kind="continuous"), values)


@given(st.lists(st.one_of(st.just(np.nan), st.integers(0, 10_000).map(lambda one: one / 8)), min_size=60, max_size=180))
def test_rounding_at_random_keeps_the_total_over_chunks(values: list[float]) -> None:
    column = numbers(np.array(values))
    rounded = _up_or_down_on(Memory(), column, 10.0, np.random.default_rng(1)).values
    assert np.array_equal(np.isnan(rounded), column.missing)
    assert (np.abs(rounded - column.values)[~column.missing] < 10).all()
    assert (rounded[~column.missing] % 10 == 0).all()
    assert abs(np.nansum(rounded) - np.nansum(values)) <= 10


def test_what_numbers_have_in_common_does_not_depend_on_the_cuts() -> None:
    rows = np.random.default_rng(2).normal(3, 2, (100, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.2], [0, 0, 1]])
    joint = reduce(Joint.with_, [Joint.of(rows[start:stop]) for start, stop in [(0, 1), (1, 1), (1, 60), (60, 100)]])
    assert joint.count == 100
    assert joint.means == pytest.approx(rows.mean(axis=0))
    assert joint.covariances == pytest.approx(np.cov(rows.T, ddof=0))
    assert joint.correlations == pytest.approx(np.corrcoef(rows.T))


def test_rows_that_are_mixed_in_stand_anywhere() -> None:
    order, others = np.arange(100), np.arange(100, 120)
    places = np.zeros(120)
    for seed in range(300):
        mixed = _mixed_on(Memory(), order, others, np.random.default_rng(seed))
        assert sorted(mixed.tolist()) == list(range(120))
        assert mixed[mixed < 100].tolist() == order.tolist()
        places += mixed >= 100
    chunks = np.add.reduceat(places, [0, 50, 100]) / (300 * np.array([50, 50, 20]))
    assert chunks == pytest.approx(np.full(3, 20 / 120), abs=0.02)


@pytest.mark.parametrize("least", [None, 4])
@pytest.mark.parametrize("most", [3, 12, 200])
def test_equal_keys_are_in_one_part(local: Threads, tmp_path: Path, least: int | None, most: int) -> None:
    rng = np.random.default_rng(most)
    keys = np.concatenate([np.full(30 * (most == 12), 5), rng.integers(0, most, 170)])
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for engine in (Memory(), Files(local, scratch)):
            parts = Parts.of_equal(engine, keys, least)
            ordered = parts.brought(keys)
            assert ordered.tolist() == sorted(keys.tolist())
            assert parts.back(ordered, "moving").tolist() == keys.tolist()
            assert parts.edges[0] == 0
            assert parts.edges[-1] == len(keys)
            sizes = np.diff(parts.edges)
            assert sizes.min() >= (least or 1)
            for cut in parts.edges[1:-1]:
                assert ordered[cut - 1] != ordered[cut] or (least is not None and (keys == ordered[cut]).sum() > 25)


def test_each_part_has_enough_people() -> None:
    keys, units = np.arange(200) // 2, np.arange(200) // 30
    parts = Parts.of_equal(Memory(), keys, 3, units)
    people = [len(set(units[start:stop])) for start, stop in zip(parts.edges[:-1], parts.edges[1:], strict=True)]
    assert min(people) >= 3


def test_different_values_are_counted(local: Threads, tmp_path: Path) -> None:
    values = np.random.default_rng(5).integers(0, 40, 170) / 2
    values[::7] = np.nan
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for engine in (Memory(), Files(local, scratch)):
            assert different_on(engine, numbers(values), "counting") == len(set(values[~np.isnan(values)].tolist()))


# --------------------------------------------------------------------------------------- checks


def people_of(n: int) -> tuple[Schema, pa.Table]:
    rng = np.random.default_rng(9)
    schema = Schema(
        [
            Attribute("who", role="identifier"),
            Attribute("sex", role="quasi_identifier", kind="nominal"),
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("job", role="confidential", kind="nominal"),
            Attribute("pay", role="confidential", kind="continuous"),
        ],
        person="who",
    )
    jobs = np.array(["Clerk", "clerk ", "nurse", "smith"])
    table = pa.table(
        {
            "who": [f"p{number}" for number in rng.integers(0, n // 2, n)],
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": (10.0 * rng.integers(2, 5, n)).tolist(),
            "job": jobs[rng.integers(0, 4, n)].tolist(),
            "pay": rng.integers(0, 4, n).astype(float).tolist(),
        }
    )
    return schema, table


def test_k_of_people_and_l_are_counted_in_parts(local: Threads, tmp_path: Path) -> None:
    schema, table = people_of(200)
    pq.write_table(table, tmp_path / "in.parquet")
    original = Microdata.from_frame(table, schema)
    names, masked, seen = ("sex", "age"), Masked(original), set()
    one_left = table.set_column(
        3, "job", pa.array(["Clerk" if sex == "f" else "x" for sex in table["sex"].to_pylist()])
    )
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        data = read_coded(str(tmp_path / "in.parquet"), schema, engine)
        for released in (table, one_left):
            frame = Frame(released.drop_columns(["who"]))
            for promise in (
                *(KAnonymity(k, columns) for k in (2, 25, 60) for columns in (names, ("sex",), (*names, "pay"))),
                *(
                    LDiversity(least, one, columns)
                    for least in (1, 3, 4)
                    for one in ("job", "pay")
                    for columns in (names, ("sex",))
                ),
            ):
                expected = promise.check(original, frame, masked)
                assert promise.check_on(engine, data, frame, Masked(data)) == expected
                seen.add((type(promise), expected.holds))
    assert len(seen) == 4


def test_promises_of_single_columns_are_checked_in_chunks(local: Threads, tmp_path: Path) -> None:
    """Kept and broken, by one cell of the last chunk."""
    rng = np.random.default_rng(2)
    codes = ["250.00", "401.9", "250.01", "410", None]
    table = pa.table(
        {
            "pay": rng.integers(-3, 4, 200).astype(float),
            "job": rng.choice(["clerk", "nurse"], 200).tolist(),
            "dx": [codes[place] for place in rng.integers(0, 5, 200)],
        }
    )
    schema = Schema(
        [
            Attribute("pay", role="quasi_identifier", kind="continuous"),
            Attribute("job", role="quasi_identifier", kind="nominal"),
            Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm", normalize=["dots"]),
        ]
    )

    def last(name: str, value: object) -> pa.Table:
        cells = [*table[name].to_pylist()[:-1], value]
        return table.set_column(table.column_names.index(name), name, pa.array(cells, table[name].type))

    promises = [KeptSigns(("pay",)), Bounds("pay", -3, 3), OnlySeen(("job", "dx")), AboveLevel("dx", 10)]
    original, seen = Microdata.from_frame(table, schema), set()
    pq.write_table(table, tmp_path / "in.parquet")
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        data = read_coded(str(tmp_path / "in.parquet"), schema, engine)
        for released in (table, last("pay", 9.0), last("pay", -table["pay"][-1].as_py() or 1.0), last("job", "smith")):
            for promise in promises:
                expected = promise.check(original, Frame(released), Masked(original))
                assert promise.check_on(engine, data, Frame(released), Masked(data)) == expected
                seen.add((type(promise), expected.holds))
        promise = AboveLevel("dx", 2)
        expected = promise.check(original, Frame(table), Masked(original))
        assert promise.check_on(engine, data, Frame(table), Masked(data)) == expected
        seen.add((AboveLevel, expected.holds))
    assert len(seen) == 8


def test_t_is_measured_in_parts(local: Threads, parquet: Path, tmp_path: Path) -> None:
    """Of every kind of column."""
    codes = Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm", unmapped="as_missing")
    schema = SCHEMA.of([codes if one.name == "dx" else one for one in SCHEMA.values()])
    table = read_table(parquet)
    original, found = Microdata.from_frame(table, schema), set()
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        data = read_coded(str(parquet), schema, engine)
        for confidential in ("job", "pay", "grade", "dx", "weight"):
            for columns in (("sex",), ("sex", "region"), ("age", "region")):
                for t in (0.2, 0.9):
                    promise = TCloseness(t, confidential, columns)
                    expected = promise.check(original, Frame(table), Masked(original))
                    assert promise.check_on(engine, data, Frame(table), Masked(data)) == expected
                    found.add(expected.holds)
    assert found == {True, False}


# --------------------------------------------------------------------------------------- room


def test_too_little_room_is_told_before_work_begins(local: Threads, parquet: Path, tmp_path: Path) -> None:
    with Scratch.temporary(tmp_path / "taxomask") as scratch:
        with pytest.raises(EngineError, match=r"too little room .*: about 1,600,000,000.0 GB are needed, and .* free"):
            scratch.expect(10**15, 100)
        read_coded(str(parquet), SCHEMA, Files(local, scratch))
        assert scratch._expected() == " A table of this size needs about 0.0 MB."
