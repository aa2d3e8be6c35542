from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from scipy.stats import rankdata

import taxomask as tm
from taxomask.measures.risk import ChangeInRank, change_in_rank, ranks_moved

from .conftest import GRADES, NAMES, cells, pairs, table
from .test_intervals import naive_places

P4 = Path(__file__).parents[2] / "data" / "p4"


def read(name: str) -> list[dict[str, str]]:
    with (P4 / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mechanism", ["add", "imp", "mic", "swp"])
def test_the_printed_table(mechanism: str) -> None:
    """P4 Table 5, from the columns that Table 2 prints; and the largest change, which section 5 names."""
    records = read("table2")
    original = table(number=[float(one["x"]) for one in records])
    released = table(number=[float(one[f"{mechanism}_z"]) for one in records])
    found = change_in_rank(original, released)["number"]
    printed = {one["change"].replace("-", "–"): int(one[mechanism]) for one in read("table5")}
    assert found.counts == {row: count for row, count in printed.items() if row in found.counts}
    assert sum(found.counts.values()) == sum(printed.values()) == found.n == 25
    assert found.unchanged.value == printed["0"] / 25
    if mechanism == "imp":
        assert (found.largest, int(np.argmax(ranks_moved(original, released)["number"]))) == (16, 1)


def test_by_hand_with_ties_and_a_missing_value() -> None:
    """Ranks of x: 1.5 1.5 3 4 5, of z: 3 1 3 3 5; the last two records have a missing value."""
    original = table(number=[1, 1, 2, 3, 4, 9, None])
    released = table(number=[5, 1, 5, 5, 8, None, 1])
    assert ranks_moved(original, released)["number"].tolist()[:5] == [1.5, 0.5, 0, 1, 0]
    assert np.isnan(ranks_moved(original, released)["number"][5:]).all()
    found = change_in_rank(original, released)["number"]
    assert (found.n, found.unchanged.value, found.mean) == (5, 0.4, 0.6)
    quantiles = (found.smallest, found.lower_quartile, found.median, found.upper_quartile, found.largest)
    assert quantiles == (0, 0, 0.5, 1, 1.5)
    assert found.counts == {"0": 2, "1": 2, "2": 1}
    # Every pair of a rank before and one after: |1.5-3| three times, |1.5-1|, |1.5-5|, and so on.
    assert found.baseline == pytest.approx((2 * (3 * 1.5 + 0.5 + 3.5) + (2 + 2) + (3 + 3 + 1) + (3 * 2 + 4)) / 25)
    assert found.unchanged.baseline == pytest.approx((3 + 1) / 25)


def test_by_hand_for_codes() -> None:
    """Marginality orders b11 (in the middle) before b1, b and a; see the order that reverse mapping uses."""
    from taxomask.semantics.ordering import rank_keys

    values = ["b11", "b11", "b11", "b1", "b", "a"]
    original, released = table(concept=values), table(concept=["a", *values[1:5], "b11"])
    assert rank_keys(original.columns["concept"]).tolist() == [0, 0, 0, 1, 2, 3]
    assert ranks_moved(original, released)["concept"].tolist() == [4, 0, 0, 0, 0, 4]


@given(pairs())
@settings(max_examples=40)
def test_naive(both: tuple[tm.Microdata, tm.Microdata]) -> None:
    original, released = both
    moved, found = ranks_moved(original, released), change_in_rank(original, released)
    for name in NAMES:
        if name == "plain":  # categories that only the release has come last in their order
            continue
        order: Any = lambda value: value  # noqa: E731
        if name == "grade":
            order = GRADES.index
        elif name == "concept":
            order = naive_places(name, original).__getitem__
        rows = list(zip(cells(original, name), cells(released, name), strict=True))
        there = [i for i, (x, z) in enumerate(rows) if x is not None and z is not None]
        x, z = ([order(rows[i][when]) for i in there] for when in (0, 1))
        expected = [abs(mean_rank(a, x) - mean_rank(b, z)) for a, b in zip(x, z, strict=True)]
        assert moved[name][there].tolist() == expected
        assert np.isnan(np.delete(moved[name], there)).all()
        assert found[name].n == sum(found[name].counts.values()) == len(there)
        if there:
            every = [abs(mean_rank(a, x) - mean_rank(b, z)) for a in x for b in z]
            assert found[name].mean == pytest.approx(np.mean(expected))
            assert found[name].baseline == pytest.approx(np.mean(every))
            assert found[name].unchanged.baseline == pytest.approx(every.count(0) / len(every))
            assert found[name].unchanged.value == pytest.approx(expected.count(0) / len(expected))
            assert (found[name].smallest, found[name].largest) == (min(expected), max(expected))


def mean_rank(value: Any, values: list[Any]) -> float:
    """From 1; of equal values the mean."""
    below, equal = sum(other < value for other in values), sum(other == value for other in values)
    return below + (equal + 1) / 2


def test_plain_categories_are_ordered_as_by_reverse_mapping() -> None:
    """The frequent ones first: y, then x and z in sorted order."""
    original = table(plain=["y", "y", "y", "x", "z"])
    assert ranks_moved(original, table(plain=["z", "y", "y", "x", "y"]))["plain"].tolist() == [3, 0, 0, 0, 3]


def test_the_rows_grow_with_the_table() -> None:
    n = 3_000
    numbers = np.arange(n)
    original, released = (table(number=values.tolist()) for values in (numbers, numbers[::-1]))
    found = change_in_rank(original, released)["number"]
    assert list(found.counts)[:12] == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6–10",
        "11–15",
        "16–20",
        "21–50",
        "51–100",
        "101–200",
    ]
    assert list(found.counts)[12:] == ["201–500", "501–1000", "1001–2000", "2001–5000"]
    moved = np.abs(rankdata(numbers) - rankdata(numbers[::-1]))  # 1, 3, … 2,999, each twice
    assert found.counts["0"] == found.counts["2"] == 0
    assert found.counts["6–10"] == ((moved > 5) & (moved <= 10)).sum() == 4
    assert found.counts["2001–5000"] == (moved > 2000).sum() == 1_000
    assert found.baseline == pytest.approx((n**2 - 1) / (3 * n))


def test_identical_constant_and_empty_columns() -> None:
    data = table(number=[1, 2, 3], plain=["x", "x", "y"], grade=["low", "low", "low"], concept=[None, None, None])
    found = change_in_rank(data, data)
    for name in ("number", "plain", "grade"):
        assert (found[name].unchanged.value, found[name].largest, found[name].counts) == (1, 0, {"0": 3})
    assert found["grade"].baseline == 0
    nothing = found["concept"]
    assert (nothing.n, nothing.counts) == (0, {})
    assert np.isnan([nothing.mean, nothing.baseline, nothing.largest]).all()


def test_records_must_be_linked() -> None:
    for measure in (change_in_rank, ranks_moved):
        with pytest.raises(tm.DataError, match="the change in rank compares records one by one"):
            measure(table(number=[1, 2]), table(number=[1, 2, 3]))
    schema = tm.Schema([tm.Attribute("number", role="quasi_identifier", kind="continuous")])
    frame = pa.table({"number": [1, 2, 3]})
    assert tm.evaluate(frame, frame, schema, linked=False).risk.change_in_rank == {}


def test_in_the_evaluation_its_json_and_the_report(tmp_path: Path) -> None:
    original = table(number=[1, 2, 3, 4], concept=["a", "a", "b", "b1"])
    schema, frame = original.schema, original.frame.native
    released = pa.table({"number": [2, 1, 4, 3], "concept": ["b", "a", "a", "b1"]})
    found = tm.evaluate(frame, released, schema)
    of_number = found.risk.change_in_rank["number"]
    assert isinstance(of_number, ChangeInRank)
    in_json = found.to_dict()["risk"]["change_in_rank"]["number"]
    assert (in_json["mean"], in_json["largest"], in_json["counts"]) == (1.0, 1.0, {"0": 0, "1": 4})
    assert in_json["unchanged"]["value"] == 0
    rows = dict(zip(*found.to_frame().to_pydict().values(), strict=True))
    assert rows["risk.change_in_rank.number.counts.1"] == 4
    found.to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Records by change in rank" in text
    assert "r_xz" in text
