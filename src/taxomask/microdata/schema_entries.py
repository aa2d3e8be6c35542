"""Attributes as entries of a plan, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..errors import SchemaError, did_you_mean
from ..taxonomy import FromColumns, Taxonomy
from .attribute import Attribute
from .taxonomy_sources import BUILTIN, Source, TaxonomyFile

__all__ = ["DEFAULTS", "FIELDS", "attribute_of", "check_keys", "entries_of", "entry_of"]

FIELDS = tuple(field.name for field in dataclasses.fields(Attribute))
DEFAULTS = {field.name: field.default for field in dataclasses.fields(Attribute)}


# --------------------------------------------------------------------------------------- from a plan


def entries_of(entries: object) -> Iterator[dict[str, Any]]:
    """What a plan says of each attribute: a list with names, or a mapping by name."""
    if isinstance(entries, dict):
        for name, entry in entries.items():
            if not isinstance(entry, dict | None):
                raise SchemaError(
                    f"attribute {name!r} must have keys; got {entry!r}.", hint="Write 'role: …' below it."
                )
            yield {"name": name, **(entry or {})}
        return
    if not isinstance(entries, list):
        raise SchemaError(f"attributes must be a list; got {entries!r}.", hint="Write '- name: …' for each column.")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or "name" not in entry:
            raise SchemaError(f"attribute number {number} has no name; got {entry!r}.", hint="Write '- name: …'.")
        yield entry


def attribute_of(entry: dict[str, Any], folder: Path) -> Attribute:
    """The attribute of an entry; files are looked for from the folder of the plan."""
    check_keys(f"attribute {entry['name']!r}", entry)
    values = {key: value for key, value in entry.items() if value is not None}
    values.setdefault("name", entry["name"])
    if "taxonomy" in values:
        values["taxonomy"] = _taxonomy(values["taxonomy"], folder)
    return Attribute(**values)


def check_keys(what: str, keys: Iterable[str]) -> None:
    """An error for a key that attributes do not have."""
    for key in keys:
        if key not in FIELDS:
            raise SchemaError(f"{what}: {key!r} is not known.", hint=did_you_mean(str(key), FIELDS))


def _taxonomy(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_weighted(item, folder) for item in value]
    return _located(value, folder)


def _weighted(item: Any, folder: Path) -> Any:
    if isinstance(item, dict) and set(item) == {"taxonomy", "weight"}:
        return (_located(item["taxonomy"], folder), item["weight"])
    return _located(item, folder)


def _located(source: Any, folder: Path) -> Any:
    if isinstance(source, dict) and isinstance(source.get("file"), str):
        return {**source, "file": folder / source["file"]}
    return folder / source if isinstance(source, str) and source not in BUILTIN else source


# --------------------------------------------------------------------------------------- to a plan


def entry_of(attribute: Attribute, folder: Path) -> dict[str, Any]:
    """The entry of an attribute, without what is so by default."""
    result: dict[str, Any] = {}
    for field in FIELDS:
        value = getattr(attribute, field)
        if field in ("name", "role") or value != DEFAULTS[field]:
            result[field] = {text: _short(number) for text, number in value} if field == "open_ends" else _plain(value)
    if attribute.taxonomy is not None:
        sources = [(_source_name(attribute, source, folder), weight) for source, weight in attribute.sources]
        several = [name if weight == 1 else {"taxonomy": name, "weight": weight} for name, weight in sources]
        result["taxonomy"] = several[0] if several == [sources[0][0]] else several
    if "distance" in result and not isinstance(attribute.distance, str):
        result["distance"] = attribute.distance.name
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    plain = value is None or isinstance(value, (str, bool, int, float))
    return value if plain else str(value)


def _short(number: float) -> float:
    return int(number) if number.is_integer() else number


def _source_name(attribute: Attribute, source: Source, folder: Path) -> Any:
    if isinstance(source, FromColumns):
        return source.to_dict()
    if isinstance(source, TaxonomyFile):
        return {"file": _source_name(attribute, source.path, folder), **dict(source.columns)}
    if isinstance(source, Path):
        base, target = folder.resolve(), source.resolve()
        return target.relative_to(base).as_posix() if target.is_relative_to(base) else target.as_posix()
    if isinstance(source, Taxonomy):
        if source.made_from is not None:
            return source.made_from.to_dict()
        if source.name not in BUILTIN:
            raise SchemaError(
                f"attribute {attribute.name!r}: the taxonomy {source.name!r} is in memory only; a plan cannot name it.",
                hint="Keep it in a file and pass taxonomy='file.csv'.",
            )
        return source.name
    return source
