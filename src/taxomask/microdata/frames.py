"""Tables of the caller: pandas, polars and pyarrow tables in, the same kind of table out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeAlias

from .._support.spelling import listing
from ..errors import DataError, SchemaError
from .casting import Values
from .distinct import Distinct, Frequent
from .frame_kinds import ArrowKind, FrameKind, LazyKind, PandasKind, PolarsKind, Rows

__all__ = ["Frame", "of_kind"]

Array: TypeAlias = Any  # pyarrow.Array, pyarrow.ChunkedArray


class Frame:
    """A table in memory, seen as named pyarrow columns.

    Parameters
    ----------
    table
        A pandas, polars or pyarrow table, or another one that narwhals reads.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> frame = Frame(pa.table({"id": [7, 8], "age": [30, 41]}))
    >>> frame.rebuild({"age": np.array([35.5, 35.5])}, drop=["id"]).to_pydict()
    {'age': [35.5, 35.5]}
    """

    def __init__(self, table: Any) -> None:
        frame = _read(table)
        self.native: Any = frame.to_native()
        self.names: tuple[str, ...] = tuple(frame.columns)
        self.n: int = len(frame)
        self.kind: str = frame.implementation.value
        self._kind: FrameKind = _kind_of(frame)
        self._types: dict[str, Any] = {}

    @classmethod
    def lazy(cls, names: Iterable[str], n: int, read: Callable[[str, range], Any], *, typed: bool = False) -> Frame:
        """A table that is not in memory: ``read`` makes a pyarrow table of some rows of one of its columns.

        If it has a ``part``, that makes of some rows what reads them and no others. ``typed`` says that it is of the
        same type whatever the rows, even if there is none.
        """
        frame = object.__new__(cls)
        frame.native, frame.names, frame.n, frame.kind = None, tuple(names), n, "pyarrow"
        frame._kind, frame._types = LazyKind(read, range(n), typed), {}
        return frame

    def __len__(self) -> int:
        return self.n

    def part(self, start: int, stop: int) -> Frame:
        """Some rows that follow each other; of a table that is not in memory only these are read."""
        other = copy(self)
        other._kind, other._types = self._kind.part(start, stop), dict(self._types) if self._kind.typed else {}
        other.native, other.n = other._kind.native, len(range(self.n)[start:stop])
        return other

    def arrow(self, name: str) -> Array | None:
        """A column as pyarrow; None where it holds objects that pyarrow has no type for."""
        import pyarrow as pa

        try:
            array = self._kind.arrow(name)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            if not self._kind.may_hold_objects:  # it could not be read, which says nothing about its type
                raise
            array = None
        if array is not None and _foreign(array.type):
            array = None
        self._types[name] = None if array is None else array.type
        return array

    def arrow_type(self, name: str) -> Any | None:
        """The pyarrow type of a column; None as for `arrow`."""
        if name not in self._types:
            if self._kind.typed:
                self._types[name] = self.part(0, 0)._typed(name)
            else:
                self.arrow(name)
        return self._types[name]

    def _typed(self, name: str) -> Any | None:
        array = self.arrow(name)
        return None if array is None else array.type

    def objects(self, name: str) -> list[Any]:
        """A column as Python objects."""
        return list(self._kind.objects(name))

    def distinct(self, name: str) -> Distinct:
        """The distinct values of a column and the number of each row's value."""
        coded = self._kind.coded(name)
        if coded is not None:
            return coded
        array = self.arrow(name)
        with _comparable(name, "objects" if array is None else array.type):
            return Distinct.from_objects(self._kind.objects(name)) if array is None else Distinct.from_arrow(array)

    def frequent(self, name: str, limit: int) -> Frequent:
        """The most frequent values of a column."""
        array = None if self._kind.coded(name) is not None else self.arrow(name)
        if array is None:
            return Frequent.from_distinct(self.distinct(name), limit)
        with _comparable(name, array.type):
            return Frequent.from_arrow(array, limit)

    def scale(self, name: str) -> tuple[object, ...] | None:
        """The categories of a column whose type says that they are ordered, in order."""
        return self._kind.scale(name)

    def rebuild(
        self,
        replaced: Mapping[str, Values] | None = None,
        *,
        rows: Rows | None = None,
        drop: Collection[str] = (),
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """The table with some columns replaced, these rows only, and some columns dropped.

        Other columns are passed through as they are. Replaced ones (pyarrow, numpy with NaN for missing, or
        distinct values with codes; as long as ``rows``) get the type of the original column, or a wider one
        where it cannot hold the new values; or, if ``types`` says so, one that is known to. A pandas table comes
        back with a plain numbered index: an index can identify people.
        """
        kept = [name for name in self.names if name not in drop]
        n = self.n if rows is None else len(rows)
        new = {}
        for name, values in (replaced or {}).items():
            given = len(values.codes if isinstance(values, Distinct) else values)
            if name not in kept or given != n:
                raise DataError(
                    f"cannot put {given} values into column {name!r} of a table of {n} rows "
                    f"with the columns {listing(kept)}.",
                    hint=f"Pass {n} values for a column that is kept.",
                )
            new[name] = (values, (types or {}).get(name, self.arrow_type(name)))
        return self._kind.rebuild(kept, rows, new)


def of_kind(kind: str, columns: Mapping[str, Any]) -> Any:
    """A new table of a kind of frame (``Frame.kind``), for figures about a table of that kind.

    >>> of_kind("pandas", {"method": ["noise"], "risk": [0.1]})
      method  risk
    0  noise   0.1
    """
    import narwhals as nw
    import pyarrow as pa

    backend: Any = kind
    return nw.from_arrow(pa.table(columns), backend=backend).to_native()


def _read(table: Any) -> Any:
    """The table as narwhals sees it, if it is one that we can take."""
    import narwhals as nw

    kind = f"{type(table).__module__.partition('.')[0]} {type(table).__name__}"
    try:
        frame = nw.from_native(table)
    except nw.exceptions.DuplicateError:
        names = getattr(table, "column_names", None) or list(table.columns)
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise SchemaError(
            f"column names must differ; {listing(twice)} stands more than once.",
            hint="Rename one of the columns.",
        ) from None
    except TypeError:
        raise DataError(
            f"a table must be a pandas, polars or pyarrow table; got {kind}.",
            hint="Make one first, for example with pandas.DataFrame(…).",
        ) from None
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"a table must be in memory; got {kind}.", hint="Collect it first: table.collect().")
    wrong = [name for name in frame.columns if not isinstance(name, str)]
    if wrong:
        raise SchemaError(
            f"column names must be text; got {listing(wrong)}.",
            hint="Rename the columns, in pandas with frame.columns = frame.columns.map(str).",
        )
    return frame


@contextmanager
def _comparable(name: str, kind: Any) -> Iterator[None]:
    """Lists, structures and the like have no distinct values."""
    import pyarrow as pa

    try:
        yield
    except (TypeError, pa.ArrowNotImplementedError):
        raise DataError(
            f"column {name!r} holds {kind}, which cannot be compared as single values.",
            hint="Give it the role 'other' without a kind to pass it through, or drop it from the table.",
        ) from None


def _kind_of(frame: Any) -> FrameKind:
    backend = frame.implementation
    if backend.is_pandas_like():
        return PandasKind(frame.to_native())
    if backend.is_polars():
        return PolarsKind(frame.to_native())
    return ArrowKind(frame.to_native())


def _foreign(kind: Any) -> bool:
    """Extension types of pandas (periods, intervals): their storage is not what the values are."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return isinstance(inner, pa.BaseExtensionType) and str(inner.extension_name).startswith("pandas.")
