"""The private folder of intermediate files: whole files or none, damage is found, nobody else can look."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from taxomask.engines import Store
from taxomask.errors import EngineError
from taxomask.leftovers import temporary_name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return Store(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


VALUES = [None, 3, "ü", {"a": [1, (2.5, None)]}, np.arange(7, dtype=np.int32), np.empty(0), np.ones(300_000)]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_objects_come_back(store: Store, value: object) -> None:
    store.put("deep/er/key", value)
    np.testing.assert_equal(store.get("deep/er/key"), value)
    np.testing.assert_equal(Store(store.folder).get("deep/er/key"), value)


def test_only_the_owner_can_read(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Store.temporary(tmp_path / "taxomask") as store:
            store.put("a/b/c", 1)
            with store.writing("d/e") as part:
                part.write_bytes(b"1")
            found = [store.folder, *store.folder.rglob("*")]
            assert {mode(path) for path in found if path.is_dir()} == {0o700}
            assert {mode(path) for path in found if path.is_file()} == {0o600}
            assert sum(path.is_file() for path in found) == 3  # and the checksum of d/e
    finally:
        os.umask(old)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [7, np.arange(100_000)], ids=["small", "large"])
def test_a_damaged_object_is_found(store: Store, value: object) -> None:
    store.put("a", value)
    path = store.path("a")
    whole = path.read_bytes()
    chance = np.random.default_rng(1)
    places = {*range(40), len(whole) - 1, *chance.integers(0, len(whole), 40).tolist()} & {*range(len(whole))}
    damaged = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in places]
    cut = [whole[:length] for length in (0, 5, 19, 20, len(whole) // 2, len(whole) - 1)]
    for content in damaged + cut:
        path.write_bytes(content)
        with pytest.raises(EngineError, match=r"store/a is damaged or gone.\nNothing was released. Check the disk"):
            store.get("a")
    path.unlink()
    with pytest.raises(EngineError, match="store/a is damaged or gone"):
        store.get("a")
    path.write_bytes(whole)
    np.testing.assert_equal(store.get("a"), value)


def test_a_damaged_file_is_found_by_whoever_reads_it_first(store: Store) -> None:
    with store.writing("x/rows.npy") as part, part.open("xb") as file:
        np.save(file, np.arange(50))
    assert np.load(store.sealed("x/rows.npy"))[-1] == 49
    whole = store.path("x/rows.npy").read_bytes()
    for content in (whole[:-1], whole[:-1] + b"?", b""):
        store.memory.clear()  # as in another process
        store.path("x/rows.npy").write_bytes(content)
        with pytest.raises(EngineError, match=r"x/rows\.npy is damaged or gone"):
            store.sealed("x/rows.npy")
    store.path("x/rows.npy").unlink()
    with pytest.raises(EngineError, match=r"x/rows\.npy is damaged or gone"):
        store.sealed("x/rows.npy")


def test_a_file_is_whole_or_not_there(store: Store) -> None:
    store.put("a", "old")
    with pytest.raises(ZeroDivisionError), store.writing("a") as part:
        part.write_bytes(b"half" * (1 // 0))
    assert store.get("a") == "old"

    class Unwilling:
        def __reduce__(self) -> str:
            raise RuntimeError("cannot be kept")

    with pytest.raises(RuntimeError, match="cannot be kept"):
        store.put("a", [1, Unwilling()])
    assert store.get("a") == "old"
    assert [path.name for path in store.folder.iterdir()] == ["a"]


def test_many_write_the_same_at_once(store: Store) -> None:
    """As after a worker that was thought lost and was not; whoever reads gets a whole one."""
    value = np.arange(200_000)
    store.put("a", value)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            store.put("a", value)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(30):
            np.testing.assert_array_equal(store.get("a"), value)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert [path.name for path in store.folder.iterdir()] == ["a"]


def test_dropping(store: Store) -> None:
    store.put("a", 1)
    store.put("b", 2)
    store.drop("a", "never there")
    assert [path.name for path in store.folder.iterdir()] == ["b"]


def test_what_is_shared_is_read_once(store: Store) -> None:
    store.put("a", [1])
    assert store.shared("a") is store.shared("a") is Store(store.folder).shared("a")
    assert store.get("a") is not store.get("a")


def test_memory_of_stores_that_are_gone_is_given_back(tmp_path: Path) -> None:
    with Store.temporary(tmp_path / "taxomask") as first:
        first.memory["a"] = object()
        worker = first.memory
    again = Store(first.folder)  # as a worker of a cluster that goes on has it: nobody tells it that the run is over
    again.memory["a"] = object()
    with Store.temporary(tmp_path / "taxomask") as second:
        assert second.memory == {}
        assert Store(first.folder).memory is not worker
        assert Store(first.folder).memory == {}


def test_jobs_that_come_late_find_no_place_to_write_to(tmp_path: Path) -> None:
    with Store.temporary(tmp_path / "taxomask") as store:
        store.put("a", 1)
    with pytest.raises(EngineError, match="cannot be written: No such file or directory"):
        store.put("b", 2)
    with pytest.raises(EngineError, match="cannot be written: No such file or directory"):
        store.put("in/a/folder", 2)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_swept_and_what_others_use_is_not(tmp_path: Path) -> None:
    name = temporary_name(tmp_path / "taxomask", "scratch").name
    me, (_, host, token) = f".{os.getpid()}-", name.split(".")[2].split("-")
    dead = tmp_path / name.replace(me, ".4194303-")
    alive = tmp_path / name.replace(me, f".{os.getppid()}-")
    elsewhere = tmp_path / name.replace(me, ".4194303-").replace(host, "00000000")  # on another machine
    for folder in (dead, alive, elsewhere):
        (folder / "original").mkdir(parents=True)
        (folder / "original" / "0").write_bytes(b"private")
    with Store.temporary(tmp_path / "taxomask") as store:
        assert token not in store.folder.name
        assert sorted(tmp_path.iterdir()) == sorted([alive, elsewhere, store.folder])


def test_a_scratch_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineError, match=r"no cannot hold the intermediate files: No such file or directory.\nChoose"),
        Store.temporary(tmp_path / "no" / "taxomask"),
    ):
        pass


def test_a_full_disk(small_disk: Path) -> None:
    with Store.temporary(small_disk / "taxomask") as store:
        store.put("a", np.arange(1000))
        message = r"cannot be written: .*(No space left on device|disk is full).*\nNothing was released. Make room"
        with pytest.raises(EngineError, match=message):
            store.put("b", np.arange(100_000))
        with pytest.raises(EngineError, match=message), store.writing("c") as part, part.open("xb") as file:
            np.save(file, np.arange(100_000))
        assert [path.name for path in store.folder.iterdir()] == ["a"]
        store.put("b", np.arange(1000))
    assert list(small_disk.iterdir()) == []
