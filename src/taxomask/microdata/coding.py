"""From a column as it stands in a table to a coded column, with an account of what became of every cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import in_order, listing, spell
from ..errors import DataError, TaxonomyError
from .attribute import Attribute, Kind
from .columns import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn, sort_places
from .distinct import Distinct
from .frames import Frame
from .numeric import Gaps, read_numbers

__all__ = ["Coded", "Note", "code", "code_distinct", "coded_numbers"]

Event = Literal["empty", "missing", "as_missing", "drop", "root", "coarse"]

_EVENTS: dict[Event, str] = {
    "empty": "had no value",
    "missing": "held a value that means missing",
    "as_missing": "held a value outside the taxonomy and became missing",
    "drop": "held a value outside the taxonomy; their records were dropped",
    "coarse": "held a date and are read as something coarser, against which losses are measured",
    "root": "held a value outside the taxonomy and were put at its root",
}


@dataclass(frozen=True)
class Note:
    """How many cells of a column met with something, and the most frequent values among them."""

    attribute: str
    event: Event
    cells: int
    values: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.attribute}: {_counted(self.cells, 'cell')} {_EVENTS[self.event]}."


@dataclass(frozen=True, eq=False)
class Coded:
    """A coded column, what happened to its cells, which rows must go, and how it wrote missing values."""

    column: Column
    notes: tuple[Note, ...] = ()
    dropped: NDArray[np.bool_] | None = None
    marker: object = None


def code(frame: Frame, attribute: Attribute) -> Coded:
    """Code one column of a table as its attribute says."""
    if attribute.kind == Kind.CONTINUOUS:
        return _continuous(frame, attribute)
    dtype = frame.arrow_type(attribute.name) if attribute.kind == Kind.ORDINAL else None
    return code_distinct(frame.distinct(attribute.name), attribute, dtype)


def code_distinct(distinct: Distinct, attribute: Attribute, dtype: Any) -> Coded:
    """Code a column of categories; those of an ordered one are of a type of pyarrow, or None."""
    missing = _missing(attribute, distinct)
    if attribute.kind == Kind.ORDINAL:
        column: Column = _ordinal(attribute, distinct, missing, dtype)
    elif attribute.kind == Kind.NOMINAL:
        column = _nominal(attribute, distinct, missing)
    else:
        return _taxonomic(attribute, distinct, missing)
    return Coded(column, _notes(attribute, distinct, missing), marker=_marker(distinct, missing))


# --------------------------------------------------------------------------------------- numbers


def _continuous(frame: Frame, attribute: Attribute) -> Coded:
    numbers = read_numbers(frame, attribute)
    return coded_numbers(ContinuousColumn(attribute, numbers.values), numbers.gaps)


def coded_numbers(column: ContinuousColumn, gaps: Gaps) -> Coded:
    """A column of numbers, and what is known of the cells that have none."""
    name, counts = column.attribute.name, Counter(dict(gaps.markers)).most_common()
    markers = tuple((spell(value), count) for value, count in counts)
    notes = [Note(name, "empty", gaps.empty), Note(name, "missing", sum(count for _, count in counts), markers)]
    if column.attribute.coarsen is not None:
        notes.append(Note(name, "coarse", len(column) - sum(note.cells for note in notes)))
    marker = counts[0][0] if counts and not gaps.empty else None
    return Coded(column, tuple(note for note in notes if note.cells), marker=marker)


# --------------------------------------------------------------------------------------- categories


def _ordinal(attribute: Attribute, distinct: Distinct, missing: NDArray[np.bool_], dtype: Any) -> CategoricalColumn:
    places = {spell(category): place for place, category in enumerate(attribute.order)}
    found = np.array([places.get(text, -1) for text in distinct.spellings], dtype=np.int32)
    unknown = (found < 0) & ~missing & (distinct.counts > 0)
    if unknown.any():
        raise _unknown_category(attribute, distinct, unknown)
    found[missing] = -1
    categories = [_as_type(category, dtype) for category in attribute.order]
    for i in np.flatnonzero((found >= 0) & (distinct.counts > 0)).tolist():
        categories[found[i]] = distinct.values[i]
    return CategoricalColumn(attribute, _recoded(distinct, found), tuple(categories))


def _nominal(attribute: Attribute, distinct: Distinct, missing: NDArray[np.bool_]) -> CategoricalColumn:
    used = np.flatnonzero(~missing & (distinct.counts > 0)).tolist()
    same: dict[tuple[type, Any], list[int]] = {}
    for i in used:
        same.setdefault((type(distinct.values[i]), distinct.values[i]), []).append(i)
    categories = in_order(value for _, value in same)
    found = np.full(len(distinct.values), -1, dtype=np.int32)
    for place, value in enumerate(categories):
        found[same[type(value), value]] = place
    return CategoricalColumn(attribute, _recoded(distinct, found), tuple(categories))


def _taxonomic(attribute: Attribute, distinct: Distinct, missing: NDArray[np.bool_]) -> Coded:
    match: Any = attribute.match
    places = _places(attribute, distinct.spellings)
    places[:, missing] = -1
    used = distinct.counts > 0
    unmapped = (places < 0).all(axis=0) & ~missing & used
    values = list(distinct.values)
    notes = list(_notes(attribute, distinct, missing))
    dropped = None
    if unmapped.any():
        if attribute.unmapped == "error":
            raise _outside_taxonomy(attribute, distinct, unmapped)
        event: Any = attribute.unmapped
        notes.append(_note(attribute, event, distinct, unmapped))
        if attribute.unmapped == "drop":
            dropped = np.append(unmapped, False)[distinct.codes]
        elif attribute.unmapped == "root":
            root = attribute.taxonomies[0][0].names([0], match=match)[0]
            places[:, unmapped] = _places(attribute, [spell(root)])  # also what further taxonomies know of it
            places[0, unmapped] = 0
            values = [root if i else value for i, value in zip(unmapped.tolist(), values, strict=True)]
    known = np.flatnonzero((places >= 0).any(axis=0) & used)
    concepts, number = _concepts(places[:, known])
    found = np.full(len(values), -1, dtype=np.int32)
    found[known] = number
    column = TaxonomicColumn(
        attribute,
        _recoded(distinct, found),
        _usual_spellings(distinct, values, known, number),
        concepts[0],
        concepts[1:] if len(concepts) > 1 else None,
    )
    return Coded(column, tuple(notes), dropped, _marker(distinct, missing))


def _places(attribute: Attribute, texts: list[str]) -> NDArray[np.int32]:
    """The positions of values in each taxonomy, one row per taxonomy; -1 where it does not know them."""
    match: Any = attribute.match
    taxonomies = [taxonomy for taxonomy, _ in attribute.taxonomies]
    try:
        found = [tax.lookup(texts, match=match, normalize=attribute.normalize) for tax in taxonomies]
    except TaxonomyError as error:
        raise DataError(f"column {attribute.name!r}: {error.message}", hint=error.hint) from None
    return np.stack(found)


def _concepts(places: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct concepts in taxonomy order, and the number of each value's concept."""
    order = sort_places(places)
    ordered = places[:, order]
    new = np.ones(ordered.shape[1], dtype=bool)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.cumsum(new) - 1
    return ordered[:, new], number


def _usual_spellings(
    distinct: Distinct, values: list[Any], known: NDArray[np.intp], number: NDArray[np.int32]
) -> tuple[object, ...]:
    """For each concept the value that occurs most often; of equally frequent ones the first seen."""
    order = np.lexsort((distinct.first_rows[known], -distinct.counts[known], number))
    first = np.flatnonzero(np.diff(number[order], prepend=-1))
    return tuple(values[i] for i in known[order[first]].tolist())


# --------------------------------------------------------------------------------------- pieces


def _recoded(distinct: Distinct, found: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.append(found, np.int32(-1))[distinct.codes]


def _missing(attribute: Attribute, distinct: Distinct) -> NDArray[np.bool_]:
    """Which distinct values mean missing."""
    markers = {spell(marker) for marker in attribute.missing}
    return np.array([text in markers for text in distinct.spellings], dtype=bool)


def _marker(distinct: Distinct, missing: NDArray[np.bool_]) -> object:
    """How the column writes a missing value: None if it has empty cells, else its most frequent marker."""
    if distinct.empty or not missing.any():
        return None
    counts = np.where(missing, distinct.counts, 0)
    return distinct.values[int(counts.argmax())] if counts.any() else None


def _notes(attribute: Attribute, distinct: Distinct, missing: NDArray[np.bool_]) -> tuple[Note, ...]:
    empty = Note(attribute.name, "empty", distinct.empty)
    marked = _note(attribute, "missing", distinct, missing)
    return tuple(note for note in (empty, marked) if note.cells)


def _note(attribute: Attribute, event: Event, distinct: Distinct, chosen: NDArray[np.bool_]) -> Note:
    return Note(attribute.name, event, int(distinct.counts[chosen].sum()), _most_frequent(distinct, chosen))


def _most_frequent(distinct: Distinct, chosen: NDArray[np.bool_]) -> tuple[tuple[str, int], ...]:
    ranked = _ranked(distinct, chosen)[:10]
    return tuple((distinct.spellings[i], int(distinct.counts[i])) for i in ranked)


def _ranked(distinct: Distinct, chosen: NDArray[np.bool_]) -> list[int]:
    """The chosen values that occur, the most frequent first."""
    numbers = np.flatnonzero(chosen & (distinct.counts > 0))
    order = np.lexsort((distinct.first_rows[numbers], -distinct.counts[numbers]))
    ranked: list[int] = numbers[order].tolist()
    return ranked


def _as_type(category: object, dtype: Any) -> object:
    """A category of the schema in the type of the column: "3" in a column of integers is 3."""
    import pyarrow as pa

    if dtype is None:
        return category
    try:
        return pa.scalar(spell(category)).cast(getattr(dtype, "value_type", dtype)).as_py()
    except (pa.ArrowException, ValueError):
        return category


# --------------------------------------------------------------------------------------- errors


def _described(distinct: Distinct, chosen: Sequence[int]) -> list[str]:
    """One line per value: how often it occurs, and where first."""
    return [
        f"  {distinct.values[i]!r}: {_counted(distinct.counts[i], 'time')}, first in row {distinct.first_rows[i] + 1:,}"
        for i in chosen
    ]


def _counted(count: Any, what: str) -> str:
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def _more(total: int, shown: int) -> list[str]:
    return [f"  … and {total - shown:,} more"] if total > shown else []


def _unknown_category(attribute: Attribute, distinct: Distinct, unknown: NDArray[np.bool_]) -> DataError:
    ranked = _ranked(distinct, unknown)
    lines = [f"column {attribute.name!r} has values that are not in its order ({listing(attribute.order)}):"]
    lines += _described(distinct, ranked[:10]) + _more(len(ranked), 10)
    hint = "Add them to the order, or to missing if they mean that there is no value."
    if any(isinstance(category, bool) for category in attribute.order):
        hint += " A plan reads yes, no, on and off without quotes as true and false: put them in quotes."
    return DataError("\n".join(lines), hint=hint)


def _outside_taxonomy(attribute: Attribute, distinct: Distinct, unmapped: NDArray[np.bool_]) -> DataError:
    match: Any = attribute.match
    taxonomies = [taxonomy for taxonomy, _ in attribute.taxonomies]
    ranked = _ranked(distinct, unmapped)
    shown = ranked[:10]
    names = " or ".join(taxonomy.name for taxonomy in taxonomies)
    cells, values = distinct.counts[ranked].sum(), _counted(len(ranked), "distinct value")
    lines = [f"column {attribute.name!r}: {_counted(cells, 'cell')} ({values}) not in {names}:"]
    for i, line in zip(shown, _described(distinct, shown), strict=True):
        near = taxonomies[0].nearest(distinct.spellings[i], match=match, count=3)
        lines.append(f"{line}; nearest: {listing(near)}" if near else line)
    lines += _more(len(ranked), 10)
    helps = [
        names
        for names in (("spaces",), ("case",), ("zeros:3",), ("dots",), ("zeros:3", "dots"))
        if names != attribute.normalize
        and (_try(taxonomies[0], [distinct.spellings[i] for i in shown], match, names) >= 0).any()
    ]
    hint = ""
    if helps:
        hint = f"Some would be found with normalize={' or '.join(repr(list(names)) for names in helps)}. "
    hint += (
        "Choose unmapped='drop' (leave these records out), 'root' (put them at the root of the taxonomy) or "
        "'as_missing', or list the values that mean missing in missing=[…]."
    )
    return DataError("\n".join(lines), hint=hint)


def _try(taxonomy: Any, values: list[str], match: Any, names: tuple[str, ...]) -> NDArray[np.int32]:
    try:
        found: NDArray[np.int32] = taxonomy.lookup(values, match=match, normalize=names)
        return found
    except TaxonomyError:  # ambiguous under this normalisation
        return np.full(len(values), -1, dtype=np.int32)
