"""Objects as messages: arrays and tables that are large stay where they lie in files, and the message says where."""

from __future__ import annotations

import io
import math
import pickle
import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Attribute, Column, Schema, TaxonomicColumn
from .sealed import Summed

if TYPE_CHECKING:
    from .scratch import Scratch

__all__ = ["ArraysFile", "Cut", "Packer", "Place", "Unpacker"]

_BATCH = 1 << 20  # rows of a table in one batch: each takes time and memory in every process that opens the table
_SMALL = 1 << 10  # bytes from which on an array that lies in a file already is passed on by its place
_MANY = 1000  # categories from which on they are kept in a file
_ALIGNED = 64  # bytes, for kernels that load several numbers at once
_PLAIN = frozenset({str, int, float, bool, bytes, tuple, list, dict, type(None), type})  # most of what messages hold
_MAPS = 1000  # parts of files that one call maps by themselves


@dataclass(frozen=True)
class Place:
    """Where an array lies."""

    file: str
    offset: int
    shape: tuple[int, ...]
    kind: np.dtype[Any]

    @property
    def length(self) -> int:
        """In bytes."""
        return math.prod(self.shape) * self.kind.itemsize


@dataclass(frozen=True, eq=False)
class Cut:
    """Some rows of a column, on their way to a function. Nobody else refers to them."""

    column: Column
    start: int
    stop: int


class Packer(pickle.Pickler):
    def __init__(self, message: io.BytesIO, scratch: Scratch, file: ArraysFile) -> None:
        super().__init__(message, protocol=5)
        self._scratch, self._file = scratch, file

    def persistent_id(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return None
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or value.nbytes < min(_SMALL, max(self._scratch.large, 1)):
                return None
            place = self._scratch.place_of(value)
            if place is None and value.nbytes >= self._scratch.large:
                place = self._file.array(value)
            return None if place is None else ("array", place)
        if isinstance(value, Cut):
            return "cut", type(value.column), self._content(value.column.part(value.start, value.stop))
        if isinstance(value, Column):
            return "column", self._scratch.token_of(value), type(value), self._content(value)
        if isinstance(value, Attribute):
            known = self._scratch.introduced is not None and self._scratch.introduced.get(value.name) is value
            return ("attribute", value.name) if known else None
        if isinstance(value, Schema):
            return ("schema",) if value is self._scratch.introduced else None
        if type(value).__name__ == "Table" and type(value).__module__ == "pyarrow.lib":
            return "table", self._scratch.name_of(value) or self._file.table(value)
        return None

    def _content(self, column: Column) -> dict[str, Any]:
        """What a column holds, but for what columns with the same categories share."""
        content = dict(vars(column))
        if len(content.get("categories", ())) > _MANY:
            content["categories"] = self._scratch.name_of_categories(content["categories"])
        if isinstance(column, TaxonomicColumn):
            shared = content.pop("_shared")
            token = shared.setdefault("token", secrets.token_hex(8))
            content["_shared"] = token, tuple(scope.sample for scope in column.scopes)
        return content


class Unpacker(pickle.Unpickler):
    def __init__(self, message: io.BytesIO, scratch: Scratch, *, apart: bool) -> None:
        super().__init__(message)
        self._scratch, self._apart = scratch, _MAPS if apart else 0

    def persistent_load(self, reference: Any) -> Any:
        kind, *what = reference
        if kind == "array":
            self._apart -= 1
            return self._scratch.at_place(*what, apart=self._apart >= 0)
        if kind == "cut":
            return self._column(*what)
        if kind == "column":
            token, of, content = what
            return self._scratch.column(token, lambda: self._column(of, content))
        if kind == "table":
            self._apart -= 1
            return self._scratch.table(*what, apart=self._apart >= 0)
        return self._scratch.schema if kind == "schema" else self._scratch.schema[what[0]]

    def _column(self, of: type[Column], content: dict[str, Any]) -> Column:
        column = object.__new__(of)
        if isinstance(content.get("categories"), str):
            content["categories"] = self._scratch.categories(content["categories"])
        if isinstance(column, TaxonomicColumn):
            token, samples = content["_shared"]
            content["_shared"] = shared = self._scratch.distances(token)
            if "scopes" not in shared:
                pairs = zip(content["attribute"].taxonomies, samples, strict=True)
                # copies: these are kept, and must not keep the file that the samples came in
                shared["scopes"] = tuple(taxonomy.scope(sample.copy()) for (taxonomy, _), sample in pairs)
        vars(column).update(content)
        return column


class ArraysFile:
    """The file of some messages, begun when the first large array comes; Arrow tables have files of their own."""

    def __init__(self, scratch: Scratch, name: str) -> None:
        self._scratch, self._name = scratch, name
        self._stack = ExitStack()
        self._file: Summed | None = None
        self._arrays: dict[int, tuple[NDArray[Any], Place]] = {}  # each may be met more than once
        self._tables: dict[int, tuple[Any, str]] = {}

    def __enter__(self) -> ArraysFile:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stack.__exit__(kind, error, trace)

    def array(self, array: NDArray[Any]) -> Place:
        """Write an array; where it lies."""
        if id(array) not in self._arrays:
            if self._file is None:
                part = self._stack.enter_context(self._scratch.writing(self._name))
                self._file = self._stack.enter_context(Summed(part))
            file = self._file
            file.write(bytes(-file.length % _ALIGNED))
            place = Place(self._name, file.length, array.shape, array.dtype)
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            self._arrays[id(array)] = array, place
        return self._arrays[id(array)][1]

    def table(self, table: Any) -> str:
        """Write an Arrow table; the name of its file."""
        import pyarrow as pa

        if id(table) not in self._tables:
            name = f"{self._name}-{len(self._tables)}.arrow"
            with (
                self._scratch.writing(name) as part,
                Summed(part) as file,
                pa.ipc.new_file(pa.PythonFile(file, "w"), table.schema) as writer,
            ):
                writer.write_table(table.unify_dictionaries(), max_chunksize=_BATCH)
            self._tables[id(table)] = table, name
        return self._tables[id(table)][1]
