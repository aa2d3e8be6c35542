from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from methods.conftest import SCHEMA, tables
from naive import equally_near
from taxomask.measures.side_by_side import side_by_side
from taxomask.partition.nearest import Distinct, Neighbours
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm

NAMES = ("number", "grade", "plain", "concept")
WIDE = 24 * "n"  # so many numbers that all pairs are looked at


def naive(space: RecordDistance, queries: RecordDistance) -> tuple[list[float], list[int]]:
    found = [space.squared_from(numbers, codes) for numbers, codes in zip(*queries.coordinates, strict=True)]
    return [one.min() for one in found], [int(equally_near(one, space.slack / 1e-14).sum()) for one in found]


def random_space(n: int, seed: int, *, coarse: bool, missing: float, terms: str = "nngtf") -> RecordDistance:
    """Records of many ties: numbers, a graded number, a table that is no metric, flat categories."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    table = np.random.default_rng(5).integers(0, 9, (13, 13)) / 4.0
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0.0)
    for place, kind in enumerate(terms):
        name, gone = f"{kind}{place}", rng.random(n) < missing
        if kind in "ng":
            values = rng.integers(0, 6, n) / 3.0 if coarse or kind == "g" else rng.normal(size=n)
            made.append(NumberTerm(name, np.where(gone, np.nan, values), 0.0, 1.0, farthest=4.0))
        elif kind == "t":
            made.append(TableTerm(name, np.where(gone, 12, rng.integers(0, 12, n)).astype(np.int32), table))
        else:
            made.append(EqualityTerm(name, np.where(gone, 3, rng.integers(0, 3, n)).astype(np.int32), 0.7, 3))
    return RecordDistance.from_terms(made)


@pytest.mark.parametrize("terms", ["n", "nn", "nnnn", "t", "f", "nt", "nngtf", "ttff", WIDE, f"{WIDE}gtf"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("coarse", [True, False])
def test_large_tables_of_all_kinds_equal_the_scan(terms: str, missing: float, coarse: bool) -> None:
    space = random_space(5000, 1, coarse=coarse, missing=missing, terms=terms)
    queries = random_space(300, 2, coarse=coarse, missing=missing, terms=terms)
    found = Neighbours(space).nearest(queries)
    squared, ties = naive(space, queries)
    np.testing.assert_array_equal(found.squared, squared)
    np.testing.assert_array_equal(found.ties, ties)


@pytest.mark.parametrize("terms", ["nngtf", f"{WIDE}gtf"])
@pytest.mark.parametrize("coarse", [True, False])
def test_the_points_that_are_nearest(terms: str, coarse: bool) -> None:
    space = random_space(5000, 1, coarse=coarse, missing=0.0, terms=terms)
    queries = random_space(1100, 2, coarse=coarse, missing=0.0, terms=terms)
    neighbours, query = Neighbours(space), 0
    for piece, points, counts in neighbours.nearest_points(queries):
        assert piece.start == query
        for some in np.split(points, np.cumsum(counts)[:-1]):
            away = space.squared_from(*(one[query] for one in queries.coordinates))
            records = [neighbours.distinct.records[slice(*neighbours.distinct.start[t : t + 2])] for t in some]
            expected = np.flatnonzero(equally_near(away, space.slack / 1e-14))
            assert sorted(np.concatenate(records).tolist()) == expected.tolist()
            query += 1
        assert piece.stop == query
    assert query == queries.n


def test_more_records_than_the_sample_that_looks_for_repeated_ones() -> None:
    for coarse in (True, False):
        space = random_space(40_000, 3, coarse=coarse, missing=0.1)
        queries = random_space(20_000, 4, coarse=coarse, missing=0.1)
        assert (len(Distinct.of(space).start) - 1 < space.n) == coarse
        some = np.arange(0, 20_000, 400)
        found = Neighbours(space).nearest(queries)
        squared, ties = naive(space, queries.take(some))
        np.testing.assert_array_equal(found.squared[some], squared)
        np.testing.assert_array_equal(found.ties[some], ties)


@given(tables(least=1), tables(least=1), st.sampled_from(["balanced", "paper"]))
@settings(max_examples=30)
def test_small_tables_equal_the_scan(first: Any, second: Any, scale: Any) -> None:
    one, other = (tm.Microdata.from_frame(table, SCHEMA) for table in (first, second))
    columns = side_by_side(one, other, NAMES)
    space = RecordDistance(one.replace({name: x for name, (x, _) in columns.items()}), scale=scale)
    queries = space.of(other.replace({name: y for name, (_, y) in columns.items()}))
    found = Neighbours(space).nearest(queries)
    squared, ties = naive(space, queries)
    np.testing.assert_array_equal(found.squared, squared)
    np.testing.assert_array_equal(found.ties, ties)


@pytest.mark.parametrize(("terms", "missing", "limit"), [("nngtf", 0.1, 1.5), (f"{WIDE}tf", 0.0, 18.0)])
def test_points_within_a_distance_come_in_pieces(terms: str, missing: float, limit: float) -> None:
    space = random_space(2000, 6, coarse=True, missing=missing, terms=terms)
    queries = random_space(500, 7, coarse=True, missing=missing, terms=terms)
    neighbours = Neighbours(space)
    squared = np.full(500, limit)
    seen = 0
    for piece, points, counts in neighbours.within(queries, squared):
        assert piece.start == seen
        seen = piece.stop
        for i, part in zip(range(piece.start, piece.stop), np.split(points, np.cumsum(counts)[:-1]), strict=True):
            records = np.concatenate([np.flatnonzero(neighbours.distinct.point == t) for t in part] or [[]])
            numbers, codes = queries.coordinates
            expected = np.flatnonzero(space.squared_from(numbers[i], codes[i]) <= limit)
            np.testing.assert_array_equal(np.sort(records), expected)
    assert seen == 500


def test_of_many_columns_the_nearest_is_found_where_single_precision_does_not_tell_points_apart() -> None:
    rng = np.random.default_rng(10)
    middles = 100 * rng.normal(size=(20, 30))

    def near_them(each: int) -> RecordDistance:
        values = np.repeat(middles, each, axis=0) + 1e-4 * rng.normal(size=(20 * each, 30))
        return RecordDistance.from_terms([NumberTerm(f"n{j}", values[:, j], 0.0, 1.0) for j in range(30)])

    space, queries = near_them(50), near_them(10)
    found = Neighbours(space).nearest(queries)
    squared, ties = naive(space, queries)
    np.testing.assert_array_equal(found.squared, squared)
    np.testing.assert_array_equal(found.ties, ties)


def test_counting_in_boxes() -> None:
    rng = np.random.default_rng(8)
    space = random_space(3000, 9, coarse=True, missing=0.0, terms="nntf")
    numbers, codes = space.coordinates
    table = space.arrays[3].reshape(13, 13)
    low = numbers[rng.integers(0, 3000, 200)]
    high = low + rng.integers(0, 4, (200, 2)) / 3
    asked = codes[rng.integers(0, 3000, 200)]
    expected = [
        (
            (numbers >= low[i]).all(axis=1)
            & (numbers <= high[i]).all(axis=1)
            & (table[asked[i, 0], codes[:, 0]] == 0)
            & ((codes[:, 1] == asked[i, 1]) | (codes[:, 1] == 0) | (asked[i, 1] == 0))
        ).sum()
        for i in range(200)
    ]
    np.testing.assert_array_equal(Neighbours(space).count_inside(low, high, asked), expected)


def test_same_answer_in_any_order_of_the_queries() -> None:
    space = random_space(5000, 10, coarse=True, missing=0.1)
    queries = random_space(1000, 11, coarse=True, missing=0.1)
    other = np.random.default_rng(0).permutation(1000)
    one, two = (Neighbours(space).nearest(asked) for asked in (queries, queries.take(other)))
    np.testing.assert_array_equal(one.squared[other], two.squared)
    np.testing.assert_array_equal(one.ties[other], two.ties)


def test_another_table_is_measured_by_the_scale_of_the_first() -> None:
    """Variance 2 and origin 1 are those of the first table; a category that it does not have is as far as any other."""
    schema = tm.Schema(
        [
            tm.Attribute("number", role="quasi_identifier", kind="continuous"),
            tm.Attribute("plain", role="quasi_identifier", kind="nominal"),
        ]
    )
    one, other = (
        tm.Microdata.from_frame(pa.table({"number": numbers, "plain": plain}), schema)
        for numbers, plain in (([1.0, 3.0], ["x", "y"]), ([9.0], ["z"]))
    )
    columns = side_by_side(one, other, schema)
    space = RecordDistance(one.replace({name: x for name, (x, _) in columns.items()}))
    there = space.of(other.replace({name: y for name, (_, y) in columns.items()}))
    (numbers,), (codes,) = there.coordinates
    np.testing.assert_allclose(space.squared_from(numbers, codes), [64 / 4 + 1, 36 / 4 + 1])
    only = space.only(["plain"])
    assert only.names == ("plain",)
    assert only.squared(0, 1) == 1
