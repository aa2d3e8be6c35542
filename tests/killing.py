"""Runs that are killed at a known moment, whatever the load of the machine: at the so-many-th call of a function, or
before the so-many-th time that a file or folder is made, renamed or removed."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Every run is a fork of the same process, so that the calls of one are those of another. How often a thread looks
# whether others are done is a matter of time, and not counted.
PROGRAM = """
import os, signal, sys, threading
from dataclasses import replace
from pathlib import Path
import taxomask as tm
from taxomask.plan.run import read_for, run as carry_out
from taxomask.release.write import Options, write as write_release
from taxomask.engines import scratch
from taxomask.plan import Plan

plan, data, target, engine = sys.argv[1:]
plan = Plan.read(plan).on(engine, workers=2 if engine == "local" else None)
waiting = ("threading.py", "queue.py", "_base.py", "thread.py", "threads.py")
scratch.LARGE = 1  # all that is kept is kept in files

def run(target, seed, last):
    calls = publishing = 0

    def count(frame, event, argument):
        nonlocal calls, publishing
        if not frame.f_code.co_filename.endswith(waiting):
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
            if not publishing and frame.f_code.co_name in ("write",):
                publishing = calls

    threading.setprofile(count)
    sys.setprofile(count)
    carry_out(plan.model_copy(update={"seed": seed}), data=data, output=target, force=True)
    sys.setprofile(None)
    threading.setprofile(None)
    return f"{calls} {publishing}"

STEPS = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")
beside = os.path.dirname(target.rstrip("/"))

def run_with_report(target, seed, last):
    steps = 0

    def step(event, arguments):
        nonlocal steps
        if event not in STEPS or (event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
            return
        if isinstance(arguments[0], (str, bytes, os.PathLike)) and os.fsdecode(arguments[0]).startswith(beside):
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    report = target.rstrip("/") + ".html"
    if engine == "memory":  # what comes before is the same each time; another seed is another order of rows
        options = Options(force=True, report=Path(report), page=told)
        write_release(replace(release, audit={**release.audit, "seed": seed, "draws": str(seed)}), target, options)
    else:
        carry_out(plan.model_copy(update={"seed": seed}), data=data, output=target, report=report, force=True)
    return f"{steps} 0"

if engine == "memory":
    release = tm.protect(read_for(plan, data)[1], plan.attributes, plan.method, seed=2**64)
    told = release.evaluate().page

runs = {"call": run, "step": run_with_report}
run("warm".join(target.rsplit("out", 1)), 2**64, 0)
for line in sys.stdin:
    what, seed, last = line.split()
    seed, last = int(seed) + 2**64, int(last)  # smaller ones are refused
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, runs[what](target, seed, last).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    print(os.read(read, 100).decode() or "killed", flush=True)
    os.close(read)
"""


@dataclass(frozen=True)
class Calls:
    """How many calls a whole run makes, and the first of those that write the release."""

    all: int
    publishing: int

    def moments(self, kills: int, chance: random.Random) -> list[int]:
        """Moments to be killed at: in turn any, and one of those at which the release is written; at last the end."""
        firsts = [self.publishing if number % 2 else 1 for number in range(kills - 1)]
        return [*(chance.randint(first, self.all) for first in firsts), self.all]


class Runner:
    """Carries out a plan as often as asked for, each time in a process of its own that may be killed."""

    def __init__(self, plan: Path, data: Path | str, target: Path | str, engine: str = "memory") -> None:
        command = [sys.executable, "-c", PROGRAM, str(plan), str(data), str(target), engine]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, seed: int, last: int = 0, what: str = "call") -> Calls | None:
        """One run, killed at its ``last`` call, or before its last ``"step"`` on the disk; None if it was."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what} {seed} {last}\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        assert told, "the program has ended"
        return None if told == "killed\n" else Calls(*map(int, told.split()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()
