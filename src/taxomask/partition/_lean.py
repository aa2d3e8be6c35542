"""Compiling kernels that own no memory.

The searches look at millions of nodes, a few nanoseconds each. There, counting references to arrays and passing the
descriptions of some thirty of them to a function would cost ten times the work itself. Lean kernels do neither: they
allocate nothing (callers pass all room that they need), and small ones become part of their callers.
"""

from __future__ import annotations

from typing import Any

from .._jit import kernel

__all__ = ["inlined", "lean"]


def lean(*signatures: str) -> Any:
    """Decorate a function that allocates nothing, compiled for the given signatures (none: as part of its callers)."""
    return kernel(*signatures, _nrt=False)


def inlined(function: Any) -> Any:
    """Decorate a function that allocates nothing, compiled into every place where it is called."""
    return kernel(_nrt=False, forceinline=True)(function)
