"""Work that may break the process that does it is done in another one, a child.

Libraries that read files are written in C and Rust, and some break down on a damaged file: the process is gone, and all
that it held with it. A child does such work instead, is kept for the next piece of work, and is replaced when it dies.
It ends with its parent. It is no sandbox: it may do whatever its parent may.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import EngineError, TaxomaskError

__all__ = ["BrokenDownError", "batches", "call", "table", "trusted"]

_BEGIN = "import sys; _, end, *sys.path[:] = sys.argv; from taxomask._support.apart import serve; serve(int(end))"
_PIPE = 1 << 20  # bytes that wait between the two processes
_TRUST = "TAXOMASK_TRUST_FILES"


class BrokenDownError(Exception):
    """The child broke down over its work, here over a file that it was to read."""

    def __init__(self, how: str, *, killed: bool = False) -> None:
        self.how, self.killed = how, killed
        super().__init__(how)

    def over(self, file: object) -> tuple[str, str]:
        """The message and the hint for whoever wanted the file to be read."""
        again = "Copy or download it again, or save it again with the program that wrote it."
        if self.killed:
            return f"{file}: the process that read the file was killed.", f"Is there enough memory? If so: {again}"
        return f"{file}: the file is damaged: the library that reads it broke down on it ({self.how}).", again


def trusted() -> bool:
    """Whether the user trusts all files: then they are read in this process."""
    return os.environ.get(_TRUST) == "1"


def call(function: Callable[[], Any]) -> Any:
    """The result of a function, called in a child; the function and its result must be such that they can be pickled.

    Raises
    ------
    TaxomaskError
        As the function raised it.
    BrokenDownError
        If it raised anything else, or if the child died.
    """
    with _at_work(function, streamed=False) as child:
        return child.answer()


def table(function: Callable[[], Any]) -> Any:
    """The pyarrow.Table of all batches of a reader (pyarrow.RecordBatchReader) that a function gives in a child."""
    with _stream(function) as reader:
        return reader.read_all()


def batches(function: Callable[[], Any]) -> Iterator[Any]:
    """The same batches one at a time, as the child makes them; it begins when the first is asked for."""
    with _stream(function) as reader:
        yield from reader


# --------------------------------------------------------------------------------------- the parent


class _Child:
    """A process that does one piece of work after the other."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        end, life = os.pipe()
        self._life = os.fdopen(life, "wb", 0)
        try:
            self._process = subprocess.Popen(
                [sys.executable or "python3", "-c", _BEGIN, str(end), *sys.path],
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                pass_fds=[end],
            )
        except OSError as error:
            self._life.close()
            raise _no_child(error.strerror or str(error)) from None
        finally:
            os.close(end)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self.told = self._process.stdin, self._process.stdout
        self._rights = _rights()
        self.resting = True
        with suppress(ImportError, AttributeError, OSError):  # only Linux has it, and only speed is lost
            import fcntl

            fcntl.fcntl(self.told, fcntl.F_SETPIPE_SZ, _PIPE)

    @property
    def usable(self) -> bool:
        """Whether it is there, and may do what this process may now."""
        return self._process.poll() is None and self._rights == _rights()

    def ask(self, function: Callable[[], Any], streamed: bool) -> None:
        self.resting = False
        try:
            pickle.dump((_here(), function, streamed), self._asked)
            self._asked.flush()
        except BrokenPipeError:
            raise self.broken() from None

    def answer(self) -> Any:
        """What the child says next."""
        try:
            kind, content = pickle.load(self.told)
        except (EOFError, pickle.UnpicklingError):
            raise self.broken() from None
        except Exception as error:  # what a damaged file says of itself can be sent, but not be made here
            raise BrokenDownError(f"{type(error).__name__}: {error}") from None
        self.resting = kind != "batches"
        if kind == "error":
            raise content
        if kind == "fault":
            raise BrokenDownError(content)
        return content

    def broken(self) -> Exception:
        """Why the child is gone."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return BrokenDownError("its answer cannot be understood")
        if code >= 0:
            return _no_child(f"it ended with the code {code}")
        return BrokenDownError(signal.strsignal(-code) or f"signal {-code}", killed=-code == signal.SIGKILL)

    def end(self) -> None:
        """End the process now, whatever it does."""
        self._close()
        with suppress(PermissionError):  # this process gave up rights; the end of the pipe does as well
            self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Let go of a process that is not ours, but that of the process from which this one was forked."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._asked, self.told, self._life):
            with suppress(OSError):  # what could not be sent any more
                pipe.close()


_idle: list[_Child] = []
_change = threading.Lock()  # of the list


@contextmanager
def _at_work(function: Callable[[], Any], *, streamed: bool) -> Iterator[_Child]:
    """A child that does this work; one that was stopped in the middle of it is not used again."""
    with _change:
        found = _idle.pop() if _idle else None
    if found is not None and not found.usable:
        found.end()
        found = None
    child = found or _Child()
    try:
        child.ask(function, streamed)
        yield child
    finally:
        if child.resting:
            with _change:
                _idle.append(child)
        else:
            child.end()


@contextmanager
def _stream(function: Callable[[], Any]) -> Iterator[Any]:
    with _at_work(function, streamed=True) as child:
        import pyarrow as pa  # while the child begins

        child.answer()
        try:
            yield pa.ipc.open_stream(child.told)
        except (pa.ArrowException, OSError):  # the stream is cut off
            raise child.broken() from None
        child.answer()


def _no_child(why: str) -> EngineError:
    return EngineError(
        f"the process that reads files could not work: {why}.",
        hint=f"Set {_TRUST}=1 to read files that you trust without it.",
    )


def _rights() -> tuple[int, int]:
    return os.geteuid(), os.getegid()


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


def _end_all() -> None:
    with _change:
        children, _idle[:] = list(_idle), []
    for child in children:
        child.end()


def _forget_all() -> None:
    global _change
    _change = threading.Lock()
    children, _idle[:] = list(_idle), []
    for child in children:
        child.forget()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# --------------------------------------------------------------------------------------- the child


def serve(end: int) -> None:
    """The life of a child, until the other side of a pipe is closed."""
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    _end_with_parent(end)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what is left of a crash would hold values of the table
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # a file may claim to need any amount
        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    sys.meta_path.insert(0, _WithoutPandas())
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:  # libraries may print values of the table
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        while True:
            folder, function, streamed = pickle.load(asked)
            with suppress(OSError):
                os.chdir(folder)
            last = _worked(function, streamed, told)
            pickle.dump(last, told)
            told.flush()
            del function, last
            if "pyarrow" in sys.modules:
                sys.modules["pyarrow"].default_memory_pool().release_unused()
    os._exit(0)


class _WithoutPandas:
    """Pandas is not loaded: pyarrow would do so wherever it makes an array, in vain and for half of the time."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _worked(function: Callable[[], Any], streamed: bool, told: Any) -> tuple[str, Any]:
    """Do a piece of work; the last thing to say about it."""
    try:
        found = function()
        if not streamed:
            return "done", found
        import pyarrow as pa

        pickle.dump(("batches", None), told)
        with pa.ipc.new_stream(told, found.schema) as writer:  # it is also ended if reading fails
            for batch in found:
                writer.write_batch(batch)
        return "done", None
    except TaxomaskError as error:
        return "error", error
    except BaseException as error:  # a panic of a library in Rust is not an Exception
        return "fault", f"{type(error).__name__}: {error}"


def _end_with_parent(end: int) -> None:
    """End this process at once when its parent is gone, even in the middle of a library that never comes back.

    Nothing is ever sent through the pipe whose end this is, so that a signal from it can only mean that the parent is
    gone. (The pipe of questions would not do: who writes to it wakes the reader first and sends the signal after.)
    """
    import fcntl
    import select

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([end], [], [], 0)[0]:  # gone before
        os._exit(0)
