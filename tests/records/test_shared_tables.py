"""The tables of distances as kernels get them: one is not copied, several stand one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm

CODES = np.array([0, 1, 2, 1], dtype=np.int32)
TABLE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])


def read_only(table: np.ndarray) -> np.ndarray:
    table = table.copy()
    table.setflags(write=False)
    return table


@pytest.mark.parametrize("table", [TABLE, np.asfortranarray(TABLE + np.triu(TABLE)), read_only(TABLE)])
@pytest.mark.parametrize("times", [1, 2])
def test_by_hand(table: np.ndarray, times: int) -> None:
    terms = [TableTerm(f"t{i}", CODES, table) for i in range(times)]
    space = RecordDistance.from_terms(
        [EqualityTerm("e", CODES % 2, 0.5, 2), *terms, NumberTerm("n", np.array([0.0, 1.0, 2.0, 4.0]), 0.0, 1.0)]
    )
    expected = [0.5 * (c % 2 != 0) + times * table[0, c] + x * x for c, x in zip(CODES, (0, 1, 2, 4), strict=True)]
    assert space.squared_to_all(0).tolist() == expected


def test_one_table_is_the_same_memory_for_all_who_take_records() -> None:
    space = RecordDistance.from_terms([TableTerm("t", CODES, TABLE)])
    for other in (space, space.take(np.array([1, 2])), space.only(["t"])):
        assert np.shares_memory(other.arrays[3], TABLE)
    several = RecordDistance.from_terms([TableTerm("t", CODES, TABLE), TableTerm("u", CODES, 2 * TABLE)])
    assert several.arrays[3].tolist() == [*TABLE.ravel(), *(2 * TABLE).ravel()]
