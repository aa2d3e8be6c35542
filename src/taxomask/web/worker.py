"""A process that does the work, one task after the other, and tells how far it is."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from .._support.failures import explained
from ..errors import TaxomaskError

__all__ = ["Report", "TaskError", "Worker"]

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)

Report = Callable[[str, Any], None]  # a kind ("progress", "part") and what there is to tell


class TaskError(TaxomaskError):
    """A task failed, or its process ended; ``leaks`` as of a `PromiseError`, ``kind`` the name of the error."""

    leaks: tuple[Mapping[str, Any], ...] = ()
    kind: str = ""


class Worker:
    """A process that is started when it is first needed, and anew after it was stopped or has crashed."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None
        self._busy = threading.Lock()
        self._change = threading.Lock()  # of the process

    def run(
        self,
        task: str,
        arguments: dict[str, Any],
        report: Report | None = None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Any:
        """Do a task and wait for it; what it tells meanwhile goes to ``report``.

        A task that is not ``wanted`` any more before it begins is not done; later on, `stop` ends it.

        Raises
        ------
        TaskError
            With the message of what went wrong in the process.
        """
        with self._busy:
            with self._change:
                if not wanted():
                    raise TaskError("the work was cancelled.")
                self._start()
            try:
                self._pipe.send((task, arguments))
                while True:
                    kind, content = self._pipe.recv()
                    if kind == "done":
                        return content
                    if kind == "error":
                        failed = TaskError(content["message"], hint=content["hint"])
                        failed.leaks, failed.kind = content["leaks"], content["kind"]
                        raise failed
                    if report is not None:
                        report(kind, content)
            except (EOFError, OSError):
                raise self._ended() from None

    def stop(self) -> None:
        """End the process now, whatever it does."""
        with self._change:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                process.join()

    def _ended(self) -> TaskError:
        """Why the process is gone."""
        with self._change:
            process = self._process
            if process is not None:
                process.join(10)
        code = 0 if process is None else process.exitcode or 0
        self.stop()
        if -code in _CRASHES:
            return TaskError(
                f"the process that did the work broke down ({signal.strsignal(-code)}).",
                hint="A file that it read may be damaged: copy or save it again. Nothing was released; you can go on.",
            )
        return TaskError(
            "the process that did the work ended unexpectedly.",
            hint="The table may need more memory than there is. Nothing was released; you can go on.",
        )

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        process = context.Process(target=_work, args=(other,), daemon=True)
        process.start()
        other.close()  # so that the end of the process is seen as the end of the pipe
        self._process = process


def _work(pipe: Any) -> None:
    """The life of the process: it ends with the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.umask(0o077)
    with open(os.devnull, "r+b") as nothing:  # libraries may print values of the table
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task, arguments = pipe.recv()
            try:
                from .tasks import TASKS

                answer = TASKS[task](lambda kind, content: pipe.send((kind, content)), **arguments)
            except Exception as error:
                known = explained(error)
                if known is None:  # a fault of ours or of a library: shown, and the process goes on
                    message = f"{type(error).__name__}: {error}"
                    known = TaskError(message, hint="This is a fault of taxomask: please report it.")
                leaks = tuple(getattr(known, "leaks", ()))
                told = {"message": known.message, "hint": known.hint, "leaks": leaks, "kind": type(known).__name__}
                pipe.send(("error", told))
            else:
                pipe.send(("done", answer))
