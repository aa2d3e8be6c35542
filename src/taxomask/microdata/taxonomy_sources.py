"""Where the taxonomies of an attribute come from: shipped ones, files, columns of the table, or objects in memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import SchemaError, TaxonomyError, did_you_mean
from ..taxonomy import FromColumns, Taxonomy, builtin

__all__ = ["BUILTIN", "Source", "TaxonomyFile", "checked_sources", "is_weight", "load", "shipped"]

BUILTIN = builtin.names()
NAMED_COLUMNS = ("concept", "parent", "label", "code")
Failing: TypeAlias = Callable[[str, str], SchemaError]


@dataclass(frozen=True)
class TaxonomyFile:
    """A file of a taxonomy whose columns have names of their own: pairs such as ``("parent", "group")``."""

    path: Path
    columns: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return self.path.name


Source: TypeAlias = Taxonomy | str | Path | FromColumns | TaxonomyFile


def checked_sources(given: object, name: str, error: Failing) -> Source | tuple[tuple[Source, float], ...]:
    """What was given as the taxonomy of an attribute, if it can be one; `error` makes the error that is raised."""
    if isinstance(given, (Taxonomy, str, Path, FromColumns, TaxonomyFile, Mapping)):
        return _checked(given, name, error)
    example = "Write taxonomy=[first, (second, 2.0)]: taxonomies, or pairs of a taxonomy and its weight."
    if not isinstance(given, Iterable):
        raise error(f"taxonomy must be a Taxonomy, a name or a file; got {given!r}.", example)
    sources = []
    for item in given:
        pair: Any = item if isinstance(item, (tuple, list)) else (item, 1.0)
        if len(pair) != 2 or not is_weight(pair[1]):
            raise error(f"taxonomy holds {item!r}, which is not a taxonomy with a weight above 0.", example)
        sources.append((_checked(pair[0], name, error), float(pair[1])))
    if not sources:
        raise error("taxonomy is an empty list.", example)
    return tuple(sources)


def _checked(source: object, name: str, error: Failing) -> Source:
    if isinstance(source, Taxonomy) or (isinstance(source, str) and source in BUILTIN):
        return source
    if isinstance(source, TaxonomyFile) or (isinstance(source, Mapping) and "file" in source):
        return _checked_file(source, name, error)
    if isinstance(source, (Mapping, FromColumns)):
        return _checked_columns(source, name, error)
    if isinstance(source, (str, Path)):
        if source and os.path.exists(source):  # unlike Path.exists no error where a name is too long
            return Path(source)
        raise error(
            f"taxonomy {str(source)!r} is neither a shipped taxonomy nor a file.",
            did_you_mean(Path(source).name, BUILTIN),
        )
    raise error(
        f"taxonomy must be a Taxonomy, a name or a file; got {source!r}.",
        "Pass taxonomy=Taxonomy.read('…').",
    )


def _checked_file(given: Mapping[str, Any] | TaxonomyFile, name: str, error: Failing) -> TaxonomyFile:
    """A file with the names of its columns; whether it has them is seen when it is read."""
    if isinstance(given, TaxonomyFile):
        return given
    example = "Write taxonomy: {file: own.csv, concept: code, parent: group}, with label or not."
    columns = {key: value for key, value in given.items() if key != "file"}
    strange = [key for key in columns if key not in NAMED_COLUMNS]
    if strange or not columns or not all(isinstance(value, str) and value for value in columns.values()):
        raise error("taxonomy names a file and, of its columns, concept, parent, label or code.", example)
    path = _checked(given["file"], name, error)
    if not isinstance(path, Path):
        raise error(f"taxonomy: {given['file']!r} is no file, so that it has no columns to name.", example)
    return TaxonomyFile(path, tuple(columns.items()))


def _checked_columns(given: Mapping[str, Any] | FromColumns, name: str, error: Failing) -> FromColumns:
    example = (
        "Write taxonomy: {from: [code, group, chapter]}, the column itself first, with labels: {code: text} or not."
    )
    if isinstance(given, Mapping):
        columns, labels = given.get("from"), given.get("labels", {})
        if not set(given) <= {"from", "labels"} or not isinstance(columns, list) or not isinstance(labels, Mapping):
            raise error(f"taxonomy must be a name, a file, or columns; got {dict(given)!r}.", example)
        try:
            given = FromColumns.of(columns, labels)
        except TaxonomyError as wrong:
            raise error(wrong.message, wrong.hint) from None
    if given.columns[0] != name:
        raise error(f"its taxonomy is made from {given.columns[0]!r} first, another column.", example)
    return given


def is_weight(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0 < float(value) < math.inf


def load(source: Source) -> Taxonomy:
    """The taxonomy itself."""
    if isinstance(source, Taxonomy):
        return source
    if isinstance(source, FromColumns):
        raise SchemaError(
            f"the taxonomy {source.name} is made from a table, which is not here.",
            hint="Code a table first: tm.Microdata.from_frame(table, schema).schema has it.",
        )
    if isinstance(source, str):
        return shipped(source)
    path, columns = (source.path, source.columns) if isinstance(source, TaxonomyFile) else (source, ())
    status = path.stat()
    return _read(path.resolve(), status.st_mtime_ns, status.st_size, columns)


@lru_cache(maxsize=8)
def shipped(name: str) -> Taxonomy:
    return Taxonomy.builtin(name)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int, columns: tuple[tuple[str, str], ...]) -> Taxonomy:
    """A file; an edited one is read anew."""
    return Taxonomy.read(path, "edges" if columns else None, **dict(columns))
