"""Damaged files, full disks, killed processes: the same bytes, or a clear error and no release."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import Outcome, all_sorts, files_of, left_in, on_engine, write_case
from engines.processes import COMMAND, Processes, end, family, small_disk_of, wait_for
from taxomask.engines import Call, DaskCluster, Scratch, Threads, Told, reading
from taxomask.errors import DataError, EngineError

METHOD = tm.Pipeline((tm.Microaggregation(4, block_size=60), tm.Shuffling()))


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


@pytest.mark.parametrize("source", ["in.parquet", "in.csv"])
@pytest.mark.parametrize(("apart", "times"), [(3, 1), pytest.param(1, 10, marks=pytest.mark.slow)])
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
@pytest.mark.parametrize("engine", ["local", "two_workers"])
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


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
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


# --------------------------------------------------------------------------------------- killed runs

# Forked after the imports, so that a kill falls into the work and not into the start of Python.
RUNNER = """
import os, sys
import taxomask as tm
from taxomask.carrying_out import run
from taxomask.engines import scratch
from taxomask.plan import Plan
scratch.LARGE = 1  # all that is kept is kept in files
plan, data, target = sys.argv[1:4]
run(Plan.read(plan).on("local", workers=2), data=data, output=target.replace("out", "warm"))
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        run(Plan.read(plan).on("local", workers=2), data=data, output=target, force=True)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_runs_killed_at_random_moments(processes: Processes, kills: int) -> None:
    folder = processes.folder
    write_case(folder)
    out, chance = folder / "out", random.Random(kills)
    arguments = [sys.executable, "-c", RUNNER, str(folder / "plan.yaml"), f"{folder}/data/", f"{out}/"]
    runner = processes.start(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert runner.stdin is not None
    assert runner.stdout is not None
    assert runner.stdout.readline() == "ready\n"
    right = files_of(folder / "warm")
    whole, killed = 0.0, 0
    for number in range(kills + 2):
        runner.stdin.write("go\n")
        runner.stdin.flush()
        child, since = int(runner.stdout.readline()), time.monotonic()
        if 0 < number <= kills:
            time.sleep(chance.uniform(0, whole))
            killed += child in {process.pid for process in family(child)}
            end(child)
        assert runner.stdout.readline() == "gone\n"
        whole = whole or time.monotonic() - since
        assert not out.exists() or files_of(out) == right  # whole, or not there
        for path in folder.glob(".*"):
            assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o700)
    assert killed > kills // 2
    assert files_of(out) == right
    assert not list(folder.glob(".*"))  # the last run swept what the others left


OWN = ("--plan", "plan.yaml", "data/", "-o", "out/", "--workers", "2", "--quiet")  # cluster


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_with_its_own_cluster_is_killed(processes: Processes, kills: int) -> None:
    folder, chance = processes.folder, random.Random(kills)
    write_case(folder, steps=60_000)
    for _ in range(kills):
        kill_after(processes.protect(*OWN, "--engine", "dask"), folder, chance.uniform(0, 1))
        assert not (folder / "out").exists()
    assert any(folder.glob(".taxomask.*.scratch"))
    assert processes.protect(*OWN, "--engine", "local", "--force").wait() == 0
    assert left_in(folder) == {"out", "out.audit.json", "out.note.md"}


def kill_after(run: subprocess.Popen[str], folder: Path, seconds: float) -> None:
    """Kill a run so long after its first column was coded; its workers must end by themselves."""
    wait_for(lambda: any(folder.glob(f".taxomask.{run.pid}-*.scratch/*-coding/*")), "coded column")
    time.sleep(seconds)
    workers = family(run.pid)[1:]
    assert len(workers) >= 2
    run.kill()
    run.wait()
    wait_for(lambda: not any(one.is_running() and one.status() != "zombie" for one in workers), "end of all workers")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_run_is_interrupted_from_the_keyboard(processes: Processes, engine: str) -> None:
    write_case(processes.folder, steps=20_000)
    command = [*COMMAND, *OWN, "--engine", engine]
    run = processes.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: any(processes.folder.glob(".taxomask.*.scratch/*-grouping/[0-9]*")), "block")
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to all of them
    assert run.communicate(timeout=60) == ("", "")
    assert run.returncode == 130
    assert left_in(processes.folder) == set()
