"""Swaps in tables of several chunks: the same on every engine, and as likely as in one piece."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.engines import Engine, Files, Memory, Scratch, Threads
from taxomask.methods import _long_swaps
from taxomask.methods._long_swaps import _partners_on, _runs_on, swapped_at_ends_on, swapped_by_ranking_on
from taxomask.methods._ranks import random_order_on
from taxomask.methods._swapping import Places, Tally, free_set, seeded, swap_along
from taxomask.microdata import Attribute, Microdata, Schema

CHUNK = 16
CODES = ["25000", "25001", "25002", "4010", "4019", "V270", "486"]
SCHEMA = Schema(
    [
        Attribute("pay", role="quasi_identifier", kind="continuous"),
        Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "high"]),
        Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        Attribute("job", role="quasi_identifier", kind="nominal"),
    ]
)


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", CHUNK)


def table(n: int, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)

    def some(values: list[Any]) -> list[Any]:
        return [None if gone else one for one, gone in zip(values, rng.random(n) < 0.1, strict=True)]

    return Microdata.from_frame(
        pa.table(
            {
                "pay": some(np.round(rng.lognormal(3, 1, n), 0).tolist()),
                "grade": some(rng.choice(["low", "mid", "high"], n).tolist()),
                "dx": some(rng.choice(CODES, n).tolist()),
                "job": some(rng.choice(["nurse", "clerk", "smith"], n).tolist()),
            }
        ),
        SCHEMA,
    )


METHODS: list[tm.methods.Method] = [
    *(tm.RankSwapping(k=5, algorithm=number, interval=interval) for number in (1, 2) for interval in ("paper", "open")),
    tm.RankSwapping(p=60, algorithm=1, interval="open"),
    tm.NumericalSwapping(k=7, attributes=["pay", "grade"]),
    tm.DistributionalSwapping(k=7, attributes=["grade", "dx", "job"]),
    tm.TopologicalSwapping(p=20, attributes=["dx"]),
    tm.RandomSwapping(),
    tm.RandomSwapping(attributes=["dx"], within=["job", "pay"]),
    tm.ReverseMapping(tm.Noise(attributes=["pay"])),
    tm.ReverseMapping(tm.Microaggregation(k=3, block_size=20)),
    tm.ReverseMapping(tm.Suppression(k=2)),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("n", [17, 131])
def test_every_engine_gives_the_same_permutation(method: tm.methods.Method, n: int, tmp_path: Path) -> None:
    data = table(n)
    found = method.mask_on(Memory(), data, np.random.default_rng(3))
    names = found.data.changed_from(data)
    assert names
    with Threads(workers=2) as workers, Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        scratch.introduce(SCHEMA)
        other = method.mask_on(Files(workers, scratch), data, np.random.default_rng(3))
        assert other.notes == found.notes
        for name in names:
            assert other.data.columns[name].cells.tobytes() == found.data.columns[name].cells.tobytes()
    for name in names:
        before, after = data.columns[name], found.data.columns[name]
        assert (before.missing == after.missing).all()
        assert Counter(before.cells[~before.missing].tolist()) == Counter(after.cells[~after.missing].tolist())


def test_the_tables_of_cells_stay() -> None:
    data = table(131)
    method = tm.RandomSwapping(attributes=["dx"], within=["job", "pay"])
    found = method.mask_on(Memory(), data, np.random.default_rng(3)).data

    def counted(some: Microdata) -> Counter[Any]:
        columns = [np.nan_to_num(some.columns[name].cells, nan=-1).tolist() for name in ("dx", "job", "pay")]
        return Counter(zip(*columns, strict=True))

    assert counted(found) == counted(data)
    assert found.columns["dx"].cells.tolist() != data.columns["dx"].cells.tolist()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("k", [1, 5, 40, 200])
def test_along_a_ranking_it_is_the_sweep_of_one_piece(whole: bool, k: int) -> None:
    """With the same random numbers, partners found chunk by chunk are those that are found at once."""
    keys = np.sort(np.random.default_rng(k).integers(0, 9, 131).astype(np.int32))
    until = _runs_on(Memory(), keys)[1]
    assert until.tolist() == np.searchsorted(keys, keys, side="right").tolist()
    partners, moved, choices = _partners_on(
        Memory(), 131, k, until if whole else None, seeded(np.random.default_rng(1))
    )

    class InOrder(np.random.Generator):
        def permutation(self, x: Any, axis: int = 0) -> Any:
            return np.arange(x)

    swaps = swap_along(keys, k, InOrder(np.random.default_rng(1).bit_generator), whole=whole)
    expected = np.empty(131, dtype=np.int64)
    expected[swaps.pairs], expected[swaps.pairs[:, ::-1]] = swaps.pairs[:, ::-1], swaps.pairs
    assert partners.tolist() == expected.tolist()
    assert moved == (swaps.pairs[:, 0] != swaps.pairs[:, 1]).sum()
    several = swaps.candidates[swaps.candidates > 0]
    assert choices.median == np.median(several)
    assert choices.times.sum() == len(several)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", ["pay", "grade", "dx", "job"])
@pytest.mark.parametrize("algorithm", [1, 2])
def test_values_are_as_likely_as_in_one_piece(
    monkeypatch: pytest.MonkeyPatch, algorithm: int, name: str, whole: bool
) -> None:
    """How often each value is swapped with each other one, in chunks and at once, over 150 seeds."""
    data = table(40, 5)
    column, times = data.columns[name], 150
    method = tm.RankSwapping(k=4, algorithm=algorithm, interval="open" if whole else "paper", attributes=[name])
    values = np.unique(column.cells[~column.missing])
    tables = []
    for chunk in (CHUNK, 1000):
        monkeypatch.setattr(Engine, "chunk", chunk)
        met = np.zeros((len(values), len(values)))
        for seed in range(times):
            after = method.mask_on(Memory(), data, np.random.default_rng(seed)).data.columns[name]
            rows = ~column.missing
            x, y = (np.searchsorted(values, one.cells[rows]) for one in (column, after))
            np.add.at(met, (x, y), 1)
        tables.append(met)
    both = np.stack([one.ravel() for one in tables])
    both = both[:, both.sum(axis=0) >= 20]
    spread = np.abs(both[0] - both[1]) / np.sqrt(2 * both.sum(axis=0))  # records of a table are not independent
    assert spread.max() < 5


def test_numbers_of_which_too_many_are_different_are_swapped_in_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = Microdata.from_frame(pa.table({"pay": rng.random(50)}), Schema([SCHEMA["pay"]]))
    column = data.columns["pay"]
    assert _long_swaps._different_on(Memory(), column) is None
    after, notes = swapped_at_ends_on(Memory(), column, 3, True, np.random.default_rng(1))
    assert sorted(after.cells.tolist()) == sorted(column.cells.tolist())
    assert "(k = 3)" in notes[0]


def test_a_column_without_values_stays(tmp_path: Path) -> None:
    data = Microdata.from_frame(
        pa.table({"dx": pa.array([None] * 40, pa.string()), "pay": pa.array([None] * 40, pa.float64())}),
        Schema([SCHEMA["dx"], SCHEMA["pay"]]),
    )
    for name in ("dx", "pay"):
        for swap in (swapped_at_ends_on, swapped_by_ranking_on):
            after, notes = swap(Memory(), data.columns[name], 3, False, np.random.default_rng(1))
            assert after.missing.all()
            assert notes == [f"{name}: all values are missing; nothing was swapped."]


def test_the_ends_of_huge_numbers() -> None:
    values = np.array([-1.5e308, 1.5e308, 0.0, 3.0] * 10)
    data = Microdata.from_frame(pa.table({"pay": values}), Schema([SCHEMA["pay"]]))
    for swap in (swapped_at_ends_on, swapped_by_ranking_on):
        after, _ = swap(Memory(), data.columns["pay"], 3, False, np.random.default_rng(1))
        assert sorted(after.cells.tolist()) == sorted(values.tolist())


def test_ties_come_in_any_order() -> None:
    """The first of five equal keys is each of them equally often, also where they lie in different chunks."""
    keys = np.repeat(np.arange(8, dtype=np.int32), 5)[np.random.default_rng(2).permutation(40)]
    first = Counter(
        int(random_order_on(Memory(), keys, np.random.default_rng(seed), "sorting")[0]) for seed in range(1000)
    )
    assert sorted(first) == np.flatnonzero(keys == 0).tolist()
    assert min(first.values()) > 150
    assert random_order_on(Memory(), np.where(keys < 4, np.nan, keys), np.random.default_rng(0), "sorting").size == 20


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 128, 1000])
def test_places_that_are_not_listed(n: int) -> None:
    rng = np.random.default_rng(n)
    sizes = rng.multinomial(n, np.ones(9) / 9) * (np.arange(9) % 3 > 0)
    places = Places.without_records(sizes)
    codes = np.repeat(np.arange(9), sizes)
    assert places.codes.tolist() == codes[::64].tolist()
    for found, expected in zip(free_set(n), free_set(np.ones(n, dtype=np.bool_)), strict=True):
        assert found.tolist() == expected[: len(found)].tolist()
        assert len(found) > n / 64


def test_tallies() -> None:
    one, other = Tally.of(np.array([3, 1, 3])), Tally.of(np.array([2, 9]))
    both = one.with_(other)
    assert both.numbers.tolist() == [1, 2, 3, 9]
    assert both.times.tolist() == [1, 1, 2, 1]
    assert both.median == 3.0
    assert Tally.of(np.array([1, 2])).median == 1.5
