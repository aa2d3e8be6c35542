"""Long tables in parts of similar records: the same on every engine, and about as good as blocks of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from taxomask.engines import Engine, Files, Memory, Scratch, Threads, read_coded
from taxomask.methods import Method
from taxomask.methods._parts import Parts, distance_on
from taxomask.microdata import Attribute, ContinuousColumn, Microdata, Schema
from taxomask.partition import Cuts
from taxomask.records import Extent, RecordDistance, Spread
from taxomask.release import protect_on

N, CHUNK = 700, 150
CODES = ["25001", "25002", "4019", "41401", "486", "V3000"]
SCHEMA = Schema(
    [
        Attribute("age", role="quasi_identifier", kind="continuous"),
        Attribute("sex", role="quasi_identifier", kind="nominal"),
        Attribute("size", role="quasi_identifier", kind="ordinal", order=["s", "m", "l", "xl"]),
        Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        Attribute("pay", role="confidential", kind="continuous"),
    ]
)


def table(people: int | None = None) -> pa.Table:
    """Some values are missing; with people, each has some records."""
    rng = np.random.default_rng(8)

    def some(values: Any) -> pa.Array:
        return pa.array([None if gone else value for value, gone in zip(values, rng.random(N) < 0.05, strict=True)])

    columns = {
        "age": some(rng.normal(50, 20, N).round(1).tolist()),
        "sex": some(rng.choice(["f", "m"], N).tolist()),
        "size": some(rng.choice(["s", "m", "l"], N).tolist()),
        "dx": some(rng.choice(CODES, N).tolist()),
        "pay": pa.array(rng.gamma(2, 1000, N).round(2)),
    }
    if people is not None:
        columns["who"] = pa.array(np.sort(rng.integers(0, people, N)))
    return pa.table(columns)


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", CHUNK)


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata.from_frame(table(), SCHEMA)


# --------------------------------------------------------------------------------------- distances


@pytest.mark.parametrize("how", [{}, {"distance": "generic"}, {"scale": "paper"}])
def test_the_distance_found_in_chunks_is_that_of_the_whole(
    short_chunks: None, data: Microdata, how: dict[str, Any]
) -> None:
    names = SCHEMA.quasi_identifiers
    whole = RecordDistance(data, names, **how)
    empty = distance_on(Memory(), [data.columns[name] for name in names], **how)
    assert empty.n == 0
    found = empty.of(data)
    for i in range(0, N, 97):
        np.testing.assert_allclose(found.squared_to_all(i), whole.squared_to_all(i), rtol=1e-12, atol=1e-12)
    assert [one.farthest for one in found.terms] == pytest.approx([one.farthest for one in whole.terms], rel=1e-12)


def test_moments_of_parts_are_those_of_the_whole() -> None:
    values = np.append(np.random.default_rng(1).normal(1e9, 1, 100), np.nan)  # far from 0: squares would lose it
    empty = np.full(3, np.nan)
    spread, extent = Spread.of(empty, 1e9), Extent.of(empty)
    assert (spread.variance, extent.count) == (0.0, 0)
    for part in np.split(values, [7, 8, 60]):
        spread, extent = spread.with_(Spread.of(part, 1e9)), extent.with_(Extent.of(part))
    assert spread.variance == pytest.approx(np.nanvar(values - 1e9, ddof=1), rel=1e-12)
    assert extent == Extent(100, np.nanmin(values), np.nanmax(values))


def test_numbers_too_large_to_square_are_an_error(short_chunks: None) -> None:
    column = ContinuousColumn(Attribute("a", role="quasi_identifier", kind="continuous"), [1e200, -1e200, 0.0])
    with pytest.raises(tm.DataError, match="'a' holds numbers as large as 1e\\+200"):
        distance_on(Memory(), [column])


# --------------------------------------------------------------------------------------- parts


def test_records_with_equal_values_are_spread_by_their_position() -> None:
    column = ContinuousColumn(Attribute("a", role="quasi_identifier", kind="continuous"), np.zeros(1000))
    positions = np.arange(0, 1000, 10)
    sample = column.take(positions)
    space = distance_on(Memory(), [column])
    cuts = Cuts.of(space.among([sample]), [sample], positions, 1000, 130, far=50)
    numbers = cuts.part_of(space.among([column]), [column], 0)
    sizes = np.bincount(numbers)
    assert sizes.tolist() == [0, *[120, 130] * 4]
    assert (np.diff(numbers[numbers > 0]) >= 0).all()


def test_parts_hold_each_record_once_and_those_far_away_together(short_chunks: None, data: Microdata) -> None:
    columns = [data.columns[name] for name in SCHEMA.quasi_identifiers]
    space = distance_on(Memory(), columns)
    parts = Parts.cut(Memory(), columns, space, 40, np.random.default_rng(1))
    assert sorted(parts.order.tolist()) == list(range(N))
    assert parts.places[parts.order].tolist() == list(range(N))
    sizes = np.diff(parts.edges)
    assert sizes.min() >= 10
    assert sizes.max() <= CHUNK
    for start, stop in zip(parts.edges, parts.edges[1:], strict=False):
        assert (np.diff(parts.order[start:stop]) > 0).all()  # in the order of the table
    assert parts.back(parts.brought(columns[0]), "moving").cells.tolist()[:9] == pytest.approx(
        columns[0].cells.tolist()[:9], nan_ok=True
    )
    ages = space.terms[0].origin + np.nan_to_num(columns[0].cells, nan=50.0)
    far = np.abs(ages - 50)[parts.order[: parts.edges[1]]].mean()
    assert far > 1.2 * np.abs(ages - 50).mean()


def test_every_part_has_enough_people(short_chunks: None) -> None:
    """Eight people own everything, in rows that follow each other: most parts would have few of them."""
    schema = Schema([*SCHEMA.values(), Attribute("who", role="identifier")], person="who")
    line = table(8)
    line = line.set_column(0, "age", pa.array(np.arange(N) / 10))  # parts are people, nearly
    data = Microdata.from_frame(line, schema)
    columns = [data.columns["age"]]
    space = distance_on(Memory(), columns)
    few = Parts.cut(Memory(), columns, space, 40, np.random.default_rng(1))
    parts = Parts.cut(Memory(), columns, space, 40, np.random.default_rng(1), data.units, 3)
    assert data.units is not None

    def people(parts: Parts) -> list[int]:
        return [
            len(set(data.units[parts.order[start:stop]].tolist()))  # type: ignore[index]
            for start, stop in zip(parts.edges, parts.edges[1:], strict=False)
        ]

    assert min(people(few)) < 3 <= min(people(parts))


# --------------------------------------------------------------------------------------- methods

METHODS: dict[str, Method] = {
    "averages": tm.Microaggregation(3, block_size=40),
    "refined": tm.Microaggregation(3, block_size=40, algorithm="refined", steps=50, objective="semantic"),
    "variance": tm.Microaggregation(3, block_size=40, keep_variance=True, attributes=["age", "size"]),
    "diverse": tm.Microaggregation(3, block_size=40, l=2),
    "hybrid": tm.MicroHybrid(3, block_size=40),
    "permutation": tm.GroupPermutation(3, block_size=40),
    "swapping": tm.RankSwapping(k=5, algorithm=3, block_size=40),
    "swapping of categories": tm.RankSwapping(k=5, algorithm=3, block_size=40, attributes=["sex", "dx"]),
}


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_every_engine_makes_the_same_of_a_long_table(
    short_chunks: None, tmp_path: Path, name: str, people: bool
) -> None:
    if people and name not in ("averages", "permutation"):
        pytest.skip("counts records only, or groups as the others do")
    schema = Schema([*SCHEMA.values(), Attribute("who", role="identifier")], person="who") if people else SCHEMA
    rows = table(300 if people else None)
    pq.write_table(rows, tmp_path / "in.parquet")
    expected = tm.protect(rows, schema, METHODS[name], seed=5)  # holds what it promises, or stops
    whole = Microdata.of(rows, schema)
    with Threads(1) as workers, Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(workers, scratch)
        release = protect_on(engine, read_coded(str(tmp_path / "in.parquet"), schema, engine), METHODS[name], seed=5)
        assert release.audit["sha256"] == expected.audit["sha256"]
        assert release.notes == expected.notes
        if expected.groups is not None:
            assert release.groups is not None
            assert release.groups.tolist() == expected.groups.tolist()
            assert np.bincount(expected.groups).min() >= 3
        for attribute, pairs in (expected.swaps or {}).items():
            assert release.swaps is not None
            assert release.swaps[attribute].tolist() == pairs.tolist()
    assert expected.audit["sha256"]["released"] != [expected.audit["sha256"]["original"]]
    assert whole.n > CHUNK


def test_parts_cost_little_more_than_blocks_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    names = ["a", "b", "c"]
    schema = Schema([Attribute(name, role="quasi_identifier", kind="continuous") for name in names])
    data = Microdata.from_frame(pa.table({name: rng.lognormal(0, 0.5, 6000) for name in names}), schema)
    space, method = RecordDistance(data), tm.Microaggregation(5, block_size=300)

    def loss() -> float:
        other = space.of(method.mask_on(Memory(), data, np.random.default_rng(1)).data)
        return float(np.square(other.coordinates[0] - space.coordinates[0]).sum())

    whole = loss()
    monkeypatch.setattr(Engine, "chunk", 1500)
    assert loss() < 1.1 * whole
