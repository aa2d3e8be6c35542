"""How kernels are compiled: ahead of their first call, without the GIL, and cached in the user's cache folder.

Kernels have explicit signatures, so each is compiled once and not once per caller's array types. They live in files of
their own (``_…kernels.py``) that are imported on first use: importing taxomask does not import numba. The cache is
keyed by the text of a file and of those it imports: numba does not notice by itself when a kernel that another one
calls has changed. Where the file lies makes no difference: all installations of the same text share what is compiled.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from numba import njit, types
from numba.core import caching, event
from numba.extending import typeof_impl

from .caching import cache_folder

__all__ = ["compile_all", "inlined", "kernel", "makes_no_array"]

_PACKAGE = Path(__file__).parents[1]
_SETTINGS: Any = numba.config
_unliteral: Any = types.unliteral
_ONE_AT_A_TIME = threading.RLock()  # the settings are one for all threads: kernels would go to the working folder
_KEPT = 30 * 24 * 3600  # seconds that kernels are kept after they were last used


class Kernel:
    """A function that is compiled, or loaded from the cache, when it is first called, from Python or from a kernel.

    So a job waits only for the kernels that it uses. It is a callable object: what calls it need not know.
    """

    def __init__(self, function: Any, signatures: tuple[str, ...], how: dict[str, Any]) -> None:
        self._function, self._signatures, self._how = function, signatures, how
        self._compiled: Any = None
        self._asked = False

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or self.compiled)(*arguments)

    @property
    def compiled(self) -> Any:
        """The compiled function."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = self._compile()
            return self._compiled

    @property
    def worth_it(self) -> bool:
        """Whether it is there, or was asked for before: what is done once in another way need not wait for it."""
        again, self._asked = self._asked or self._compiled is not None, True
        return again

    def _compile(self) -> Any:
        function, signatures, how = self._function, list(self._signatures), self._how
        before = _SETTINGS.CACHE_DIR, getattr(_SETTINGS, "CACHE_LOCATOR_CLASSES", "")
        if not before[0] and (folder := _cache_folder(Path(function.__code__.co_filename))):
            _SETTINGS.CACHE_DIR, _SETTINGS.CACHE_LOCATOR_CLASSES = folder, f"{__name__}.{ByText.__name__}"
        try:
            with _no_collection():
                return njit(signatures, cache=True, **how)(function)
        except (RuntimeError, OSError, EOFError, pickle.UnpicklingError) as error:
            if isinstance(error, RuntimeError) and "cannot cache" not in str(error):
                raise
            # Nowhere to write, a full disk, a damaged file: compiled anew in every process.
            return njit(signatures, **how)(function)
        finally:
            _SETTINGS.CACHE_DIR, _SETTINGS.CACHE_LOCATOR_CLASSES = before


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector: a compiler makes many objects that stay, and to look at them again and again would
    take a seventh of the time.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


@typeof_impl.register(Kernel)
def _type_of_kernel(value: Kernel, _: Any) -> Any:
    """What a kernel is for another one that calls it."""
    return types.Dispatcher(value.compiled)


def kernel(*signatures: str, **options: Any) -> Any:
    """Decorate a function to be compiled for the given signatures (none: as part of its callers).

    No entry for callers in C is made, and none for Python where only kernels call: for functions that are given tuples
    of many arrays, to unpack them takes longer to compile than what they do.
    """

    def compiled(function: Any) -> Any:
        how = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
        if not signatures:
            return _once_for_integers(njit(**{"no_cpython_wrapper": True, **how})(function))
        return Kernel(function, signatures, how)

    return compiled


def _once_for_integers(dispatcher: Any) -> Any:
    """Compiled once for all integers of a type: numba would compile it anew for a constant that a call is given."""
    template = dispatcher.get_call_template

    def of_any(args: Any, kws: Any) -> Any:
        return template([_unliteral(one) if isinstance(one, types.IntegerLiteral) else one for one in args], kws)

    dispatcher.get_call_template = of_any
    return dispatcher


def makes_no_array(*signatures: str) -> Any:
    """Decorate a function that makes no array: callers pass all room that it needs.

    References to arrays are not counted then, which takes up to 40 % of the time of functions that are given tuples of
    many: numba counts at every use.
    """
    return kernel(*signatures, _nrt=False)


def inlined(function: Any) -> Any:
    """Decorate a function that makes no array, compiled into every place where it is called.

    So the descriptions of some thirty arrays need not be passed, which costs more than a look at a node of a tree.
    """
    return kernel(_nrt=False, forceinline=True)(function)


def compile_all() -> list[str]:
    """Compile every kernel, or load it from the cache; the names of the modules that hold them."""
    files = sorted(_PACKAGE.rglob("_*kernels.py"))
    names = [".".join(("taxomask", *file.relative_to(_PACKAGE).with_suffix("").parts)) for file in files]
    for name in names:
        for one in vars(import_module(name)).values():
            if isinstance(one, Kernel):
                one.compiled  # noqa: B018
    return names


class ByText(getattr(caching, "UserProvidedCacheLocator", object)):  # type: ignore[misc]
    """Tells numba to keep kernels right in the folder that it is given, not in one named after the file's path."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return ""


@cache
def _cache_folder(file: Path) -> str:
    """A folder for the kernels of a file in the user's cache; those that were not used for long are removed.

    Empty if there is none that can be written to: numba then looks for a place by itself.
    """
    text = b"".join(one.read_bytes() for one in sorted(_sources(file)))
    name = f"{numba.__version__} {file.relative_to(_PACKAGE) if file.is_relative_to(_PACKAGE) else file} "
    folder = cache_folder("kernels") / hashlib.sha256(name.encode() + text).hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in folder.parent.iterdir():
            if other.stat().st_mtime < time.time() - _KEPT:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:
        return ""
    return str(folder)


def _sources(file: Path) -> set[Path]:
    """A file of kernels with all files of this package that it imports, directly or not."""
    found, waiting = set(), [file]
    while waiting:
        one = waiting.pop()
        if one in found or not one.is_file():
            continue
        found.add(one)
        for dots, name in re.findall(r"^from (\.+)(\w[\w.]*) import", one.read_text(encoding="utf-8"), re.MULTILINE):
            waiting.append(one.parents[len(dots) - 1].joinpath(*name.split(".")).with_suffix(".py"))
    return found


class _Word(event.Listener):
    """Says once that kernels are being compiled: the first user of an installation waits for it."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if not self.said and getattr(function, "__module__", "").startswith("taxomask."):
            self.said = True
            print("taxomask: compiling kernels (once for each kind of work, up to a minute) …", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Word())  # type: ignore[no-untyped-call]
