"""Whatever the table: from files on threads it becomes what it becomes in memory, or the same error."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from engines.conftest import SEED
from methods.conftest import SCHEMA, tables
from taxomask.engines import Files, Scratch, Threads, read_coded
from taxomask.methods.base import Method
from taxomask.microdata.files import read_table
from taxomask.release import protect_on
from taxomask.release.write import Options, write

METHODS: list[Method] = [
    tm.Microaggregation(2, block_size=8),
    tm.MicroHybrid(2),
    tm.Shuffling(attributes=("number", "concept"), given=("grade", "plain")),
    tm.RankSwapping(k=2, algorithm=2),
    tm.ReverseMapping(tm.Noise(0.5, attributes=("number", "grade"))),
    tm.Pipeline((tm.Pram(0.6), tm.Suppression(2))),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(max_examples=8)
@given(table=tables(), files=st.integers(1, 3), group=st.integers(1, 9))
def test_the_same_release_or_the_same_error(
    local: Threads, method: Method, table: pa.Table, files: int, group: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "in"
        data.mkdir()
        cut = -(-table.num_rows // files)
        for place in range(0, table.num_rows, cut):
            pq.write_table(table.slice(place, cut), data / f"{place:03}.parquet", row_group_size=group)
        try:
            expected = tm.protect(table, SCHEMA, method, seed=SEED)
        except tm.TaxomaskError as error:
            with pytest.raises(type(error)) as found:
                _protect(local, data, method)
            assert str(found.value) == str(error)  # noqa: PT017
            assert [path.name for path in Path(name).iterdir()] == ["in"]
            return
        release = _protect(local, data, method)
        assert read_table(Path(name) / "out").equals(expected.data)
        assert set(expected.promise) <= set(release.promise)  # a file is looked at in more ways than a table
        assert set(expected.notes) < set(release.notes)  # and that the rows keep their order


def _protect(workers: Threads, data: Path, method: Method) -> tm.Release:
    with Scratch.temporary(data, large=1) as scratch:
        engine = Files(workers, scratch)
        release = protect_on(engine, read_coded(str(data), SCHEMA, engine), method, seed=SEED)
        return write(release, f"{data.with_name('out')}/", Options(keep_order=True)).release
