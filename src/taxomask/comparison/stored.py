"""Numbers of the map that were computed before, in the user's cache."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from .._support.caching import cache_folder
from .._support.temporary import write_whole
from ..errors import DataError
from ..evaluation import Summary
from ..measures.analyses import Analysis
from ..methods import Method
from ..microdata import Schema
from ..taxonomy.distances import Distance

__all__ = ["Stored"]


def fingerprint_of_code(package: Path) -> str:
    """A hash of what computes numbers: the text of this package and the versions of those that it computes with.

    Of the whole package: what a number depends on is hard to tell, and to compute it again takes little.
    """
    digest = hashlib.sha256(repr([version(name) for name in ("numpy", "scipy", "numba")]).encode())
    for file in sorted(package.rglob("*.py")):
        digest.update(f"{file.relative_to(package)} {file.stat().st_size} ".encode() + file.read_bytes())
    return digest.hexdigest()


_CODE = fingerprint_of_code(Path(__file__).parents[1])  # taken now: an update may replace the files while we run


class Stored:
    """Numbers that were computed before, by the content of all that they depend on, the code included."""

    def __init__(
        self,
        cache: bool | str | PathLike[str],
        table: str,
        schema: Schema,
        seed: int,
        attackers: tuple[str, ...] | None = None,
        analyses: tuple[Analysis, ...] = (),
    ) -> None:
        self._folder: Path | None = None
        if cache is False or not all(map(_is_ours, (*(one.distance for one in schema.values()), *analyses))):
            return
        self._folder = cache_folder("comparisons") if cache is True else Path(cache)
        content = [_CODE, table, schema.fingerprint(), seed, attackers and sorted(set(attackers))]
        content += [one.to_dict() for one in analyses]
        self._key = hashlib.sha256(json.dumps(content).encode())

    def _file(self, method: Method) -> Path:
        assert self._folder is not None
        key = self._key.copy()
        key.update(json.dumps([type(method).__name__, method.parameters()], default=repr).encode())
        return self._folder / f"{key.hexdigest()}.json"

    def read(self, method: Method) -> Summary | None:
        if self._folder is None or not _is_ours(method):
            return None
        try:
            values = json.loads(self._file(method).read_text(encoding="utf-8"))
            lists = {name: tuple(one) for name, one in values.items() if isinstance(one, list)}
            return Summary(**{**values, **lists})
        except (OSError, ValueError, TypeError, KeyError):  # not there, or not as it is written today
            return None

    def write(self, method: Method, found: Summary) -> None:
        if self._folder is None or not _is_ours(method):
            return
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            file = self._file(method)
            write_whole(file, json.dumps(asdict(found)))  # others may not read it
        except (OSError, DataError):  # a cache that cannot be written is no reason to stop
            return


def _is_ours(thing: Any) -> bool:
    """Whether a method (with those in it), a distance or an analysis is ours: the code of others may change unseen."""
    if isinstance(thing, tuple | list):
        return all(_is_ours(one) for one in thing)
    if not isinstance(thing, Method | Distance | Analysis):
        return True
    inside = [getattr(thing, field.name) for field in fields(thing)] if isinstance(thing, Method) else []
    return type(thing).__module__.startswith("taxomask.") and _is_ours(inside)
