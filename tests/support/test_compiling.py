"""Kernels are compiled once, with a word, into the user's cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import taxomask

CODE = "import taxomask.records._kernels as k; print(k.squared_to_all.signatures != [])"


def run(cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)


def test_the_first_use_says_that_it_compiles_and_the_second_does_not(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert first.stdout == "True\n"
    assert first.stderr == "taxomask: compiling kernels (once for this installation, a minute or two) …\n"
    assert list((tmp_path / "taxomask").rglob("*.nbc"))
    second = run(tmp_path)
    assert (second.stdout, second.stderr) == ("True\n", "")


def test_a_former_version_of_the_cache_is_removed(tmp_path: Path) -> None:
    run(tmp_path)
    here = next((tmp_path / "taxomask" / "kernels").iterdir())
    former = here / "000000000000"
    former.mkdir()
    run(tmp_path)
    assert not former.exists()


def test_works_where_the_cache_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(blocked).stdout == "True\n"


def test_a_change_in_an_imported_file_makes_a_new_cache() -> None:
    from taxomask._support.compiling import _sources

    names = {file.name for file in _sources(Path(taxomask.__file__).parent / "partition" / "_mdav_kernels.py")}
    assert {"_mdav_kernels.py", "_search_kernels.py", "_vectors.py", "compiling.py"} <= names
    assert "_refine_kernels.py" not in names
