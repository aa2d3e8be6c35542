"""Nothing stays under missing cells, whatever the type of the column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask.microdata.hidden import hidden_in, without_hidden

VALUES = {
    pa.int64(): [5, 777, 9],
    pa.float32(): [5.5, 777.5, 9.5],
    pa.date32(): [dt.date(2001, 2, 3)] * 3,
    pa.timestamp("ns", "UTC"): [dt.datetime(2001, 2, 3, tzinfo=dt.UTC)] * 3,
    pa.decimal128(9, 2): [Decimal("5.10"), Decimal("777.10"), Decimal("9.10")],
    pa.string(): ["five", "Aardvark keeper", "nine"],
    pa.large_binary(): [b"five", b"Aardvark", b"nine"],
    pa.list_(pa.string()): [["five"], ["Aardvark"], ["nine"]],
    pa.struct([("a", pa.string())]): [{"a": "five"}, {"a": "Aardvark"}, {"a": "nine"}],
}


def emptied(values: list[Any], kind: Any, gone: int = 1) -> Any:
    """An array whose cell is said to be missing, its value left where it was."""
    whole = pa.array(values, kind)
    there = pa.array([place != gone for place in range(len(values))])
    return pa.Array.from_buffers(
        kind, len(values), [there.buffers()[1], *whole.buffers()[1 : kind.num_buffers]],
        children=[whole.values] if pa.types.is_list(kind) else [whole.field(0)] if pa.types.is_struct(kind) else None,
    )  # fmt: skip


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_what_stands_under_a_missing_cell_is_seen_and_goes(kind: Any) -> None:
    array = emptied(VALUES[kind], kind)
    assert array.to_pylist()[1] is None
    assert hidden_in(array)
    clean = without_hidden(array)
    assert not hidden_in(clean)
    assert clean.equals(array)
    assert clean.type == kind


def test_categories_and_pieces() -> None:
    codes = emptied([0, 2, 1], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", "Aardvark"]))
    assert hidden_in(array) == "2"
    assert without_hidden(array).equals(array)
    assert not hidden_in(without_hidden(array))
    pieces = pa.chunked_array([emptied([1.5, 2.5], pa.float64()), pa.array([3.5])])
    assert [hidden_in(one) for one in without_hidden(pieces).chunks] == ["", ""]


@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=8), st.data())
def test_texts_that_hide_nothing_stay_what_they_are(texts: list[str | None], data: st.DataObject) -> None:
    array = pa.array(texts, pa.string())
    assert without_hidden(array) is array
    start = data.draw(st.integers(0, len(texts)))
    assert without_hidden(array[start:]).to_pylist() == texts[start:]
    numbers = pa.array(np.arange(len(texts)) + 1.0, mask=np.array([one is None for one in texts]))
    assert bool(hidden_in(numbers)) == (None in texts)
    assert without_hidden(numbers).equals(numbers)
