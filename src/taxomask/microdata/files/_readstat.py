"""What SPSS, Stata and SAS files have in common: titles, value labels, several ways to be missing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..._support.spelling import spell
from ...errors import DataError
from .base import ArrowTable, Batches, Extra, Source, import_extra
from .fragile import table_apart, whole

__all__ = ["StatisticalFile", "labels_for", "titles_for", "writing"]

_AGAIN = "Save it again."
_ROWS = 50_000  # at a time: Python objects take much more memory than pyarrow


class StatisticalFile(Source):
    """A file of a statistical package, read whole on first use.

    Parameters
    ----------
    path
        The file.
    reader
        The function of pyreadstat that reads it.
    options
        Its options.
    """

    whole = True
    apart = False  # whether a child process reads it

    def __init__(self, path: Path, reader: str, **options: Any) -> None:
        self._path = path
        self._reader = reader
        self._options = options
        with whole(path, self.format, _AGAIN):
            about = self._call(metadataonly=True)[1]
            self.about = SimpleNamespace(**vars(about))  # so that only who reads the file needs pyreadstat
            n = self.about.number_rows
            super().__init__(path, self.about.column_names, n if n is not None and n >= 0 else None)
            self.titles = {name: title for name, title in self.about.column_names_to_labels.items() if title}
            self.labels = self.about.variable_value_labels
            self.levels = dict(getattr(self.about, "variable_measure", {}))

    def _call(self, **options: Any) -> tuple[Any, Any]:
        pyreadstat = import_extra("pyreadstat", "formats", "Reading SPSS, Stata and SAS files")
        return getattr(pyreadstat, self._reader)(str(self._path), output_format="dict", **self._options, **options)

    @cached_property
    def _table(self) -> ArrowTable:
        return table_apart(self._path, self._loaded) if self.apart else self._loaded()

    def _loaded(self) -> ArrowTable:
        with whole(self._path, self.format, _AGAIN):
            return self._collected()

    def _collected(self) -> ArrowTable:
        import pyarrow as pa

        pieces: dict[str, list[Any]] = {name: [] for name in self.names}
        start = 0
        while True:
            lists, _ = self._call(row_offset=start, row_limit=_ROWS)
            count = len(lists[self.names[0]]) if self.names else 0
            for name, values in lists.items():
                text = self.about.readstat_variable_types[name] == "string"
                pieces[name].append(_array(values, text=text))
            start += count
            if count < _ROWS:
                return pa.table({name: _joined(arrays) for name, arrays in pieces.items()})

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Lettered missing values (``.a`` to ``.z``) in columns of numbers, which were read as text for that reason."""
        import pyarrow.types as types

        kinds = self.about.readstat_variable_types
        tagged = [name for name in self.names if kinds[name] != "string" and types.is_string(self._table[name].type)]
        return {
            name: tuple(sorted(value for value in set(self._table[name].to_pylist()) if _is_tag(value)))
            for name in tagged
        }

    def extras(self) -> Iterator[Extra]:
        with whole(self._path, self.format, _AGAIN):
            for name, labels in self.labels.items():
                letters = self.about.readstat_variable_types[name] != "string"  # of missing values
                for value in labels:
                    text = f".{value}" if letters and isinstance(value, str) else spell(value)
                    yield Extra(f"the labels of {name}", text, "value", name)
            yield from self._header()

    @abstractmethod
    def _header(self) -> Iterator[Extra]:
        """The texts of what stands before and after the cells."""

    def _read(self, columns: list[str]) -> ArrowTable:
        return self._table.select(columns)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        return self._read(columns).to_reader(rows)


def _is_tag(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 2 and value[0] == "." and (value[1].isalpha() or value[1] == "_")


def _array(values: list[Any], *, text: bool) -> Any:
    """A piece of a column. Letters among numbers are lettered missing values, written as these packages write them."""
    import pyarrow as pa

    if text:
        return pa.array([value or None for value in values], pa.string())
    if any(isinstance(value, str) for value in values):
        return pa.array([f".{value}" if isinstance(value, str) else _spelled(value) for value in values], pa.string())
    return pa.array(values)


def _joined(arrays: list[Any]) -> Any:
    """The pieces of a column in a type that holds them all."""
    import pyarrow as pa
    import pyarrow.types as types

    kinds = {array.type for array in arrays} - {pa.null()}
    if any(types.is_string(kind) for kind in kinds):
        arrays = [
            array
            if types.is_string(array.type)
            else pa.array([_spelled(one) for one in array.to_pylist()], pa.string())
            for array in arrays
        ]
        return pa.chunked_array(arrays, pa.string())
    kind = pa.float64() if len(kinds) > 1 else next(iter(kinds), pa.float64())
    return pa.chunked_array([array.cast(kind) for array in arrays], kind)


def _spelled(value: Any) -> str | None:
    return None if value is None else spell(value)


# --------------------------------------------------------------------------------------- writing


def titles_for(like: Source | None, names: Sequence[str]) -> dict[str, str]:
    """The titles of the columns that are written."""
    return {name: title for name, title in (like.titles if like else {}).items() if name in names}


def labels_for(like: Source | None, kinds: Mapping[str, type], table: ArrowTable) -> dict[str, dict[Any, str]]:
    """The labels of the values that are written, in the type that a column has.

    Others are left out: those of values that are gone would tell of them. ``kinds`` gives the Python type of the values
    of each column.
    """
    found: dict[str, dict[Any, str]] = {}
    for name, labels in (like.labels if like else {}).items():
        kind = kinds.get(name)
        if kind in (int, float):
            numbers = {value: label for value, label in labels.items() if not isinstance(value, str)}
            fitting: dict[Any, str] = {kind(value): label for value, label in numbers.items() if kind(value) == value}
        else:
            fitting = {value: label for value, label in labels.items() if kind is str and isinstance(value, str)}
        there = set(table[name].unique().to_pylist()) if fitting else set()
        fitting = {value: label for value, label in fitting.items() if value in there}
        if fitting:
            found[name] = fitting
    return found


@contextmanager
def writing(path: Path) -> Iterator[tuple[Any, Any]]:
    """pyreadstat and polars, whose frames it writes, with their errors in our words."""
    pyreadstat = import_extra("pyreadstat", "formats", "Writing SPSS, Stata and SAS files")
    polars = import_extra("polars", "formats", "Writing SPSS, Stata and SAS files")
    try:
        yield pyreadstat, polars
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        full = "Unable to write" in str(error)
        raise DataError(
            f"{path} cannot be written: {error}.",
            hint="Is there space left on the device?" if full else "Rename or change the column, or write Parquet.",
        ) from None
