"""A look at a table ends in time, ends when nobody waits for it, and keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from taxomask.web.looking import PROCESSES, Looking
from taxomask.web.worker import TaskError


@pytest.fixture
def endless(tmp_path: Path) -> dict[str, Any]:
    """A file that never ends: a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "endless.csv")
    return {"path": tmp_path / "endless.csv", "folder": tmp_path, "rows": 1000, "memory": 1 << 30}


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "small.csv").write_text("age,job\n" + "".join(f"{20 + i},{'abc'[i % 3]}\n" for i in range(30)))
    return {"path": tmp_path / "small.csv", "folder": tmp_path, "rows": 1000, "memory": 1 << 30}


def test_a_look_that_takes_too_long_is_stopped_and_others_do_not_wait(
    endless: dict[str, Any], small: dict[str, Any]
) -> None:
    async def looks() -> None:
        looking = Looking(seconds=600)
        try:
            stuck = asyncio.create_task(looking.ask("one", "describe", endless))
            assert (await looking.ask("other", "describe", small))["rows"] == 30
            assert await looking.ask("", "methods", {})
            assert not stuck.done()
            looking._seconds = 0.0
            with pytest.raises(TaskError, match="took longer than 0 seconds and was stopped"):
                await stuck
            looking._seconds = 600
            assert (await looking.ask("one", "describe", small))["rows"] == 30  # the table can be looked at again
        finally:
            looking.close()

    asyncio.run(looks())


def test_a_look_that_nobody_waits_for_ends(endless: dict[str, Any], small: dict[str, Any]) -> None:
    async def looks() -> None:
        looking, gone = Looking(seconds=600), False

        async def is_gone() -> bool:
            return gone

        try:
            stuck = asyncio.create_task(looking.ask("one", "describe", endless, is_gone))
            queued = asyncio.create_task(looking.ask("one", "describe", small))
            await looking.ask("other", "methods", {})
            gone = True
            with pytest.raises(TaskError):
                await stuck
            assert (await queued)["rows"] == 30  # it was another's, and waited for the process of the same table
        finally:
            looking.close()

    asyncio.run(looks())


def test_processes_are_few(small: dict[str, Any]) -> None:
    async def looks() -> None:
        looking = Looking(seconds=600)
        try:
            for number in range(PROCESSES + 2):
                looking._worker(str(number))
            assert len(looking._workers) == PROCESSES
            assert list(looking._workers) == [str(number) for number in range(2, PROCESSES + 2)]
        finally:
            looking.close()

    asyncio.run(looks())
