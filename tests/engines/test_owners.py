"""Whose the rows of a long table are: the same numbers chunk by chunk, and the same errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from taxomask.engines import DaskCluster, Engine, Files, Memory, Scratch, Threads, owners
from taxomask.engines.owners import owners_on
from taxomask.microdata.frames import Frame
from taxomask.microdata.people import Owners

N = 120
AGE = tm.Attribute("age", role="quasi_identifier", kind="continuous")


def table() -> pa.Table:
    """People of one to many rows, spelled in several ways, some in two households, and rows that name nobody."""
    rng = np.random.default_rng(11)
    who = np.minimum(rng.geometric(0.05, N), 40)
    spelled: list[Any] = [f" Ä{one}" if row % 3 else f"ä{one} " for row, one in enumerate(who.tolist())]
    for row in (3, 50, 51, 99):
        spelled[row] = None
    spelled[60] = "nobody"
    homes: list[Any] = [f"h{one // 4}" for one in rng.permutation(who).tolist()]
    for row in (0, 51, 70, 100):
        homes[row] = None
    return pa.table(
        {
            "who": spelled,
            "home": pa.array(homes),
            "weight": rng.uniform(1, 50, N),
            "age": rng.integers(20, 60, N),
        }
    )


def schema(**about: Any) -> tm.Schema:
    who = tm.Attribute("who", role="identifier", missing=["", "nobody"])
    others = [tm.Attribute("home", role="identifier"), tm.Attribute("weight", role="other", kind="continuous")]
    return tm.Schema([who, *others, AGE], **about)


ABOUT = {
    "people": {"person": "who"},
    "each by itself": {"person": "who", "missing_person": "each"},
    "households": {"household": "home"},
    "both, and weights": {"person": "who", "household": "home", "sampling_weight": "weight"},
    "both, each by itself": {"person": "who", "household": "home", "missing_person": "each"},
}


def same(one: Owners, other: Owners) -> bool:
    pairs = [(one.people, other.people), (one.households, other.households), (one.weights, other.weights)]
    return all((x is None) == (y is None) and (x is None or np.array_equal(x, y)) for x, y in pairs)


@pytest.mark.parametrize("chunk", [1, 7, 16, 119])
@pytest.mark.parametrize("about", ABOUT.values(), ids=ABOUT)
def test_numbers_are_those_of_the_whole(about: dict[str, Any], chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, rows = Frame(table()), np.arange(N)
    monkeypatch.setattr(Engine, "chunk", chunk)
    expected = Owners.of(frame, schema(**about), rows)
    assert same(owners_on(Memory(), frame, schema(**about), rows), expected)
    some = rows[rows % 5 != 2]
    assert same(owners_on(Memory(), frame, schema(**about), some), Owners.of(frame, schema(**about), some))


def test_names_that_a_half_of_a_hash_does_not_tell_apart_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = owners._hashes

    def clashing(frame: Frame, attribute: tm.Attribute) -> Any:
        first, second = hashes(frame, attribute)
        return np.where(first < 0, -1, first % 5), second

    monkeypatch.setattr(Engine, "chunk", 16)
    monkeypatch.setattr(owners, "_hashes", clashing)
    frame, rows = Frame(table()), np.arange(N)
    assert same(owners_on(Memory(), frame, schema(person="who"), rows), Owners.of(frame, schema(person="who"), rows))


def test_engines_give_the_same(
    local: Threads, two_workers: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "chunk", 16)
    pq.write_table(table(), tmp_path / "in.parquet", row_group_size=30)
    about = schema(**ABOUT["both, and weights"])
    expected = Owners.of(Frame(table()), about, np.arange(N))
    for number, workers in enumerate((local, two_workers)):
        with Scratch.temporary(tmp_path / str(number), large=1) as scratch:
            data = tm.engines.read_coded(str(tmp_path / "in.parquet"), about, Files(workers, scratch))
            assert same(Owners(data.people, data.households, data.weights), expected)


def test_weights_that_are_none_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", 16)
    weights = np.ones(N)
    weights[[40, 90]] = [np.nan, 0]
    frame = Frame(table().set_column(2, "weight", pa.array(weights)))
    with pytest.raises(tm.DataError, match="2 sampling weights are missing or not above 0, the first in row 41"):
        owners_on(Memory(), frame, schema(sampling_weight="weight"), np.arange(N))
    with pytest.raises(tm.DataError, match="population_size is 10, but the table has 120 rows"):
        owners_on(Memory(), Frame(table()), schema(sampling_weight="weight", population_size=10), np.arange(N))
