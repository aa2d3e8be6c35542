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

CODE = "import taxomask.records._kernels as k; print(k.squared_to_all.compiled.signatures != [])"


def run(cache: Path, code: str = CODE, **also: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **also}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)


def test_the_first_use_says_that_it_compiles_and_the_second_does_not(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert first.stdout == "True\n"
    assert first.stderr == "taxomask: compiling kernels (once for each kind of work, up to a minute) …\n"
    assert list((tmp_path / "taxomask").rglob("*.nbc"))
    second = run(tmp_path)
    assert (second.stdout, second.stderr) == ("True\n", "")


def test_a_kernel_is_compiled_when_it_is_called_and_not_before(tmp_path: Path) -> None:
    """One of two; the other is asked for by nobody."""
    code = """
import numpy as np
import taxomask.taxonomy._kernels as k
assert k.counts_below._compiled is None
print(k.counts_below(np.array([0, 1, 3]), np.array([0, 1, 0], np.int32), np.array([1, 1, 0], np.int32)))
assert k.sums_on_tree._compiled is None
"""
    assert run(tmp_path, code).stdout == "[3 2]\n"
    assert {file.name.split("-")[0] for file in tmp_path.rglob("*.nbc")} == {"_kernels.counts_below"}


def test_a_kernel_calls_another_that_was_not_called_before(tmp_path: Path) -> None:
    module = tmp_path / "_kernels.py"
    module.write_text(
        "from taxomask._support.compiling import kernel\n"
        "@kernel('f8(f8)')\ndef twice(x):\n    return 2 * x\n"
        "@kernel('f8(f8)')\ndef more(x):\n    return twice(x) + 1\n",
        encoding="utf-8",
    )
    code = "import _kernels as k; print(k.more(3), k.twice.compiled.signatures)"
    assert run(tmp_path, code, PYTHONPATH=os.pathsep.join((str(tmp_path), *sys.path))).stdout == "7.0 [(float64,)]\n"


def test_a_part_of_kernels_is_compiled_once_whatever_constants_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "_kernels.py").write_text(
        "from taxomask._support.compiling import kernel\n"
        "@kernel()\ndef times(x, y):\n    return x * y\n"
        "@kernel('i8(i8)')\ndef more(x):\n    return times(x, 2) + times(3, x) + times(x, x) + times(-1, 1)\n",
        encoding="utf-8",
    )
    code = "import _kernels as k; print(k.more(5), k.times.signatures)"
    assert run(tmp_path, code, PYTHONPATH=os.pathsep.join((str(tmp_path), *sys.path))).stdout == (
        "49 [(int64, int64)]\n"
    )


def test_the_first_small_table_waits_for_no_kernel_that_groups(tmp_path: Path) -> None:
    code = """
import numpy as np
import taxomask as tm
from taxomask.partition import mdav
from taxomask.partition._scan_kernels import scan
from taxomask.records import NumberTerm
values = np.random.default_rng(1).normal(size=50)
space = tm.RecordDistance.from_terms([NumberTerm("x", values, 0.0, 1.0, farthest=1.0)])
first, there = mdav(space, 3), scan._compiled
again = mdav(space, 3)
print(there, scan._compiled is not None, (first == again).all())
"""
    assert run(tmp_path, code).stdout == "None True True\n"


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
        compiling.kernel("f8(f8)")(compile_one).compiled  # noqa: B018
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
