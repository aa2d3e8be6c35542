"""Minimal sample uniques against a search of all sets, written from the definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from taxomask.microdata.minimal_uniques import MinimalUniques, number_of_sets

Found = set[tuple[tuple[int, ...], int]]


def naive(parts: list[list[int]], people: list[int], most: int) -> Found:
    """Every set that singles out a record, of which no smaller set does."""

    def singled_out(columns: tuple[int, ...]) -> set[int]:
        owners: dict[tuple[int, ...], set[int]] = {}
        keys = [tuple(parts[column][i] for column in columns) for i in range(len(people))]
        for key, person in zip(keys, people, strict=True):
            owners.setdefault(key, set()).add(person)
        return {i for i, key in enumerate(keys) if len(owners[key]) == 1}

    sets = [one for size in range(1, most + 1) for one in combinations(range(len(parts)), size)]
    records = {one: singled_out(one) for one in sets}
    return {
        (one, i)
        for one in sets
        for i in records[one]
        if not any(i in records[smaller] for size in range(1, len(one)) for smaller in combinations(one, size))
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[int]], list[int] | None, int]:
    n, columns = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    cell = [st.integers(-1, draw(st.integers(0, 4))) for _ in range(columns)]
    parts = [draw(st.lists(one, min_size=n, max_size=n)) for one in cell]
    people = draw(st.none() | st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return parts, people, draw(st.integers(1, columns))


@given(cases())
@settings(max_examples=150)
def test_all_of_them_and_no_others(case: tuple[list[list[int]], list[int] | None, int]) -> None:
    parts, people, most = case
    n = len(parts[0])
    search = MinimalUniques(
        [np.array(part) for part in parts], n, most=most, people=None if people is None else np.array(people)
    )
    found = [(one, i) for one, found in search for i in search.records(found).tolist()]
    assert len(found) == len(set(found))
    assert set(found) == naive(parts, people or list(range(n)), most)
    assert [*search] == [] or search.visited <= number_of_sets(len(parts), most)


def test_large_numbers_of_values() -> None:
    """Columns whose values cannot be numbered in a small table, and one that nobody shares."""
    rng = np.random.default_rng(5)
    parts = [rng.integers(0, 2**40, 300) % high for high in (2**40, 2, 40, 7)]
    search = MinimalUniques(parts, 300)
    found = {(one, i) for one, found in search for i in search.records(found).tolist()}
    assert found == naive([part.tolist() for part in parts], list(range(300)), 4)
    assert sum(one == (0,) for one, _ in found) == 300


def test_no_records() -> None:
    assert [*MinimalUniques([np.zeros(0, dtype=np.int64)] * 2, 0)] == []
