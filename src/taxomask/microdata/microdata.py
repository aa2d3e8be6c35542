"""A table as methods and measures see it: coded columns, with the way back to the table."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.showing import few, line
from .._support.spelling import listing
from ..errors import DataError, SchemaError, did_you_mean
from .attribute import Kind, Role
from .casting import Values, fit, grain, is_temporal, value_range
from .coding import Note, code
from .columns import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn
from .distinct import Distinct
from .follow import Followed, followed
from .frames import Frame
from .numeric import is_text, value_type, write_numbers
from .people import NOBODY, Owners
from .schema import Schema, made_from_frame

__all__ = ["Microdata", "after_drop", "check_described"]

C = TypeVar("C", ContinuousColumn, CategoricalColumn, TaxonomicColumn)


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Coded columns of a table.

    Parameters
    ----------
    schema
        What the columns are.
    columns
        The coded columns: of every attribute that has a kind and is not an identifier.
    rows
        For each record, its row (from 0) in the table that it came from.
    notes
        What became of cells on the way: how many were empty, meant missing, or were not in their taxonomy.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from taxomask.microdata import Attribute, Schema
    >>> table = pa.table({"name": ["Ann", "Bob"], "sex": ["f", "m"], "age": [30, 41]})
    >>> schema = Schema([
    ...     Attribute("name", role="identifier"),
    ...     Attribute("sex", role="other"),
    ...     Attribute("age", role="quasi_identifier", kind="continuous"),
    ... ])
    >>> data = Microdata.from_frame(table, schema)
    >>> data.columns["age"].values
    array([30., 41.])
    >>> masked = data.replace({"age": data.columns["age"].with_values([35.5, 35.5])})
    >>> masked.to_frame().to_pydict()
    {'sex': ['f', 'm'], 'age': [35.5, 35.5]}
    """

    schema: Schema
    columns: Mapping[str, Column]
    rows: NDArray[np.int64]
    notes: tuple[Note, ...]
    _frame: Frame
    _markers: Mapping[str, object]
    _replaced: frozenset[str] = frozenset()
    _owners: Owners = NOBODY

    @classmethod
    def of(cls, table: Any, schema: Schema) -> Microdata:
        """A table, coded as a schema says; one that was coded with it before stays as it is."""
        if not isinstance(table, Microdata):
            return cls.from_frame(table, schema)
        if table.schema is not schema:
            raise SchemaError(
                "the table was coded with another schema.", hint="Pass the schema that it was coded with."
            )
        return table

    @classmethod
    def from_frame(cls, frame: Any, schema: Schema) -> Microdata:
        """Code a pandas, polars or pyarrow table as a schema says."""
        source = Frame(frame)
        check_described(source, schema)
        schema = schema.with_own_taxonomies(partial(made_from_frame, source))
        coded = {
            name: code(source, attribute)
            for name, attribute in schema.items()
            if attribute.kind is not None and attribute.role != Role.IDENTIFIER
        }
        dropped = [one.dropped for one in coded.values() if one.dropped is not None]
        rows = np.flatnonzero(~np.logical_or.reduce(dropped)) if dropped else np.arange(source.n)
        columns = {name: one.column for name, one in coded.items()}
        if dropped:
            columns = {name: after_drop(column.take(rows)) for name, column in columns.items()}
        rows = rows.astype(np.int64, copy=False)
        return cls(
            schema,
            columns,
            rows,
            tuple(note for one in coded.values() for note in one.notes),
            source,
            {name: one.marker for name, one in coded.items()},
            schema.coarsened,
            _owners=Owners.of(source, schema, rows),
        )

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.rows)

    @property
    def frame(self) -> Frame:
        """The table that the records came from: all its rows, and identifiers too."""
        return self._frame

    @property
    def people(self) -> NDArray[np.int64] | None:
        """The number of the person of each record, in order of first appearance; None if the schema names no person."""
        return self._owners.people

    @property
    def households(self) -> NDArray[np.int64] | None:
        """The number of the household of each record, in order of first appearance; None if the schema names none.

        Households that share a person are one.
        """
        return self._owners.households

    @property
    def units(self) -> NDArray[np.int64] | None:
        """Whom k counts: the household of each record if the schema names one, else the person, else None (records)."""
        return self.people if self.households is None else self.households

    @property
    def unit(self) -> Literal["records", "people", "households"]:
        """What k counts, in a word."""
        if self.households is not None:
            return "households"
        return "records" if self.people is None else "people"

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """For how many people of the population each record stands; None if the schema names no sampling weight."""
        return self._owners.weights

    def owned_as(self, other: Microdata | None) -> Microdata:
        """The table with the people, households and weights of another one, whose records are the same, row by row.

        A released table does not hold the columns that name them. Those of nobody (None) are records only.
        """
        if other is None:
            return replace(self, _owners=NOBODY)
        if self.n != other.n:
            raise DataError(
                f"{self.n:,} records cannot have the owners of {other.n:,}.", hint="Pass tables of the same records."
            )
        return replace(self, _owners=other._owners)

    def __repr__(self) -> str:
        return line(f"<Microdata of {self.n:,} records: {few(self.columns)}>")

    def replace(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> Microdata:
        """The same table with some columns replaced, given as a mapping or by name."""
        new = {**(columns or {}), **named}
        for name, column in new.items():
            if name not in self.columns:
                raise SchemaError(
                    f"there is no coded column {name!r} to replace.",
                    hint=did_you_mean(name, self.columns) if self.columns else "Give the attribute a kind.",
                )
            if len(column) != self.n:
                raise DataError(
                    f"column {name!r}: {len(column)} values for {self.n} records.",
                    hint="Give one value per record.",
                )
        given: Any = self.columns
        before, *rest = given.maps if isinstance(given, ChainMap) else ({}, given)
        columns = ChainMap({**before, **new}, *rest)  # what is replaced once more is not kept
        return replace(self, columns=columns, _replaced=self._replaced | set(new))

    def continuous(self, name: str) -> ContinuousColumn:
        """A column that holds numbers."""
        return self._of_kind(name, ContinuousColumn)

    def categorical(self, name: str) -> CategoricalColumn:
        """A column that holds categories: nominal, ordinal or taxonomic."""
        return self._of_kind(name, CategoricalColumn)

    def taxonomic(self, name: str) -> TaxonomicColumn:
        """A column that holds concepts of a taxonomy."""
        return self._of_kind(name, TaxonomicColumn)

    def _of_kind(self, name: str, wanted: type[C]) -> C:
        column = self.columns[name]
        if not isinstance(column, wanted):
            raise SchemaError(
                f"column {name!r} is {column.attribute.kind}, which does not do here.",
                hint="Name a column of another kind.",
            )
        return column

    def changed_from(self, before: Microdata) -> tuple[str, ...]:
        """The columns that are not the very ones of a table that this one was made from."""
        return tuple(name for name in self.columns if self.columns[name] is not before.columns[name])

    def changed_as(self, others: Iterable[Microdata]) -> Microdata:
        """The table with the columns that other versions of it have changed."""
        return self.replace({name: one.columns[name] for one in others for name in one.changed_from(self)})

    def take(self, rows: ArrayLike) -> Microdata:
        """Some records only, by position or mask; categories and distances stay those of the whole table."""
        chosen = np.asarray(rows)
        return self.with_rows(chosen, {name: column.take(chosen) for name, column in self.columns.items()})

    def with_rows(
        self,
        rows: NDArray[np.integer[Any]] | NDArray[np.bool_],
        columns: Mapping[str, Column],
        numbers: NDArray[np.int64] | None = None,
    ) -> Microdata:
        """Some records only, whose coded columns are at hand, and perhaps the numbers of their rows in the file."""
        numbers = self.rows[rows] if numbers is None else numbers
        return replace(self, columns=columns, rows=numbers, _owners=self._owners.take(rows))

    def to_frame(self) -> Any:
        """The table as it may leave the house: without identifiers, the same kind of table as the original.

        Only replaced columns are decoded, and those that follow them take the values that belong to theirs; all others
        are passed through as they are. In a replaced column a
        missing value is written as the original column writes it: empty, or the marker that it uses
        throughout.
        """
        self.schema.check_decided()
        drop = self.schema.identifiers
        replaced: dict[str, Values] = {name: self._decode(name) for name in self.columns if name in self._replaced}
        replaced |= {name: self.followed(name).values for name in self.following}
        return self._frame.rebuild(replaced, rows=self._kept_rows(), drop=drop)

    def seen(self) -> Frame:
        """The table as it may leave the house, as a frame."""
        if self._frame.native is not None:
            return Frame(self.to_frame())
        names = [name for name in self._frame.names if name not in self.schema.identifiers]
        return Frame.lazy(names, self.n, self._seen_column)

    def _seen_column(self, name: str, rows: range) -> Any:
        if name not in self._replaced and self.in_parts(name) and len(rows) < self.n:
            return self.part(rows.start, rows.stop, []).to_column(name)
        return self.to_column(name)[rows.start : rows.stop]  # of one type, whatever the rows

    def to_column(self, name: str, dtype: Any = None) -> Any:
        """One column of `to_frame`, as a table of its own; of a type that is given if it was replaced."""
        drop = [other for other in self._frame.names if other != name]
        replaced: dict[str, Values] = {name: self._decode(name, dtype)} if name in self._replaced else {}
        if name in self.following:
            replaced = {name: self.followed(name).values}
        frame, rows = self._read_from()
        return frame.rebuild(replaced, rows=rows, drop=drop, types={} if dtype is None else {name: dtype})

    def part(self, start: int, stop: int, names: Iterable[str]) -> Microdata:
        """Some records that follow each other, of the coded columns those that are named; nothing is copied."""
        columns = {name: self.columns[name].part(start, stop) for name in names if name in self.columns}
        return replace(self, columns=columns, rows=self.rows[start:stop], _owners=NOBODY)

    def in_parts(self, name: str) -> bool:
        """Whether a part of a column of `to_frame` can be made without the rest of it.

        Not so where what a cell becomes depends on other cells: numbers in text, which are spelled as they are most
        often, columns that follow another one, and dictionaries, which hold what occurs and no more. A part may be of
        a narrower type than the whole: see `widest`.
        """
        import pyarrow.types as types

        dtype = self._frame.arrow_type(name)
        if name in self.following or dtype is None or types.is_dictionary(dtype):
            return False
        if name not in self._replaced or self.schema[name].kind != Kind.CONTINUOUS:
            return True
        return not is_text(dtype) and self.schema[name].coarsen is None

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that follow one that was replaced."""
        return self.schema.following(self._replaced)

    def followed(self, name: str) -> Followed:
        """A column that follows one that was replaced, as it is released."""
        return followed(self._frame, self.schema, self.columns, name)

    def to_arrow(self, name: str, dtype: Any = None) -> Any:
        """The same as a pyarrow table, whatever the table came as."""
        import narwhals as nw

        return nw.from_native(self.to_column(name, dtype), eager_only=True).to_arrow().replace_schema_metadata(None)

    def holds_dates(self, name: str) -> bool:
        """Whether a column holds dates or times; durations are numbers."""
        dtype = self.value_type(name)
        return dtype is not None and is_temporal(dtype) and not str(dtype).startswith("duration")

    def value_type(self, name: str) -> Any:
        """The pyarrow type of what the cells of a column mean; days if its texts are dates."""
        return value_type(self._frame, self.schema[name])

    def grain(self, name: str) -> float:
        """What the numbers of a column are rounded to when they are written: a day, 0.01; 0 if they can be any."""
        return grain(self.value_type(name))

    def _kept_rows(self) -> NDArray[np.int64] | None:
        """The rows of the records; None if they are all rows in their order."""
        whole = self.n == self._frame.n and bool((self.rows == np.arange(self.n)).all())
        return None if whole else self.rows

    def _read_from(self) -> tuple[Frame, NDArray[np.int64] | None]:
        """What must be read of the table that the records came from, and the rows of the records in it."""
        rows = self.rows
        if self._frame.native is None and 0 < self.n < self._frame.n:
            first, last = int(rows[0]), int(rows[-1])
            if bool((np.diff(rows) > 0).all()):
                some = self._frame.part(first, last + 1)
                return some, None if last - first + 1 == self.n else rows - first
        return self._frame, self._kept_rows()

    def _decode(self, name: str, dtype: Any = None) -> Values:
        """A column as it goes into the table, with the marker of missing values put in."""
        import pyarrow as pa

        column = self.columns[name]
        marker: Any = self._markers[name]
        if isinstance(column, CategoricalColumn):
            return _decode_categories(column, marker)
        attribute, means = self.schema[name], self.value_type(name) if dtype is None else dtype
        dtype = self._frame.arrow_type(name) if dtype is None else dtype
        _check_range(column, means)
        if dtype is None and attribute.coarser is None:
            return column.values
        text = attribute.coarser is not None or is_text(dtype)
        array = write_numbers(column.values, self._frame.arrow(name), attribute) if text else fit(column.values, dtype)
        if marker is None:
            return array
        return array.fill_null(pa.scalar(float(marker) if pa.types.is_floating(array.type) else marker, array.type))


def _check_range(column: ContinuousColumn, dtype: Any) -> None:
    """What a method made of a column must be such that the column can hold it."""
    low, high = value_range(dtype)
    beyond = (np.rint(column.values) < low) | (np.rint(column.values) > high)
    if beyond.any():
        value = column.values[beyond.argmax()]
        raise DataError(
            f"column {column.attribute.name!r}: a value became {value:g}, which is beyond what it can hold "
            f"({dtype}: {low:g} to {high:g}).",
            hint="Choose milder parameters, or make it a column of smaller numbers first, such as millions or minutes.",
        )


def _decode_categories(column: CategoricalColumn, marker: object) -> Distinct:
    values = list(column.categories)
    if marker is None or not column.missing.any():
        return Distinct(column.codes, values)
    return Distinct(np.where(column.missing, np.int32(len(values)), column.codes), [*values, marker])


def after_drop(column: Column) -> Column:
    """Without the categories that only the dropped records had; an ordinal scale stays whole."""
    if isinstance(column, CategoricalColumn) and column.attribute.kind != Kind.ORDINAL:
        return column.compact()
    return column


def check_described(frame: Frame, schema: Schema) -> None:
    absent = [name for name in schema if name not in frame.names]
    if absent:
        index = [name for name in getattr(getattr(frame.native, "index", None), "names", ()) if name in absent]
        hint = (
            f"{listing(index)} is in the index: call frame.reset_index() first."
            if index
            else did_you_mean(absent[0], frame.names)
        )
        raise SchemaError(f"the schema describes {listing(absent)}, which the table does not have.", hint=hint)
    undescribed = [name for name in frame.names if name not in schema]
    if undescribed:
        raise SchemaError(
            f"the schema does not describe {len(undescribed)} of the columns: {listing(undescribed)}.",
            hint="Describe every column: give those that may pass through as they are the role 'other', "
            "or drop them from the table.",
        )
