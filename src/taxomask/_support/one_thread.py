"""Sums in one order: the library of linear algebra with one thread, whatever the number of cores.

It would cut long sums into as many pieces as there are threads, and the last bits would differ between machines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit what is loaded by now; whoever starts threads holds the limit until they have ended.

    A process has one limit: of two that hold it in threads of their own, the first that ends lifts it.
    """
    with _libraries("scipy.linalg" in sys.modules).limit(limits=1):
        yield


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """Finding them takes milliseconds; numpy and scipy bring one each."""
    import numpy  # noqa: F401

    return ThreadpoolController().select(user_api="blas")
