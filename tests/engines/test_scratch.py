"""The private folder of intermediate files: whole files or none, damage is found, nobody else can look."""

from __future__ import annotations

import gc
import os
import pickle
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import taxomask as tm
from taxomask._support.temporary import temporary_name
from taxomask.engines import Scratch
from taxomask.engines import scratch as scratch_files
from taxomask.errors import EngineError
from taxomask.microdata import Microdata

SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        tm.Attribute("town", role="quasi_identifier", kind="nominal"),
    ]
)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        yield scratch


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files(scratch: Scratch) -> list[str]:
    return sorted(str(path.relative_to(scratch.folder)) for path in scratch.folder.rglob("*") if path.is_file())


def sent(scratch: Scratch, value: Any, name: str = "a/b") -> Any:
    (message,) = scratch.pack([value], name)
    return scratch.unpack(message)


def elsewhere(scratch: Scratch) -> Scratch:
    """The same folder as another process sees it."""
    return Scratch(scratch.folder, large=scratch.large)


VALUES = [None, 3, "ü", {"a": [1, (2.5, None)]}, np.arange(7, dtype=np.int32), np.empty(0), np.ones(300_000)]


@pytest.mark.parametrize("large", [1, 1 << 16, 1 << 40])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_objects_come_back(tmp_path: Path, value: object, large: int) -> None:
    with Scratch.temporary(tmp_path / "taxomask", large=large) as scratch:
        (message,) = scratch.pack([value], "a")
        np.testing.assert_equal(elsewhere(scratch).unpack(message), value)
        np.testing.assert_equal(scratch.unpack(message), value)


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.int32, np.bool_, np.dtype(">i2"), np.dtype("datetime64[D]"), np.dtype("U3")]),
        arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
    ),
    st.booleans(),
)
def test_every_array_comes_back_with_its_kind_and_shape(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray[Any, Any], turned: bool
) -> None:
    with Scratch.temporary(tmp_path_factory.mktemp("here") / "taxomask", large=1) as scratch:
        given_array = array.T if turned else array
        found = sent(scratch, given_array)
        assert (found.dtype, found.shape) == (given_array.dtype, given_array.shape)
        assert found.tobytes() == given_array.tobytes()


def test_what_is_large_is_written_once_and_passed_on_by_its_place(scratch: Scratch) -> None:
    array = np.arange(100)
    first, again = sent(scratch, (array, [array]))
    assert np.shares_memory(first, again[0])
    before = files(scratch)
    assert before == ["a/b"]
    whole, part = sent(scratch, (first, first[10:20]), "c")
    assert files(scratch) == before
    assert np.shares_memory(whole, first)
    assert part.tolist() == list(range(10, 20))
    assert sent(scratch, first[::2], "d").tolist() == list(range(0, 100, 2))  # not in one piece: written anew
    assert "d" not in files(scratch)  # and forgotten


def test_what_nothing_refers_to_is_gone(scratch: Scratch) -> None:
    x, y = sent(scratch, (np.arange(100), np.ones(50)))
    del x
    assert files(scratch) == ["a/b"]
    view = y[3:]
    del y
    assert files(scratch) == ["a/b"]
    del view
    assert files(scratch) == []
    table = sent(scratch, pa.table({"a": [1, 2, 3]}))
    column = table.column(0)
    del table
    assert files(scratch) == ["a/b-0.arrow"]
    assert column.to_pylist() == [1, 2, 3]
    del column
    gc.collect()
    assert files(scratch) == []


def test_a_worker_forgets_nothing_of_others(scratch: Scratch) -> None:
    (message,) = scratch.pack([np.arange(100)], "a")
    worker = elsewhere(scratch)
    assert worker.unpack(message)[-1] == 99
    gc.collect()
    assert files(scratch) == ["a"]


def test_a_worker_does_not_remember_files_that_are_gone_for_ever(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_files, "_MANY", 10)
    worker = elsewhere(scratch)
    for place in range(40):
        (message,) = scratch.pack([np.arange(9_000)], f"gone-{place}")
        assert worker.unpack(message, apart=True)[-1] == 8_999
        assert scratch.unpack(message)[-1] == 8_999  # nothing refers to it any more: the file is gone
        assert len(worker._seals) <= 12


def test_who_writes_into_an_array_does_so_in_memory(scratch: Scratch) -> None:
    (message,) = scratch.pack([np.zeros(100)], "a")
    elsewhere(scratch).unpack(message)[:] = 1
    assert scratch.unpack(message).sum() == 0


def test_tables_of_arrow(scratch: Scratch) -> None:
    table = pa.table({"a": pa.chunked_array([["x", None], ["y"]]).dictionary_encode(), "b": [1, None, 3]})
    found = sent(scratch, {"one": table})["one"]
    assert found.equals(table.unify_dictionaries())
    before = files(scratch)
    assert sent(scratch, found, "c") is found
    assert files(scratch) == before


def test_columns_are_the_same_ones_after_a_way_there_and_back(scratch: Scratch) -> None:
    table = pa.table({"age": [20, None, 41], "dx": ["25001", "4019", None], "town": [f"t{i}" for i in range(3)]})
    data = Microdata.from_frame(table, SCHEMA)
    scratch.introduce(SCHEMA)
    (message,) = scratch.pack([data], "given")
    worker = elsewhere(scratch)
    there = worker.unpack(message)
    assert [there.columns[name].missing.tolist() for name in there.columns] == [
        data.columns[name].missing.tolist() for name in data.columns
    ]
    assert there.columns["dx"].attribute is worker.schema["dx"]
    np.testing.assert_array_equal(there.columns["dx"].table, data.columns["dx"].table)
    masked = there.replace({"age": there.columns["age"].with_values([30.0, 30.0, 30.0])})
    (answer,) = worker.pack([masked], "answer")
    back = scratch.unpack(answer)
    assert back.changed_from(data) == ("age",)
    assert back.columns["town"] is data.columns["town"]
    assert back.columns["age"].values.tolist() == [30.0, 30.0, 30.0]


def test_distances_are_made_once_in_each_process(scratch: Scratch) -> None:
    data = Microdata.from_frame(pa.table({"age": [1, 2], "dx": ["25001", "4019"], "town": ["a", "b"]}), SCHEMA)
    scratch.introduce(SCHEMA)
    messages = scratch.pack([data.columns["dx"], data.columns["dx"].with_codes([1, 1])], "given")
    worker = elsewhere(scratch)
    first, second = (worker.unpack(message) for message in messages)
    assert first.table is second.table


def test_many_categories_are_written_once(scratch: Scratch) -> None:
    towns = [f"t{i:04}" for i in range(2000)]
    schema = tm.Schema([tm.Attribute("town", role="quasi_identifier", kind="nominal")])
    column = Microdata.from_frame(pa.table({"town": towns}), schema).columns["town"]
    scratch.introduce(schema)
    messages = scratch.pack([column, column.with_codes(column.codes[::-1])], "given")
    assert sum(name.startswith("categories/") for name in files(scratch)) == 1
    first, second = (elsewhere(scratch).unpack(message) for message in messages)
    assert first.categories == second.categories == column.categories


def test_only_the_owner_can_read(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
            held = sent(scratch, (np.arange(9), pa.table({"a": [1]})), "a/b/c")
            with scratch.writing("d/e") as part:
                assert mode(part) == 0o600  # from the first instant on
                part.write_bytes(b"1")
            found = [scratch.folder, *scratch.folder.rglob("*")]
            assert {mode(path) for path in found if path.is_dir()} == {0o700}
            assert {mode(path) for path in found if path.is_file()} == {0o600}
            assert sum(path.is_file() for path in found) == 3
            del held
    finally:
        os.umask(old)
    assert list(tmp_path.iterdir()) == []


def test_damage_is_found_by_whoever_looks_first(scratch: Scratch) -> None:
    (array,), (table,) = scratch.pack([np.arange(100)], "a"), scratch.pack([pa.table({"a": list(range(50))})], "b")
    scratch.introduce(SCHEMA)
    looks: dict[str, Callable[[Scratch], object]] = {
        "a": lambda worker: worker.unpack(array),
        "b-0.arrow": lambda worker: worker.unpack(table),
        "schema": lambda worker: worker.schema,
    }
    chance = np.random.default_rng(1)
    for name, look in looks.items():
        path = scratch.path(name)
        whole = path.read_bytes()
        places = {*range(40), len(whole) - 1, *chance.integers(0, len(whole), 40).tolist()}
        damaged = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in places]
        cut = [whole[:length] for length in (0, 5, 19, 20, len(whole) // 2, len(whole) - 1)]
        for content in damaged + cut:
            path.write_bytes(content)
            with pytest.raises(EngineError, match=rf"{name} is damaged or gone.\nNothing was released. Check the disk"):
                look(elsewhere(scratch))
        path.unlink()
        with pytest.raises(EngineError, match=f"{name} is damaged or gone"):
            look(elsewhere(scratch))
        path.write_bytes(whole)
        assert look(elsewhere(scratch)) is not None


def test_a_file_is_whole_or_not_there(scratch: Scratch) -> None:
    with scratch.writing("a") as part:
        part.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), scratch.writing("a") as part:
        part.write_bytes(b"half" * (1 // 0))
    assert scratch.path("a").read_bytes() == b"old"

    class Unwilling:
        def __reduce__(self) -> str:
            raise RuntimeError("cannot be kept")

    with pytest.raises(RuntimeError, match="cannot be kept"):
        scratch.pack([np.arange(10), Unwilling()], "b")
    assert files(scratch) == ["a"]


def test_many_write_the_same_at_once(scratch: Scratch) -> None:
    """As after a worker that was thought lost and was not; whoever reads gets a whole one."""
    value = np.arange(200_000)
    (message,) = scratch.pack([value], "a")
    stop = threading.Event()

    def write() -> None:
        worker = elsewhere(scratch)
        while not stop.is_set():
            worker.pack([value], "a")

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(30):
            np.testing.assert_array_equal(elsewhere(scratch).unpack(message), value)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert files(scratch) == ["a"]


def test_a_process_sees_one_folder_once_and_gives_up_those_that_are_gone(tmp_path: Path) -> None:
    with Scratch.temporary(tmp_path / "taxomask") as first:
        assert Scratch.at(str(first.folder), 1) is first
    again = Scratch.at(str(first.folder), 1)  # as a worker has it that goes on: nobody tells it that the run is over
    with Scratch.temporary(tmp_path / "taxomask") as second:
        Scratch.at(str(second.folder), 1)
        assert Scratch.at(str(first.folder), 1) is not again


def test_functions_that_come_late_find_no_place_to_write_to(tmp_path: Path) -> None:
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        pass
    for name in ("b", "in/a/folder"):
        with pytest.raises(EngineError, match="cannot be written: No such file or directory"):
            scratch.pack([np.arange(3)], name)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_swept_and_what_others_use_is_not(tmp_path: Path) -> None:
    name = temporary_name(tmp_path / "taxomask", "scratch").name
    me, (_, host, token) = f".{os.getpid()}-", name.split(".")[2].split("-")
    dead = tmp_path / name.replace(me, ".4194303-")
    alive = tmp_path / name.replace(me, f".{os.getppid()}-")
    other = tmp_path / name.replace(me, ".4194303-").replace(host, "00000000")  # on another machine
    for folder in (dead, alive, other):
        (folder / "original").mkdir(parents=True)
        (folder / "original" / "0").write_bytes(b"private")
    with Scratch.temporary(tmp_path / "taxomask") as scratch:
        assert token not in scratch.folder.name
        assert sorted(tmp_path.iterdir()) == sorted([alive, other, scratch.folder])


def test_a_scratch_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineError, match=r"no cannot hold the intermediate files: No such file or directory.\nChoose"),
        Scratch.temporary(tmp_path / "no" / "taxomask"),
    ):
        pass


def test_a_full_disk(small_disk: Path) -> None:
    message = r"cannot be written: .*(No space left on device|disk is full).*\nNothing was released. Make room"
    with Scratch.temporary(small_disk / "taxomask", large=1) as scratch:
        held = sent(scratch, np.arange(1000), "a")
        with pytest.raises(EngineError, match=message):
            scratch.pack([np.arange(100_000)], "b")
        with pytest.raises(EngineError, match=message):
            scratch.pack([pa.table({"a": np.arange(100_000)})], "c")
        assert files(scratch) == ["a"]
        assert sent(scratch, np.arange(1000), "b").sum() == held.sum()
        del held
    assert list(small_disk.iterdir()) == []


def test_messages_name_the_schema_instead_of_holding_it(scratch: Scratch) -> None:
    scratch.introduce(SCHEMA)
    (message,) = scratch.pack([(SCHEMA, SCHEMA["dx"])], "a")
    assert len(message) < 200 < len(pickle.dumps(SCHEMA))
    schema, attribute = elsewhere(scratch).unpack(message)
    assert schema["dx"] is attribute
