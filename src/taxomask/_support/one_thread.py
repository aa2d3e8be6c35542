"""Sums in one order: the library of linear algebra with one thread, whatever the number of cores.

It would cut long sums into as many pieces as there are threads, and the last bits would differ between machines.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit what is loaded by now; whoever starts threads holds the limit until they have ended.

    A process has one limit: of several that hold it in threads of their own, the first sets it and the last lifts it.
    """
    _LIMIT.hold("scipy.linalg" in sys.modules)
    try:
        yield
    finally:
        _LIMIT.release()


class _Limit:
    """How many hold the limit, and how to lift it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = 0
        self._limits: dict[bool, Any] = {}  # one with the library of scipy and one without

    def hold(self, with_scipy: bool) -> None:
        with self._lock:
            if with_scipy not in self._limits:  # scipy may have been loaded since
                _take_control()
                self._limits[with_scipy] = _libraries(with_scipy).limit(limits=1)
            self._held += 1

    def release(self) -> None:
        with self._lock:
            self._held -= 1
            if not self._held:
                _take_control()
                while self._limits:
                    self._limits.popitem()[1].restore_original_limits()


_LIMIT = _Limit()


def _take_control() -> None:
    """Newer versions of threadpoolctl obey the first thread that asks, and here the last one lifts the limit."""
    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """Finding them takes milliseconds; numpy and scipy bring one each."""
    import numpy  # noqa: F401

    return ThreadpoolController().select(user_api="blas")
