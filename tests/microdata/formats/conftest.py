from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any, NoReturn

import pytest


def leave_out(reason: str) -> NoReturn:
    """Skip a test for want of a part of the system; in CI nothing may be wanting."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; CI leaves no test out")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a private PostgreSQL, without a table: data and socket in a temporary folder, no network."""
    programs = sorted(glob("/usr/lib/postgresql/*/bin")) or [os.path.dirname(shutil.which("initdb") or "")]
    if not programs[-1]:
        leave_out("PostgreSQL is not installed: run tools/install-debian postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")

    def run(program: str, *arguments: str) -> None:
        command = [f"{programs[-1]}/{program}", "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **user)

    try:
        run("initdb", "--username=tester", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        run("pg_ctl", "start", "--wait", "--log", str(folder / "log"), "-o", options)
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "--mode=immediate")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a device of 64 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        leave_out("mounting a small device needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def nobody() -> Iterator[None]:
    """Root may read everything; be somebody else for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
