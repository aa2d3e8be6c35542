"""How kernels are compiled: ahead of their first call, without the GIL, and cached on disk.

Kernels have explicit signatures, so each is compiled once and not once per caller's array types. They
live in files of their own (``_…kernels.py``) that are imported on first use: importing taxomask does
not import numba.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from numba import njit

__all__ = ["compile_all", "kernel"]


def kernel(*signatures: str) -> Any:
    """Decorate a function to be compiled for the given signatures (none: for its callers, inlined)."""
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
    return njit(list(signatures), **options) if signatures else njit(**options)


def compile_all() -> list[str]:
    """Compile every kernel, or load it from the cache; the names of the modules that hold them."""
    package = Path(__file__).parent
    files = sorted(package.rglob("_*kernels.py"))
    names = [".".join((__package__ or "taxomask", *file.relative_to(package).with_suffix("").parts)) for file in files]
    for name in names:
        import_module(name)
    return names


if __name__ == "__main__":
    print(*compile_all())
