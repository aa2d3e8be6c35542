"""Work in a child process: it may fail in every way, and its parent goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

from engines.processes import wait_for
from support.work import fail, fail_in_the_middle, nothing, numbers
from taxomask._support import apart
from taxomask.errors import DataError, EngineError


def test_results_and_errors_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert apart.call(partial(eval, "1 + 1")) == 2
    first = apart.call(os.getpid)
    assert first != os.getpid()
    with pytest.raises(DataError, match="no good") as found:
        apart.call(partial(fail, DataError("no good.", hint="Do better.")))
    assert (found.value.message, found.value.hint) == ("no good.", "Do better.")
    with pytest.raises(apart.BrokenDownError, match="ZeroDivisionError"):
        apart.call(partial(eval, "1 / 0"))
    with pytest.raises(apart.BrokenDownError, match="SystemExit"):
        apart.call(sys.exit)
    monkeypatch.chdir(tmp_path)
    assert apart.call(os.getcwd) == str(tmp_path)  # names of files mean the same
    assert apart.call(os.getpid) == first  # it has seen all that


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL])
def test_a_child_that_dies_is_replaced(number: signal.Signals) -> None:
    before = apart.call(os.getpid)
    with pytest.raises(apart.BrokenDownError) as found:
        apart.call(partial(signal.raise_signal, number))
    message, hint = found.value.over("stays.sav")
    assert message.startswith("stays.sav: the ")
    assert ("damaged" in message) != found.value.killed
    assert "again" in hint
    assert found.value.killed == (number == signal.SIGKILL)
    assert apart.call(os.getpid) != before


def test_one_that_died_between_two_pieces_of_work_is_replaced_too() -> None:
    pid = apart.call(os.getpid)
    os.kill(pid, signal.SIGKILL)
    tasks = Path(f"/proc/{pid}/task")  # it has ended when the last of its threads has
    wait_for(lambda: ended(psutil.Process(pid)) and len(list(tasks.glob("*"))) <= 1, "the end of the child")
    assert apart.call(os.getpid) != pid


def test_batches_come_as_they_are_made() -> None:
    assert apart.table(numbers).equals(pa.table({"a": range(100_000)}))
    assert sum(batch.num_rows for batch in apart.batches(numbers)) == 100_000
    empty = apart.table(nothing)
    assert (empty.column_names, empty.num_rows) == (["a"], 0)


def test_batches_that_end_in_an_error() -> None:
    for code, kind in (
        ("from taxomask.errors import DataError; raise DataError('no good.', hint='Do better.')", DataError),
        ("raise KeyError('x')", apart.BrokenDownError),
        ("import os; os.abort()", apart.BrokenDownError),
    ):
        pieces, batches = partial(fail_in_the_middle, code), []
        with pytest.raises(kind):
            batches.extend(apart.batches(pieces))
        with pytest.raises(kind):
            apart.table(pieces)
    assert apart.call(partial(eval, "1")) == 1


def test_batches_that_nobody_wants_any_more() -> None:
    pieces = apart.batches(numbers)
    assert next(pieces).num_rows == 1000
    pieces.close()  # type: ignore[attr-defined]
    assert apart.table(numbers).num_rows == 100_000


def test_two_streams_at_once_and_many_threads() -> None:
    pairs = zip(apart.batches(numbers), apart.batches(numbers), strict=True)
    assert all(one.equals(other) for one, other in pairs)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(apart.call, [partial(pow, n, 2) for n in range(50)])) == [n**2 for n in range(50)]


def test_without_a_python_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_idle", [])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(EngineError, match="could not work: No such file") as found:
        apart.call(os.getpid)
    assert "TAXOMASK_TRUST_FILES=1" in found.value.hint
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EngineError, match="ended with the code 1"):
        apart.call(os.getpid)


# A script without `if __name__ == "__main__"`, which says what its child is called and then waits for it for ever.
SCRIPT = """
import os, sys
from functools import partial
from taxomask._support import apart
print(apart.call(os.getpid), flush=True)
if sys.argv[1] == "busy":
    # in a library that never comes back and lets no other thread work
    apart.call(partial(eval, "__import__('re').match('(a|a)*b', 'a' * 60)"))
if sys.argv[1] == "idle":
    sys.stdin.read()
"""


FORK = """
import os
from taxomask._support import apart
print(apart.call(os.getpid), flush=True)
if fork := os.fork():
    os.waitpid(fork, 0)
print(apart.call(os.getpid), flush=True)
"""


def test_a_fork_has_a_child_of_its_own(tmp_path: Path) -> None:
    first, inside, after = started(tmp_path, FORK).stdout.split()
    assert first == after != inside


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("what", ["busy", "idle"])
def test_a_child_ends_with_its_parent(tmp_path: Path, what: str, number: signal.Signals) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    command = [sys.executable, str(tmp_path / "script.py"), what]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as script:
        assert script.stdout is not None
        child = psutil.Process(int(script.stdout.readline()))
        if what == "busy":
            wait_for(lambda: child.status() == psutil.STATUS_RUNNING and child.cpu_times().user > 0.5, "the work")
        script.send_signal(number)
        script.wait()
        wait_for(lambda: ended(child), "the end of the child")


def test_a_script_leaves_nothing_behind(tmp_path: Path) -> None:
    done = started(tmp_path, SCRIPT)
    assert not done.stderr
    assert not psutil.pid_exists(int(done.stdout))


def started(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A script that ran to its end."""
    (folder / "script.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    command = [sys.executable, "-W", "error", str(folder / "script.py"), "end"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
