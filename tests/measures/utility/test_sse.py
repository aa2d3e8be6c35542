from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.measures import squared_error

TREE = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b")])


def column(kind: str, values: list[Any], **options: Any) -> Any:
    schema = tm.Schema([tm.Attribute("x", role="other", kind=kind, **options)])
    return tm.Microdata.from_frame(pa.table({"x": values}), schema).columns["x"]


def test_continuous_by_hand() -> None:
    before = column("continuous", [1.0, 3.0, 5.0, None])
    error = squared_error(before, before.with_values([2.0, 3.0, 3.0, 9.0]))
    assert (error.sse, error.sst, error.percent) == (5, 8, 62.5)


def test_ordinal_by_hand() -> None:
    before = column("ordinal", ["p", "q", "s"], order=["p", "q", "r", "s"])
    error = squared_error(before, before.with_codes([1, 1, 1]))
    assert (error.sse, error.sst) == (1 + 0 + 4, 1 + 0 + 4)


def test_nominal_by_hand() -> None:
    before = column("nominal", ["p", "q", "q"])
    assert squared_error(before, before.with_codes([1, 0, 1])).sse == 2
    assert squared_error(before, before.with_codes([1, 1, 1])).percent == 100


def test_taxonomic_by_hand() -> None:
    before = column("taxonomic", ["a", "c", "c", None], taxonomy=TREE)
    after = before.with_codes([1, 1, 0, 0])
    d = TREE.distance("a", "c")
    assert squared_error(before, after).sse == pytest.approx(2 * d**2)
    wide = before.including([TREE.position("b")])
    moved = wide.with_codes([1, 1, 2, -1])  # a → b, c → b, c stays
    assert squared_error(before, moved).sse == pytest.approx(
        TREE.distance("a", "b") ** 2 + TREE.distance("b", "c") ** 2
    )


def test_identical_and_constant_columns_lose_nothing() -> None:
    for before in (
        column("continuous", [4.0, 4.0]),
        column("nominal", ["p", "p"]),
        column("taxonomic", ["a"], taxonomy=TREE),
    ):
        assert squared_error(before, before).percent == 0


def test_a_constant_of_which_rounding_leaves_less_than_nothing() -> None:
    before = column("taxonomic", ["c"] * 3, taxonomy=TREE)
    moved = before.including([TREE.position("a")])  # a comes first, and is far from all values
    after = moved.with_codes([0, 1, 1])
    error = squared_error(before, after)
    assert error.sse == pytest.approx(TREE.distance("a", "c") ** 2)
    assert error.sst == 0
