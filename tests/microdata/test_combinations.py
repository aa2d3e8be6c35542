"""Records with the same codes have the same number, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask.microdata import combinations
from taxomask.microdata.combinations import combined, numbered

TABLES = st.integers(0, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.lists(st.integers(-1, 4), min_size=n, max_size=n).map(np.int32), max_size=4)
    )
)


@given(TABLES, st.sampled_from([2**62, 20]))
def test_numbers_are_those_of_sorted_rows(table: tuple[int, list[np.ndarray]], largest: int) -> None:
    n, parts = table
    rows = [tuple(int(part[i]) for part in parts) for i in range(n)]
    different = sorted(set(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combinations, "_LARGEST", largest)  # keys are numbered anew on the way
        numbers, first = numbered(parts, n)
    assert numbers.tolist() == [different.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in different]


def test_keys_of_many_wide_parts_do_not_run_over() -> None:
    parts = [np.array([0, 2**31 - 2, 0, 5])] * 6
    keys = combined(parts, 4)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3


def test_no_part_makes_all_records_alike() -> None:
    assert combined([], 3).tolist() == [0, 0, 0]
