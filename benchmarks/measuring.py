"""CPU seconds and peak memory of a case, each case in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Case = Callable[[], dict[str, Any]]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and its CPU seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def best(work: Callable[[], Any], times: int = 3) -> float:
    """The CPU seconds of the fastest of several runs."""
    return min(timed(work)[1] for _ in range(times))


def peak() -> float:
    """The largest memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def run(cases: dict[str, Case]) -> dict[str, dict[str, Any]]:
    """Run every case in a fresh process, one thread each; what each returned, with its peak memory."""
    if len(sys.argv) == 3 and sys.argv[1] == "--case":
        answer = cases[sys.argv[2]]()
        answer.setdefault("peak MB", peak())
        print(json.dumps(answer))
        sys.exit()
    chosen = [name for name in cases if not sys.argv[1:] or name in sys.argv[1:]]
    answers = {}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    for name in chosen:
        command = [sys.executable, sys.argv[0], "--case", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | one_thread)
        answers[name] = json.loads(done.stdout.splitlines()[-1])
        show(name, answers[name])
    return answers


def show(name: str, answer: dict[str, Any]) -> None:
    print(f"{name:<34}", *(f"{key} {_text(value)}" for key, value in answer.items()), sep="  ", flush=True)


def _text(value: Any) -> str:
    return (
        f"{value:,.3g}"
        if isinstance(value, float) and value < 100
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )
