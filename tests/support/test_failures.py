"""What the system and libraries report ends as a message that helps, exit code 2, and nothing left."""

from __future__ import annotations

import errno
import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest

from disks import small_disk
from taxomask import examples
from taxomask._support.failures import explained
from taxomask.errors import PromiseError

MAIN = "import sys; from taxomask.cli import main; main(sys.argv[1:])"
PLAN = """
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: quasi_identifier, kind: nominal}
  - {name: n_beds, role: other}
  - {name: care_days, role: quasi_identifier, kind: continuous}
  - {name: dx01, role: confidential, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
method: {name: microaggregation, k: 4}
"""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory"),
        (ImportError("libx.so: failed to map segment from shared object"), "not enough memory"),
        (
            OSError("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
            "not enough memory",
        ),
        (RuntimeError("can't start new thread"), "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "a.csv"), "a.csv cannot be written: the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "b.csv"), "b.csv cannot be used: Permission denied"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "a text cannot be read"),
        (pa.ArrowInvalid("Column 3 is longer than the schema says.\nmore"), "a file is damaged: Column 3 is longer"),
    ],
)
def test_errors_of_others(error: Exception, said: str) -> None:
    found = explained(error)
    assert found is not None
    assert said in found.message
    assert found.hint


def test_our_own_errors_and_faults() -> None:
    own = PromiseError("no", hint="yes")
    assert explained(own) is own
    assert explained(AttributeError("'NoneType' object has no attribute 'x'")) is None


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small", "96k") as folder:
        yield folder


def leave(small: Path, room: int) -> None:
    """Fill a file system up to so many bytes."""
    found = os.statvfs(small)
    (small / "other").write_bytes(bytes(found.f_bavail * found.f_frsize - room))


def protect(tmp_path: Path, *arguments: object, limit: int = 0, **environment: str) -> tuple[int, str]:
    plan, data = tmp_path / "plan.yaml", tmp_path / "some.csv"
    plan.write_text(PLAN)
    with gzip.open(examples.path(), "rt") as file:
        data.write_text("".join(islice(file, 61)))
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "protect", "--plan", str(plan), str(data), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) if limit else None,
    )
    return done.returncode, done.stderr


def test_a_disk_that_is_full_when_the_report_is_written(small: Path, tmp_path: Path) -> None:
    leave(small, 8192)
    code, said = protect(tmp_path, "-o", tmp_path / "out.csv", "--report", small / "report.html")
    assert code == 2
    assert "report" in said
    assert "the disk is full" in said
    assert "Traceback" not in said
    assert [path.name for path in small.iterdir()] == ["other"]
    assert not list(tmp_path.glob("*out*"))  # the table is not released without its report


@pytest.mark.parametrize("left", [0, 4096, 8192])
def test_a_disk_that_is_full_when_audit_and_note_are_written(small: Path, tmp_path: Path, left: int) -> None:
    leave(small, left)
    code, said = protect(tmp_path, "-o", small / "out.csv")
    assert code == 2
    assert "Traceback" not in said
    assert "the disk is full" in said or "no space left on the device" in said.lower()
    assert [path.name for path in small.iterdir()] == ["other"]


@pytest.mark.slow
def test_a_cache_folder_that_is_full(small: Path, tmp_path: Path) -> None:
    """It works, slower: kernels are compiled in the process."""
    code, said = protect(tmp_path, "-o", tmp_path / "out.csv", XDG_CACHE_HOME=str(small))
    assert (code, "Traceback" in said) == (0, False)
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "megabytes", [100, 260, 300, 700, *(pytest.param(one, marks=pytest.mark.slow) for one in (1024, 1200, 1900))]
)
def test_little_address_space(tmp_path: Path, megabytes: int) -> None:
    """Whatever library runs out of memory first, while it is loaded or later on."""
    code, said = protect(tmp_path, "-o", tmp_path / "out.csv", limit=megabytes << 20)
    if code:
        assert code == 2
        assert "not enough memory" in said
    assert (megabytes < 1024) == (f"may use {megabytes} MB" in said)
    assert "Traceback" not in said
