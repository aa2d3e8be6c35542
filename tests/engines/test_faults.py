"""Damaged files, full disks, killed processes: the same bytes, or a clear error and no release."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import ENDLESS, Outcome, all_sorts, files_of, left_in, on_engine, write_case, write_plan
from engines.processes import COMMAND, PATIENCE, Processes, end, family, small_disk_of, wait_for
from killing import Runner
from taxomask.engines import Call, DaskCluster, Scratch, Threads, Told, reading
from taxomask.errors import DataError, EngineError

METHOD = tm.Pipeline((tm.Microaggregation(4, block_size=60), tm.Shuffling()))
OWN = ("--plan", "plan.yaml", "data/", "-o", "out/", "--workers", "2", "--quiet")  # cluster


@pytest.fixture(scope="module")
def right(parquet: Path, local: Threads, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return on_engine(local, parquet, METHOD, f"{tmp_path_factory.mktemp('right')}/out/")


# --------------------------------------------------------------------------------------- damage


class Damaging(Threads):
    """Changes one bit of a file after one of the steps; in every step files are looked at as by new processes."""

    def __init__(self, step: int, chance: random.Random) -> None:
        super().__init__(workers=2)
        self.step, self.chance, self.steps, self.damaged = step, chance, 0, ""

    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        reading._check_copies.cache_clear()
        found = super().answers(calls, Scratch(scratch.folder, large=scratch.large), what, told)
        if self.steps == self.step:
            path = self.chance.choice(sorted(path for path in scratch.folder.rglob("*") if path.is_file()))
            place = self.chance.randrange(path.stat().st_size)
            with path.open("r+b") as file:  # where it lies: the driver, which has it mapped, sees the damage
                file.seek(place)
                (byte,) = file.read(1)
                file.seek(place)
                file.write(bytes([byte ^ 1 << self.chance.randrange(8)]))
            self.damaged = f"{path.relative_to(scratch.folder)} after {what}"
        self.steps += 1
        return found


@pytest.mark.parametrize("source", ["in.csv", pytest.param("in.parquet", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("apart", "times"), [(9, 1), pytest.param(1, 10, marks=pytest.mark.slow)])
def test_a_bit_changes_in_any_intermediate_file_at_any_moment(
    tmp_path: Path, source: str, apart: int, times: int
) -> None:
    write = pq.write_table if source.endswith("parquet") else tm.microdata.files.write_table
    write(all_sorts(), tmp_path / source)
    texts = () if source.endswith("parquet") else ("weight", "sex", "grade", "region", "dx", "job", "remark")
    with Damaging(-1, random.Random(0)) as engine:
        expected = on_engine(engine, tmp_path / source, METHOD, f"{tmp_path}/right/", text=texts, large=1).files
    found = 0
    steps = range(1, engine.steps, apart)
    for step in steps:
        for number in range(times):
            with Damaging(step, random.Random(f"{step} {number}")) as damaging:
                try:
                    out = f"{tmp_path}/out/"
                    outcome = on_engine(damaging, tmp_path / source, METHOD, out, text=texts, large=1, force=True)
                    assert outcome.files == expected, damaging.damaged  # the file was not needed any more
                except EngineError as error:
                    found += 1
                    assert "is damaged or gone.\nNothing was released." in str(error)  # noqa: PT017
            assert not list(tmp_path.glob(".*"))
    assert found > len(steps) * times // 5


@pytest.mark.parametrize("damage", ["cut", "empty", "bit"])
@pytest.mark.parametrize("engine", ["local", pytest.param("two_workers", marks=pytest.mark.slow)])
def test_a_damaged_file_among_many_is_named(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str, damage: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(3):
        pq.write_table(all_sorts(80).slice(10 * number), data / f"{number}.parquet")
    content = bytearray((data / "1.parquet").read_bytes())
    content[200:1200] = bytes(1000)
    changed = {"cut": bytes(content[:-100]), "empty": b"", "bit": bytes(content)}
    (data / "1.parquet").write_bytes(changed[damage])
    with pytest.raises(DataError, match=r"(?s)1\.parquet is (not a whole Parquet file: .*\nWrite it again|empty)"):
        on_engine(request.getfixturevalue(engine), data, METHOD, f"{tmp_path}/out/")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# --------------------------------------------------------------------------------------- full disks


class Weighing(Threads):
    """Notes how large the scratch folder is after each step."""

    def __init__(self) -> None:
        super().__init__(workers=2)
        self.sizes: list[int] = []

    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        found = super().answers(calls, scratch, what, told)
        self.sizes.append(
            sum(-(-path.stat().st_size // 4096) * 4 for path in scratch.folder.rglob("*") if path.is_file())
        )
        return found


@pytest.mark.parametrize("engine", ["local", pytest.param("two_workers", marks=pytest.mark.slow)])
def test_a_full_disk(tmp_path: Path, request: pytest.FixtureRequest, engine: str, parquet: Path) -> None:
    """On real file systems that are full after ever more steps."""
    with Weighing() as weighing:
        on_engine(weighing, parquet, METHOD, f"{tmp_path}/right/", large=1)
    sizes, workers = sorted(set(weighing.sizes)), request.getfixturevalue(engine)
    assert len(sizes) > 6
    for kilobytes in [size - 8 for size in sizes]:
        with small_disk_of(tmp_path, kilobytes) as small:
            with pytest.raises(EngineError, match=r"cannot be written: .*(No space left|disk is full).*\nNothing"):
                on_engine(workers, parquet, METHOD, f"{tmp_path}/out/", scratch=small, large=1)
            assert list(small.iterdir()) == []
        assert {path.name for path in tmp_path.iterdir()} == {"right", "right.audit.json", "right.note.md", "small"}


# --------------------------------------------------------------------------------------- killed workers


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 30])
def test_workers_are_killed_at_random(
    two_workers: DaskCluster, right: Outcome, parquet: Path, tmp_path: Path, times: int
) -> None:
    chance = random.Random(times)
    for number in range(times):
        killer = Killer(two_workers, chance)
        outcome = on_engine(two_workers, parquet, METHOD, f"{tmp_path}/{number}/", large=1, told=killer)
        assert killer.killed
        assert outcome.files == right.files
        assert outcome.release.promise == right.release.promise


class Killer:
    """Is told of the progress of a run, and kills one of the workers in one of its steps."""

    def __init__(self, cluster: DaskCluster, chance: random.Random) -> None:
        self.cluster, self.chance, self.killed = cluster, chance, 0
        self.steps = chance.randrange(12)  # to wait for; there are more

    def __call__(self, done: float, what: str) -> None:
        workers = sorted(self.cluster._client.run(os.getpid, on_error="ignore").values())
        if self.steps <= 0 and workers and not self.killed:
            self.killed = self.chance.choice(workers)
            end(self.killed)
        self.steps -= done == 1


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_workers_are_killed_while_they_start(processes: Processes, times: int) -> None:
    """Dask gives up a cluster of which one worker ends as it starts; another is started."""
    folder = processes.folder
    write_case(folder)
    assert processes.protect(*OWN, "--engine", "local").wait() == 0
    right = files_of(folder / "out")
    for _ in range(times):
        run = processes.protect(*OWN, "--engine", "dask", "--force")
        kill_workers(run, 1)
        assert run.communicate(timeout=PATIENCE) == ("", "")
        assert run.returncode == 0
        assert files_of(folder / "out") == right
    assert left_in(folder) == {"out", "out.audit.json", "out.note.md"}


def test_no_worker_ever_starts(processes: Processes) -> None:
    folder = processes.folder
    write_case(folder)
    run = processes.protect(*OWN, "--engine", "dask")
    kill_workers(run)
    out, error = run.communicate(timeout=PATIENCE)
    assert (run.returncode, out) == (2, "")
    assert error.startswith("taxomask: no worker answers at the cluster on this machine: ")
    assert "\nNothing was released. Is there enough memory?" in error
    assert len(error.splitlines()) == 2
    assert left_in(folder) == set()


def kill_workers(run: subprocess.Popen[str], most: int | None = None) -> None:
    """Kill the workers of a run as soon as there are any: so many, or all as long as it runs."""
    killed: set[int] = set()
    while run.poll() is None and len(killed) != most:
        for one in family(run.pid)[1:]:
            with suppress(psutil.Error):
                if one.pid not in killed and len(killed) != most and "spawn_main" in " ".join(one.cmdline()):
                    killed.add(one.pid)
                    one.kill()
        time.sleep(0.02)
    assert killed


# --------------------------------------------------------------------------------------- killed runs


@pytest.mark.slow
def test_runs_killed_at_any_moment(tmp_path: Path) -> None:
    kills = 20
    write_case(tmp_path)
    out = tmp_path / "out"
    with Runner(tmp_path / "plan.yaml", f"{tmp_path}/data/", f"{out}/", "local") as runner:
        calls = runner.run(seed=0)
        assert calls is not None
        right = files_of(out)
        shutil.rmtree(out)
        killed = 0
        for moment in calls.moments(kills, random.Random(kills)):
            killed += runner.run(0, moment) is None
            assert not out.exists() or files_of(out) == right  # whole, or not there
            for path in tmp_path.glob(".*"):
                assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o700)
        assert runner.run(seed=0)
    assert killed > kills // 2  # not all: threads do not take their turns in the same order each time
    assert files_of(out) == right
    assert not list(tmp_path.glob(".*"))  # the last run swept what the others left


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, 20])
def test_a_run_with_its_own_cluster_is_killed(processes: Processes, kills: int) -> None:
    folder, chance = processes.folder, random.Random(kills)
    write_case(folder, steps=ENDLESS)
    for _ in range(kills):
        kill_at(processes.protect(*OWN, "--engine", "dask"), folder, chance.choice(["*-coding", "*-cutting/0"]))
        assert not (folder / "out").exists()
    assert any(folder.glob(".taxomask.*.scratch"))
    write_plan(folder, steps=1000)
    assert processes.protect(*OWN, "--engine", "local", "--force").wait() == 0
    assert left_in(folder) == {"out", "out.audit.json", "out.note.md"}


def kill_at(run: subprocess.Popen[str], folder: Path, what: str) -> None:
    """Kill a run as soon as something is in its store; its workers must end by themselves."""
    wait_for(lambda: any(folder.glob(f".taxomask.{run.pid}-*.scratch/{what}")), what)
    workers = family(run.pid)[1:]
    assert len(workers) >= 2
    run.kill()
    run.wait()
    wait_for(lambda: not any(one.is_running() and one.status() != "zombie" for one in workers), "end of all workers")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_run_is_interrupted_from_the_keyboard(processes: Processes, engine: str) -> None:
    write_case(processes.folder, steps=20_000)  # for a job on a thread is waited
    command = [*COMMAND, *OWN, "--engine", engine]
    run = processes.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: any(processes.folder.glob(".taxomask.*.scratch/*-grouping/[0-9]*")), "block")
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to all of them
    assert run.communicate(timeout=PATIENCE) == ("", "")
    assert run.returncode == 130
    assert left_in(processes.folder) == set()
