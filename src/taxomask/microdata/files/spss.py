"""SPSS files (.sav, .zsav): variable labels, value labels and user missing values are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from ._readstat import StatisticalFile, labels_for, titles_for, writing
from ._sav_header import sav_extras
from .base import Batches, Extra, Format, Source, Text, plain
from .fragile import whole

__all__ = ["FORMAT"]


class _Spss(StatisticalFile):
    format = "SPSS"

    @cached_property
    def missing(self) -> dict[str, tuple[Any, ...]]:  # type: ignore[override]
        """The values that the file calls missing; of a range, those that occur."""
        found = {}
        with whole(self._path, self.format, "Save it again."):
            for name, ranges in self.about.missing_ranges.items():
                single = {one["lo"] for one in ranges if one["lo"] == one["hi"]}
                wide = [one for one in ranges if one["lo"] != one["hi"]]
                values = set(self._table[name].to_pylist()) - {None} if wide else set()
                single |= {value for value in values if any(one["lo"] <= value <= one["hi"] for one in wide)}
                found[name] = tuple(sorted(single))
        return found

    def _header(self) -> Iterator[Extra]:
        yield from sav_extras(self._path)


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Spss(path, "read_sav", user_missing=True)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    import pyarrow as pa
    import pyarrow.types as types

    table = plain(batches).read_all()
    for place, field in enumerate(table.schema):  # SPSS has no other numbers than double ones
        if types.is_integer(field.type) or types.is_decimal(field.type) or types.is_boolean(field.type):
            number = table.column(place)
            number = number.cast(pa.int8()) if types.is_boolean(field.type) else number
            table = table.set_column(place, field.name, number.cast(pa.float64()))
    numbers = [field.name for field in table.schema if types.is_floating(field.type)]
    texts = [field.name for field in table.schema if types.is_string(field.type)]
    kinds: dict[str, type] = {**dict.fromkeys(numbers, float), **dict.fromkeys(texts, str)}
    options: dict[str, Any] = {}
    if isinstance(like, _Spss):
        about = like.about
        options = {
            "missing_ranges": {
                column: ranges
                for column, ranges in about.missing_ranges.items()
                if column in kinds and isinstance(ranges[0]["lo"], str) == (kinds[column] is str)
            },
            "variable_measure": _of(about.variable_measure, table.column_names),
            "variable_display_width": _of(about.variable_display_width, table.column_names),
            "variable_format": _of(
                about.original_variable_types, [one for one in table.column_names if one not in texts]
            ),
        }
    with writing(path) as (pyreadstat, polars):
        pyreadstat.write_sav(
            polars.from_arrow(table),
            str(path),
            column_labels=titles_for(like, table.column_names),
            variable_value_labels=labels_for(like, kinds, table),
            compress=name.endswith(".zsav"),
            **options,
        )


def _of(entries: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if name in names and entry is not None}


FORMAT = Format("SPSS", (".sav", ".zsav"), lambda start: start.startswith((b"$FL2", b"$FL3")), _open, _write, True)
