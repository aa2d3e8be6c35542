"""Real schedulers and workers, and the command line, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from distributed import Client

from microdata.formats.conftest import leave_out

# All that is kept is kept in files, so that tests see by them how far a run is.
MAIN = "from taxomask.cli import main; from taxomask.engines import scratch; scratch.LARGE = 1; main()"
COMMAND = [sys.executable, "-c", MAIN, "protect"]
PATIENCE = 600.0  # seconds for what would otherwise be waited for in vain; far more than any machine takes
PATH = os.pathsep.join([str(Path(__file__).parents[1]), *(one for one in sys.path if one)])


class Processes:
    """Processes that end with the test, on this machine only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        self.scheduler: subprocess.Popen[str] | None = None
        self._all: list[subprocess.Popen[str]] = []

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder, **options}
        environment = {**os.environ, "PYTHONPATH": PATH, **options.pop("env", {})}
        process = subprocess.Popen(command, text=True, env=environment, **options)
        self._all.append(process)
        return process

    def start_scheduler(self, **environment: str) -> str:
        """Its address."""
        told = self.folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        command = [sys.executable, "-m", "dask", "scheduler", *options, "--scheduler-file", str(told)]
        self.scheduler = self.start(command, env=environment)
        wait_for(lambda: told.exists() and told.read_text().endswith("}"), "a scheduler")
        self.address = json.loads(told.read_text())["address"]
        return self.address

    def start_worker(self, *options: str, before: tuple[str, ...] = (), **environment: str) -> subprocess.Popen[str]:
        """A worker with a nanny, which is the process that is returned."""
        fixed = ["--host", "127.0.0.1", "--nworkers", "1", "--nthreads", "1", "--no-dashboard"]
        command = [sys.executable, "-m", "dask", "worker", self.address, *fixed]
        scratch = ["--local-directory", str(self.folder / "dask"), "--memory-limit", "0", *options]
        return self.start([*before, *command, *scratch], env=environment, cwd="/")

    def wait_for_workers(self, count: int) -> None:
        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def protect(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """``taxomask protect``; what it prints can be read."""
        command = [*COMMAND, *(str(one) for one in arguments)]
        return self.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self) -> None:
        for process in reversed(self._all):
            for one in [*family(process.pid)[1:], process]:
                end(one.pid)
            process.communicate()


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it, if it still runs."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_for(happened: Callable[[], object], what: str) -> None:
    """Wait as long as it takes; the limit is for what never happens."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"no {what} within {PATIENCE:g} s"
        time.sleep(0.02)


@contextlib.contextmanager
def small_disk_of(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A folder on a device of its own."""
    small = folder / "small"
    small.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        leave_out("mounting a small device needs root")
    try:
        yield small
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)  # a traceback may still hold a file
