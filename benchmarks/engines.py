"""Tables beyond one machine's memory: `taxomask protect` on each engine, with the same bytes asserted.

The table is the shipped discharges resampled: 9 columns, real codes, numbers with noise. CPU seconds and the peak of
memory are those of all processes together.

python benchmarks/engines.py methods [5,000,000]     every method: local against Dask with 1, 2 and 4 workers
python benchmarks/engines.py growth [5,000,000 50,000,000]   microaggregation in blocks, shuffling, swapping
python benchmarks/engines.py long [10,000,000 30,000,000] [shuffling …] [report] [local]   two workers of 1.5 GB; memory
    and disk. With a report of all measures; on two threads instead of workers
python benchmarks/engines.py against OLD/src [5,000,000]   older code beside this, in turn: CPU time of local and memory
python benchmarks/engines.py capacity [1,000,000 5,000,000]  microaggregation by rows, columns and k, on local
python benchmarks/engines.py measures [1,000,000]    every measure: memory against local and Dask, the same numbers
python benchmarks/engines.py steps noise [2,000,000 4,000,000 8,000,000]   what each step of a method holds, by records
python benchmarks/engines.py report [2,200,000]      what each step of all measures of a release holds, on one thread
python benchmarks/engines.py kills [20 500,000]      workers killed at random, also while they start: runs, records

The tables of `long` are kept in the folder TABLES, if the environment names one, and used again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from taxomask import Microaggregation, examples
from taxomask import protect as protect_in_memory
from taxomask.engines import Call, Files, Scratch, Threads, Told, read_coded
from taxomask.microdata import read_table
from taxomask.plan import EngineChoice, Plan
from taxomask.plan.run import open_workers
from taxomask.release import protect_on
from taxomask.release.write import Options
from taxomask.release.write import write as write_release

PARTS = (("age", "sex", "care_days"), ("race", "region", "n_beds"), ("dx01", "pc01"))
ATTRIBUTES = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: other}
  - {name: n_beds, role: quasi_identifier, kind: ordinal, order: [6-99, 100-199, 200-299, 300-499, 500+]}
  - {name: care_days, role: confidential, kind: continuous}
  - {name: dx01, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
"""
BLOCKS = "{name: microaggregation, k: 5, block_size: 20000}"
SHUFFLING = "{name: shuffling}"
METHODS = {
    "microaggregation": BLOCKS,
    "refined": "{name: microaggregation, k: 5, block_size: 20000, algorithm: refined, steps: 2000}",
    "MicroHybrid": "{name: micro_hybrid, k: 5, block_size: 20000}",
    "group permutation": "{name: group_permutation, k: 5, block_size: 20000}",
    "individual ranking": "{name: individual_ranking, k: 5, attributes: [age, n_beds, dx01]}",
    "shuffling": SHUFFLING,
    "reverse mapping": f"{{name: reverse_mapping, inner: {BLOCKS}}}",
    "rank swapping 1": "{name: rank_swapping, algorithm: 1, p: 1}",
    "rank swapping 2": "{name: rank_swapping, algorithm: 2, k: 20}",
    "rank swapping 2, open": "{name: rank_swapping, interval: open, p: 0.1, attributes: [dx01]}",
    "rank swapping 3": "{name: rank_swapping, algorithm: 3, k: 20, block_size: 20000}",
    "classical swapping": "{name: numerical_swapping, p: 1, attributes: [age, n_beds]}",
    "PRAM": "{name: pram}",
    "noise": "{name: noise}",
    "recoding": "{name: recoding, level: 4}",
}
LONG = ("microaggregation", "shuffling", "rank swapping 2, open")
FILE = 1_000_000
SUFFIXES = ("", "_2")


def write(folder: Path, n: int, times: int = 1) -> None:
    """A folder of files with n records in all; every column but the first so many times, drawn anew."""
    small = read_table(examples.path(), text=["dx01", "pc01"])
    rng = np.random.default_rng(0)
    folder.mkdir()
    for start in range(0, n, FILE):
        size = min(FILE, n - start)
        columns = {"id": pa.array(np.arange(start, start + size))}
        for suffix in SUFFIXES[:times]:
            drawn = {}
            for names in PARTS:
                some = small.select(names).take(rng.integers(0, small.num_rows, size))
                drawn.update(zip(names, some.columns, strict=True))
            for name in ("age", "care_days"):
                noisy = drawn[name].to_numpy() + rng.normal(0, 0.5, size)
                drawn[name] = pa.array(np.round(np.abs(noisy), 2))
            columns.update({f"{name}{suffix}": drawn[name] for name in small.column_names[1:]})
        pq.write_table(pa.table(columns), folder / f"part-{start // FILE:03}.parquet")


def attributes(times: int = 1) -> str:
    """What the columns are."""
    first, *others = ATTRIBUTES.splitlines(keepends=True)[1:]
    again = [line.replace(",", f"{suffix},", 1) for suffix in SUFFIXES[:times] for line in others]
    return "".join(["attributes:\n", first, *again])


@dataclass(frozen=True)
class Run:
    """What a run took, the hash of what it wrote, and how many of its workers were killed.

    ``peak`` is the most memory of all processes together, ``worker`` that of the largest worker of a cluster, in GB;
    what processes share is counted once in ``peak``, and in full in ``worker``, as the limit of a worker does.
    """

    digest: str
    cpu: float
    seconds: float
    peak: float
    worker: float
    killed: int
    error: str = ""
    driver: float = 0.0  # the command, with the scheduler of a cluster of its own
    scratch: tuple[float, ...] = ()  # of the disk, in GB: every two seconds


def protect(
    data: Path,
    method: str,
    engine: str,
    *,
    times: int = 1,
    kill: random.Random | None = None,
    limit: float = 0,
    report: bool = False,
) -> Run:
    """Run the command, and watch it; with a limit of the memory of all workers of Dask together, in GB."""
    out = Path(tempfile.mkdtemp(dir=data.parent))
    plan = out / "plan.yaml"
    plan.write_text(f"method: {method}\n{attributes(times)}")
    command = [sys.executable, "-m", "taxomask", "protect", "--plan", str(plan), f"{data}/", "-o", f"{out}/release/"]
    command += ["--report", f"{out}/report.html"] if report else []
    run = watched([*command, "--outside", "--practice", "--seed", "1", "--quiet", *engine.split()], kill, out, limit)
    digest = hashlib.sha256()
    for file in sorted((out / "release").glob("*")):
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    if run.error:
        assert {one.name for one in out.iterdir()} == {"plan.yaml"}, "a run that failed left something behind"
    shutil.rmtree(out)
    return replace(run, digest=digest.hexdigest()[:12])


def watched(
    command: list[str], kill: random.Random | None = None, scratch: Path | None = None, limit: float = 0
) -> Run:
    """Run a command and those below it; the digest is what it prints."""
    before, started = _cpu(), time.time()

    def limited() -> None:  # Linux does not heed it; Dask divides it among its workers, and ends one that needs more
        resource.setrlimit(resource.RLIMIT_RSS, (int(limit * 1e9), int(limit * 1e9)))

    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limited if limit else None
    )
    with _watching(process.pid, kill, scratch) as (peaks, killed):
        printed, said = process.communicate()
    if process.returncode and not (kill and process.returncode == 2):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    error = said.strip() if process.returncode or "Traceback" in said else ""
    peak, worker, driver = (max((one[place] for one in peaks), default=0.0) for place in range(3))
    found = Run(printed.strip(), _cpu() - before, time.time() - started, peak, worker, len(killed), error, driver)
    return replace(found, scratch=tuple(one[3] for one in peaks[::4]))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _watching(
    pid: int, kill: random.Random | None, scratch: Path | None
) -> Iterator[tuple[list[tuple[float, ...]], list[int]]]:
    """The memory of a process and all below it in GB, twice a second; with ``kill``, one to three workers are killed.

    The first is killed while it starts or soon after. More would leave no time for another to start where many run.
    """
    peaks: list[tuple[float, ...]] = []
    killed: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        due, most = None, kill.randint(1, 3) if kill else 0
        while not stop.wait(0.05 if kill else 0.5):
            family = list(_family(pid))
            workers = [one for one in family if b"spawn_main" in _command(one)]
            if not kill:
                together = sum(_memory(one, "Pss:") for one in family)
                largest = max((_memory(one, "Rss:") for one in workers), default=0.0)
                disk = _disk(scratch) if scratch is not None and len(peaks) % 4 == 0 else 0.0
                peaks.append((together / 1e6, largest / 1e6, _memory(pid, "Rss:") / 1e6, disk))
                continue
            if workers and due is None:
                due = time.time() + kill.uniform(0, 4)
            if workers and due is not None and time.time() > due and len(killed) < most:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chosen := kill.choice(workers), signal.SIGKILL)
                    killed.append(chosen)
                due = time.time() + kill.uniform(2, 6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks, killed
    finally:
        stop.set()
        thread.join()


def _disk(folder: Path) -> float:
    """What the scratch folders in a folder take of the disk, in GB."""
    taken = 0
    for where, _, files in os.walk(folder):
        if ".taxomask" in where:
            for name in files:
                with contextlib.suppress(OSError):
                    taken += (Path(where) / name).stat().st_blocks * 512
    return taken / 1e9


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _memory(pid: int, what: str) -> float:
    """The memory of a process in kB; of "Pss:", its share of what it has in common with others."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(what):
                return float(line.split()[1])
    return 0.0


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def show(name: str, engine: str, run: Run, beside: str = "") -> None:
    memory = f"peak {run.peak:5.2f} GB, worker {run.worker:5.2f}"
    facts = f"CPU {run.cpu:7.1f} s   wall {run.seconds:6.1f} s   {memory}   {run.digest}   {beside}"
    print(f"{name:20} {engine:28} {facts}", flush=True)


def methods(data: Path, n: int) -> None:
    compile_kernels(data.with_name("small"))
    write(data, n)
    for name, method in METHODS.items():
        first = protect(data, method, "--engine local")
        show(name, "local", first)
        for workers in (1, 2, 4):
            run = protect(data, method, f"--engine dask --workers {workers}")
            show(name, f"dask, {workers} workers", run, f"{run.cpu / first.cpu:.2f} of the CPU time of local")
            assert run.digest == first.digest, "the bytes differ"


def compile_kernels(small: Path, names: Iterable[str] = METHODS) -> None:
    """Before the clock starts."""
    write(small, 1000)
    for name in names:
        protect(small, METHODS[name], "--engine local")


def growth(data: Path, sizes: list[int]) -> None:
    compile_kernels(data.with_name("small"))
    for n in sizes:
        write(data, n)
        for name in LONG:
            first = protect(data, METHODS[name], "--engine local")
            show(f"{name} {n:,}", "local", first, f"{1e6 * first.cpu / n:.2f} CPU s per million records")
            run = protect(data, METHODS[name], "--engine dask --workers 2")
            show(f"{name} {n:,}", "dask, 2 workers", run, f"{run.cpu / first.cpu:.2f} of the CPU time of local")
            assert run.digest == first.digest, "the bytes differ"
        shutil.rmtree(data)


def long(data: Path, names: list[str], sizes: list[int], *, report: bool = False, local: bool = False) -> None:
    compile_kernels(data.with_name("small"), names)
    engine, called = ("local", "local, 2 threads") if local else ("dask", "dask, 2 workers of 1.5 GB")
    called += ", report" if report else ""
    kept = os.environ.get("TABLES")
    for n in sizes:
        data = Path(kept) / str(n) if kept else data
        if not data.exists():
            write(data, n)
        for name in names:
            run = protect(data, METHODS[name], f"--engine {engine} --workers 2", limit=0 if local else 3, report=report)
            show(f"{name} {n:,}", called, run, f"{1e6 * run.cpu / n:.2f} CPU s per million records")
            bytes_each = np.array(run.scratch) * 1e9 / (9 * n)
            print(
                f"    command and scheduler {run.driver:.2f} GB; scratch for each record and column: "
                f"{bytes_each.max():.1f} bytes at most, {np.median(bytes_each):.1f} half of the time or less",
                flush=True,
            )
        if not kept:
            shutil.rmtree(data)


def against(data: Path, old: str, n: int) -> None:
    """The same command of older code and of this one, in turn, the best of three."""
    write(data, n)
    ours = os.environ.get("PYTHONPATH", "")
    for engine in ("--engine local", "--engine memory"):
        for name in LONG[:2]:
            best: dict[str, float] = {}
            for _ in range(4):  # the first, which may compile kernels, counts as the others do: it is never the best
                for source in (old, ours):
                    os.environ["PYTHONPATH"] = source
                    best[source] = min(best.get(source, np.inf), protect(data, METHODS[name], engine).cpu)
            ratio = best[ours] / best[old]
            print(f"{name:20} {engine:16} {best[old]:6.1f} s, now {best[ours]:6.1f} s: {ratio:.2f} ×", flush=True)


def capacity(data: Path, sizes: list[int]) -> None:
    compile_kernels(data.with_name("small"))
    for n in sizes:
        for times in (1, 2):
            write(data, n, times)
            for k in (5, 50):
                run = protect(data, BLOCKS.replace("k: 5", f"k: {k}"), "--engine local", times=times)
                name = f"{n:,} × {1 + 8 * times}, k = {k}"
                show(name, "local", run, f"{1e6 * run.cpu / n:.2f} CPU s per million records")
            shutil.rmtree(data)


def measures(data: Path, n: int) -> None:
    write(data, n)
    first = watched([sys.executable, __file__, "measure", str(data), "memory"])
    show("all measures", "memory", first)
    for engine in ("local 2", "dask 1", "dask 2", "dask 4"):
        run = watched([sys.executable, __file__, "measure", str(data), *engine.split()])
        show("all measures", engine, run, f"{run.cpu / first.cpu:.2f} of the CPU time in memory")
        assert run.digest == first.digest, "the measures differ"


def measure(where: str, engine: str, workers: str = "1") -> None:
    """Print the hash of all measures of microaggregated records."""
    schema = Plan.from_dict(yaml.safe_load(attributes())).attributes
    method = Microaggregation(5, block_size=20_000)
    with contextlib.ExitStack() as stack:
        if engine == "memory":
            release = protect_in_memory(read_table(where, text=["dx01", "pc01"]), schema, method, seed=1)
        else:
            running = stack.enter_context(open_workers(EngineChoice(name=engine, workers=int(workers))))
            files = Files(running, stack.enter_context(Scratch.temporary(Path(where))))
            release = protect_on(files, read_coded(where, schema, files), method, seed=1)
        found = json.dumps(release.evaluate().to_dict())
    print(hashlib.sha256(found.encode()).hexdigest()[:12])


class _Steps(Threads):
    """One thread, and the most memory that each step took beyond what the process had before it."""

    def __init__(self) -> None:
        super().__init__(1)
        self.peaks: dict[str, float] = {}

    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak
        before = _status("VmRSS")
        found = super().answers(calls, scratch, what, told)
        self.peaks[what] = max(self.peaks.get(what, 0.0), (_status("VmHWM") - before) / 1e3)
        return found


def _status(name: str) -> float:
    """A figure of this process in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name))


def step(where: str, method: str) -> None:
    """Print what each step took, in MB."""
    os.environ["TAXOMASK_TRUST_FILES"] = "1"  # read here, so that it is counted
    plan = Plan.from_dict({**yaml.safe_load(attributes()), "method": yaml.safe_load(METHODS[method])})
    assert plan.method is not None
    out = Path(tempfile.mkdtemp(dir=Path(where).parent))
    with _Steps() as workers, Scratch.temporary(out / "taxomask") as scratch:
        engine = Files(workers, scratch)
        release = protect_on(engine, read_coded(where, plan.attributes, engine), plan.method, seed=1)
        write_release(release, f"{out}/release/", Options(practice=True))
    shutil.rmtree(out)
    print(json.dumps(workers.peaks))


def report(data: Path, n: int) -> None:
    """What each step of all measures and attackers takes beyond what the process had before it, on one thread."""
    os.environ["TAXOMASK_TRUST_FILES"] = "1"
    write(data, n)
    plan = Plan.from_dict(yaml.safe_load(attributes()))
    with _Steps() as workers, Scratch.temporary(data.parent / "taxomask") as scratch:
        engine = Files(workers, scratch)
        release = protect_on(
            engine, read_coded(str(data), plan.attributes, engine), Microaggregation(5, block_size=20_000), seed=1
        )
        workers.peaks.clear()
        start = time.process_time()
        release.evaluate().page()
        cpu = time.process_time() - start
    print(f"{n:,} records: {cpu:.0f} CPU s")
    for what, peak in sorted(workers.peaks.items(), key=lambda one: -one[1]):
        print(f"{what:40}{peak:8.0f} MB")


def steps(data: Path, method: str, sizes: list[int]) -> None:
    found = []
    for n in sizes:
        write(data, n)
        run = watched([sys.executable, __file__, "step", str(data), method])
        found.append(json.loads(run.digest))
        show(f"{method} {n:,}", "local, 1 thread", replace(run, digest=""))
        shutil.rmtree(data)
    print(f"{'MB at':28}" + "".join(f"{n:>14,}" for n in sizes))
    for what in sorted(found[-1], key=found[-1].__getitem__, reverse=True):
        print(f"{what:28}" + "".join(f"{one.get(what, 0.0):14.0f}" for one in found))


def kills(data: Path, times: int, n: int = 500_000) -> None:
    write(data, n)
    method = METHODS["microaggregation"]
    expected = protect(data, method, "--engine local").digest
    chance = random.Random(1)
    for number in range(times):
        run = protect(data, method, "--engine dask --workers 2", kill=chance)
        show(f"run {number + 1}", "dask, 2 workers", run, f"{run.killed} workers killed {run.error}")
        assert run.killed, "nothing was killed"
        assert "Traceback" not in run.error
        assert run.error.startswith("taxomask: ") if run.error else run.digest == expected, "the bytes differ"


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["methods"]
    if what == "measure":
        measure(*numbers)
        sys.exit()
    if what == "step":
        step(*numbers)
        sys.exit()
    chosen = numbers.pop(0) if what == "steps" and numbers else "noise"
    names = [one for one in numbers if one in METHODS]
    counts = [one for one in numbers if one.replace(",", "").isdigit()]
    given, options = [int(one.replace(",", "")) for one in counts], [one for one in numbers if one not in counts]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        place = Path(folder) / "table"
        if what == "methods":
            methods(place, *(given or [5_000_000]))
        elif what == "growth":
            growth(place, given or [5_000_000, 50_000_000])
        elif what == "long":
            how = {one: one in options for one in ("report", "local")}
            long(place, names or list(LONG), given or [10_000_000, 30_000_000], **how)
        elif what == "against":
            against(place, options[0], *(given or [5_000_000]))
        elif what == "capacity":
            capacity(place, given or [1_000_000, 5_000_000])
        elif what == "steps":
            steps(place, chosen, given or [2_000_000, 4_000_000, 8_000_000])
        elif what == "report":
            report(place, *(given or [2_200_000]))
        elif what == "measures":
            measures(place, *(given or [1_000_000]))
        else:
            kills(place, *(given or [20]))
