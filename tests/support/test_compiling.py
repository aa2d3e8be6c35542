"""Kernels are compiled once, with a word, into the user's cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import taxomask

CODE = "import taxomask.records._kernels as k; print(k.squared_to_all.signatures != [])"


def run(cache: Path, **also: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **also}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)


def test_the_first_use_says_that_it_compiles_and_the_second_does_not(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert first.stdout == "True\n"
    assert first.stderr == "taxomask: compiling kernels (once for this installation, up to three minutes) …\n"
    assert list((tmp_path / "taxomask").rglob("*.nbc"))
    second = run(tmp_path)
    assert (second.stdout, second.stderr) == ("True\n", "")


def test_kernels_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    run(tmp_path)
    here = tmp_path / "taxomask" / "kernels"
    used = set(here.iterdir())
    old, young = here / "old", here / "young"
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (0, 0))
    for folder in used:
        os.utime(folder, (0, 0))
    run(tmp_path)
    assert set(here.iterdir()) == {*used, young}


def test_installations_of_the_same_text_share_their_kernels(tmp_path: Path) -> None:
    run(tmp_path)
    shutil.copytree(Path(taxomask.__file__).parent, tmp_path / "other" / "taxomask")
    other = run(tmp_path, PYTHONPATH=str(tmp_path / "other"))
    assert (other.stdout, other.stderr) == ("True\n", "")
    changed = tmp_path / "other" / "taxomask" / "records" / "_kernels.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert "compiling" in run(tmp_path, PYTHONPATH=str(tmp_path / "other")).stderr


def test_works_where_the_cache_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(blocked).stdout == "True\n"


def test_a_change_in_an_imported_file_makes_a_new_cache() -> None:
    from taxomask._support.compiling import _sources

    names = {file.name for file in _sources(Path(taxomask.__file__).parent / "partition" / "_mdav_kernels.py")}
    assert {"_mdav_kernels.py", "_search_kernels.py", "_vectors.py", "compiling.py"} <= names
    assert "_refine_kernels.py" not in names


def test_threads_that_compile_do_not_mix_up_their_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first leaves while the second is at work: the folder of the second must stay what it is."""
    from taxomask._support import compiling

    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()
    seen: list[str] = []

    def njit(*_: object, **__: object) -> Callable[[object], object]:
        def compiled(function: object) -> object:
            if threading.current_thread().name == "first":
                first_is_in.set()
                second_is_in.wait(1)  # it cannot be, if they take turns
            else:
                second_is_in.set()
                first_is_out.wait(60)
                seen.append(compiling._SETTINGS.CACHE_DIR)
            return function

        return compiled

    def compile_one() -> None:
        compiling.kernel("f8(f8)")(compile_one)
        if threading.current_thread().name == "first":
            first_is_out.set()

    monkeypatch.setattr(compiling, "njit", njit)
    first, second = (threading.Thread(target=compile_one, name=name) for name in ("first", "second"))
    first.start()
    assert first_is_in.wait(60)
    second.start()
    first.join()
    second.join()
    assert all(seen)
    assert len(seen) == 1
