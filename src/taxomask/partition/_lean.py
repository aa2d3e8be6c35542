"""Compiling kernels that own no memory.

The searches look at millions of nodes, a few nanoseconds each. There, counting references to arrays and passing the
descriptions of some thirty of them to a function would cost ten times the work itself. Lean kernels do neither: they
allocate nothing (callers pass all room that they need), and small ones become part of their callers.
"""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["inlined", "lean"]

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


def lean(*signatures: str) -> Any:
    """Decorate a function that allocates nothing, compiled for the given signatures (none: for its callers)."""
    return njit(list(signatures), **_OPTIONS) if signatures else njit(**_OPTIONS)


def inlined(function: Any) -> Any:
    """Decorate a function that allocates nothing, compiled into every place where it is called."""
    return njit(**_OPTIONS, forceinline=True)(function)
