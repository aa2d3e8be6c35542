"""What a column is: its role, its kind, and what its values mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from .._support.showing import line
from .._support.spelling import listing, spell
from ..errors import SchemaError, TaxonomyError, did_you_mean
from ..taxonomy import FromColumns, Taxonomy, check_normalize
from .coarsening import COARSER, Coarser, coarser
from .notation import Notation, notation
from .open_ends import OpenEnd, open_end
from .taxonomy_sources import Source, TaxonomyFile, checked_sources, is_weight, load

if TYPE_CHECKING:
    from ..taxonomy.distances import Distance

__all__ = ["Attribute", "Kind", "Role", "values_in_words"]


class Role(StrEnum):
    """What a column tells about a person.

    An identifier is never released; a quasi-identifier could be known to somebody who tries to find a person;
    a confidential attribute is what such a person must not learn. What is undecided stops every release.
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    CONFIDENTIAL = "confidential"
    OTHER = "other"
    UNDECIDED = "undecided"


class Kind(StrEnum):
    """What the values of a column are: numbers, ordered or plain categories, or concepts of a taxonomy."""

    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TAXONOMIC = "taxonomic"


UNMAPPED = ("error", "drop", "root", "as_missing")
MATCH = ("id", "label", "code")
MOST_DECIMALS = 20
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, repr=False)
class Attribute:
    """The description of one column.

    Parameters
    ----------
    name
        The name of the column.
    role
        ``"identifier"``, ``"quasi_identifier"``, ``"confidential"``, ``"other"``, or ``"undecided"``, as by default:
        nothing is released while a column is.
    kind
        ``"continuous"``, ``"ordinal"``, ``"nominal"`` or ``"taxonomic"``. An identifier needs none, and a
        column with the role ``"other"`` that has none is passed through as it is.
    order
        The categories of an ordinal attribute, from the lowest to the highest.
    taxonomy
        The taxonomy of a taxonomic attribute: a `Taxonomy`, the name of a shipped one, a file, or columns of the table
        itself, the finest first: ``{"from": ["drg", "mdc"]}``, with ``"labels": {"drg": "drg_text"}`` if others
        describe them; see `Taxonomy.from_columns`. An edge list whose columns have
        names of their own is given as ``{"file": "own.csv", "concept": "code", "parent": "group"}``. Several are given
        as a list, with or without weights: ``[icd,
        (local, 2.0)]``; the distance is then their weighted mean.
    distance
        The semantic distance of a taxonomic attribute.
    weight
        How much the attribute counts in the distance between records.
    match, normalize
        How the values are spelled in the taxonomy; see `Taxonomy.lookup`.
    missing
        Values that mean "missing", besides empty cells.
    unmapped
        What to do with a value that is not in the taxonomy: ``"error"``, ``"drop"`` the record, put it at the
        ``"root"``, or treat it ``"as_missing"``.
    decimals
        How many decimals the released numbers of a continuous attribute have at most. By default two more than the
        original values have; ``"exact"``: they are not rounded.
    notation
        How text cells of a continuous attribute write numbers, shown by 1234.5: ``"1,234.50"``, ``"1.234,5 €"``; or
        days: ``"d.m.Y"``, ``"m/d/Y"``, ``"Y-m-d"``, with times ``"d.m.Y H:M"``. Released values are written the same
        way. An attribute with a notation is read from text files as text, so that cells which nothing changes keep
        their spelling.
    open_ends
        Texts of a continuous attribute of which only a limit is known, each with the number that it counts as:
        ``{"90+": 90, "<5": 4}``. A released number beyond the limit is written as that text.
    coarsen
        What dates are read and released as: ``"year"``, ``"month"``, or ``"age at 2020-12-31"``, in whole years.
    follows
        The column whose released value this one belongs to, such as the code of a description: what is released is the
        text that belongs to the released code. Such a column has the role ``"other"`` and no kind.
    note
        A comment for people.

    Examples
    --------
    >>> Attribute("age", role="quasi_identifier", kind="continuous").role
    <Role.QUASI_IDENTIFIER: 'quasi_identifier'>
    >>> Attribute("age", role="quasi")
    Traceback (most recent call last):
    taxomask.errors.SchemaError: attribute 'age': role must be one of 'identifier', 'quasi_identifier', ...
    """

    name: str
    role: Role | str = Role.UNDECIDED
    kind: Kind | str | None = None
    order: Sequence[object] = ()
    taxonomy: Source | Sequence[Source | tuple[Source, float]] | None = None
    distance: str | Distance = "ancestors"
    weight: float = 1.0
    match: str = "id"
    normalize: Sequence[str] = ()
    missing: Sequence[object] = ("",)
    unmapped: str = "error"
    decimals: int | Literal["exact"] | None = None
    note: str = ""
    follows: str | None = None
    notation: str | None = None
    open_ends: Mapping[str, float] | Sequence[tuple[str, float]] = ()
    coarsen: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise SchemaError(f"name must be text; got {self.name!r}.", hint="Write the name of the column in quotes.")
        self._set("role", self._choice("role", self.role, Role) or Role.UNDECIDED)
        self._set("kind", self._choice("kind", self.kind, Kind))
        self._set("order", self._scalars("order", self.order))
        self._set("missing", self._scalars("missing", self.missing))
        self._check_texts()
        self._check_weight()
        self._check_decimals()
        self._check_writing()
        self._check_order()
        self._check_taxonomy()
        self._check_follows()
        if self.kind is None and self.role in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
            raise self._error(f"a {self.role} needs a kind.", f"Choose one of {listing(map(str, Kind))}.")

    def __repr__(self) -> str:
        facts = [str(one) for one in (self.role, self.kind, values_in_words(self)) if one]
        return line(f"<Attribute {self.name!r}: {', '.join(facts)}>")

    # ----------------------------------------------------------------------------------- its taxonomies

    @cached_property
    def taxonomies(self) -> tuple[tuple[Taxonomy, float], ...]:
        """The taxonomies with their weights, empty unless taxonomic; files are read on first use."""
        return tuple((load(source), weight) for source, weight in self.sources)

    @property
    def sources(self) -> tuple[tuple[Source, float], ...]:
        """The taxonomies as they were given, with their weights."""
        if self.taxonomy is None:
            return ()
        if isinstance(self.taxonomy, (Taxonomy, str, Path, FromColumns, TaxonomyFile)):
            return ((self.taxonomy, 1.0),)
        return tuple(item if isinstance(item, tuple) else (item, 1.0) for item in self.taxonomy)

    # ----------------------------------------------------------------------------------- its spelling

    @property
    def written(self) -> Notation | None:
        """How text cells write numbers or dates; None if as plain numbers."""
        return None if self.notation is None else notation(self.notation)

    @cached_property
    def ends(self) -> tuple[OpenEnd, ...]:
        """The texts of which only a limit is known."""
        pairs = dict(self.open_ends).items()
        found = [(open_end(text, self.written), number) for text, number in pairs]
        return tuple(replace(end, number=number) for end, number in found if end is not None)

    @property
    def coarser(self) -> Coarser | None:
        """What dates are read as; None if as days."""
        return None if self.coarsen is None else coarser(self.coarsen)

    @property
    def as_text(self) -> bool:
        """Whether cells of a text file are to be read as they are written."""
        return self.kind != Kind.CONTINUOUS or self.notation is not None or bool(self.open_ends)

    # ----------------------------------------------------------------------------------- checks

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _error(self, message: str, hint: str) -> SchemaError:
        return SchemaError(f"attribute {self.name!r}: {message}", hint=hint)

    def _choice(self, field: str, value: object, choices: type[_Choice]) -> _Choice | None:
        if value is None:
            return None
        try:
            return choices(str(value))
        except ValueError:
            names = [str(choice) for choice in choices]
            raise self._error(
                f"{field} must be one of {listing(names)}; got {value!r}.", did_you_mean(str(value), names)
            ) from None

    def _scalars(self, field: str, values: object) -> tuple[object, ...]:
        single = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
        single = single or (field == "order" and isinstance(values, (set, frozenset)))
        if single or any(isinstance(value, (list, tuple, dict, set)) for value in values):  # type: ignore[attr-defined]
            raise self._error(f"{field} must be a list of values; got {values!r}.", f"Write {field}=['…', '…'].")
        return tuple(values)  # type: ignore[arg-type]

    def _check_texts(self) -> None:
        for field, value, choices in (("match", self.match, MATCH), ("unmapped", self.unmapped, UNMAPPED)):
            if value not in choices:
                raise self._error(
                    f"{field} must be one of {listing(choices)}; got {value!r}.",
                    did_you_mean(str(value), choices),
                )
        if not isinstance(self.note, str):
            raise self._error(f"note must be text; got {self.note!r}.", "Write the note in quotes.")

    def _check_weight(self) -> None:
        if not is_weight(self.weight):
            raise self._error(
                f"weight must be a number above 0; got {self.weight!r}.",
                "To leave an attribute out of the distance, give it the role 'other'.",
            )
        self._set("weight", float(self.weight))

    def _check_decimals(self) -> None:
        given: Any = self.decimals
        if given is None:
            return
        if self.kind != Kind.CONTINUOUS:
            raise self._error(
                f"decimals is only for the kind 'continuous'; got kind {_shown(self.kind)}.",
                "Set kind='continuous', or leave decimals out.",
            )
        whole = isinstance(given, Integral) and not isinstance(given, bool)
        if given != "exact" and not (whole and 0 <= int(given) <= MOST_DECIMALS):
            raise self._error(
                f"decimals must be a whole number from 0 to {MOST_DECIMALS}, or 'exact'; got {given!r}.",
                "Leave it out to release two decimals more than the original values have.",
            )
        self._set("decimals", given if given == "exact" else int(given))

    def _check_writing(self) -> None:
        given = {"notation": self.notation, "open_ends": self.open_ends or None, "coarsen": self.coarsen}
        for field, value in given.items():
            if value is not None and self.kind != Kind.CONTINUOUS:
                raise self._error(
                    f"{field} is only for the kind 'continuous'; got kind {_shown(self.kind)}.",
                    f"Set kind='continuous', or leave {field} out.",
                )
        if self.notation is not None and (not isinstance(self.notation, str) or self.written is None):
            raise self._error(
                f"notation must show how 1234.5 or a day is written; got {self.notation!r}.",
                "Write it as '1,234.5', '1.234,50 €', '1234,5', 'd.m.Y', 'm/d/Y' or 'Y-m-d'.",
            )
        if self.coarsen is not None and (not isinstance(self.coarsen, str) or self.coarser is None):
            raise self._error(
                f"coarsen must be one of {listing(COARSER)}; got {self.coarsen!r}.",
                "Name the day at which ages are counted as year-month-day.",
            )
        self._check_open_ends()

    def _check_open_ends(self) -> None:
        example = "Write open_ends: {'90+': 90, '<5': 4}: each text with the number that it counts as."
        try:
            pairs = tuple((text, float(number)) for text, number in dict(self.open_ends).items())
        except (TypeError, ValueError):
            raise self._error(f"open_ends must name texts and numbers; got {self.open_ends!r}.", example) from None
        if pairs and self.written is not None and self.written.dates:
            raise self._error("open_ends are for numbers, and its notation is that of dates.", "Leave one of them out.")
        sides = []
        for text, number in pairs:
            end = open_end(text, self.written) if isinstance(text, str) else None
            if end is None:
                raise self._error(f"open_ends names {text!r}, which is no number with a limit.", example)
            if not math.isfinite(number) or not end.beyond(np.array([number])).all():
                raise self._error(f"open_ends counts {text!r} as {number:g}, which it does not stand for.", example)
            sides.append(end.upper)
        if len(sides) > len(set(sides)):
            raise self._error(
                f"open_ends names {len(sides)} texts, two of them on the same side.",
                "Name one for small and one for large numbers at most; list others in missing.",
            )
        self._set("open_ends", pairs)

    def _check_follows(self) -> None:
        if self.follows is None:
            return
        if not isinstance(self.follows, str) or self.follows == self.name:
            raise self._error(
                f"follows must be the name of another column; got {self.follows!r}.", "Name the column of the codes."
            )
        if self.role != Role.OTHER or self.kind is not None:
            raise self._error(
                f"a column that follows another has the role 'other' and no kind; got role {_shown(self.role)} and "
                f"kind {_shown(self.kind)}.",
                "What protects the column that it follows protects it too.",
            )

    def _check_order(self) -> None:
        if self.kind != Kind.ORDINAL:
            if self.order:
                raise self._error(
                    f"order is only for the kind 'ordinal'; got kind {_shown(self.kind)}.",
                    "Set kind='ordinal', or leave the order out.",
                )
            return
        if not self.order:
            raise self._error(
                "an ordinal attribute needs an order.",
                "List its categories from the lowest to the highest: order=['low', 'high'].",
            )
        seen: dict[str, object] = {}
        for category in self.order:
            if category is None or spell(category) in seen:
                what = "an empty value" if category is None else f"{category!r} twice"
                raise self._error(f"order lists {what}.", "List every category once, from the lowest to the highest.")
            if spell(category) in map(spell, self.missing):
                raise self._error(
                    f"{category!r} is listed both in order and in missing.", "Take it out of one of them."
                )
            seen[spell(category)] = category

    def _check_taxonomy(self) -> None:
        try:
            self._set("normalize", check_normalize(self.normalize))
        except TaxonomyError as error:
            raise self._error(error.message, error.hint) from None
        if self.kind != Kind.TAXONOMIC:
            self._refuse_taxonomy_options()
            return
        if self.taxonomy is None:
            raise self._error(
                "a taxonomic attribute needs a taxonomy.",
                "Pass taxonomy=Taxonomy.read('…'), or the name of a shipped one, such as 'icd9cm'.",
            )
        self._set("taxonomy", checked_sources(self.taxonomy, self.name, self._error))
        self._check_distance()

    def _refuse_taxonomy_options(self) -> None:
        plain = {
            "taxonomy": None,
            "distance": "ancestors",
            "match": "id",
            "normalize": (),
            "unmapped": "error",
        }
        for field, default in plain.items():
            if getattr(self, field) != default:
                raise self._error(
                    f"{field} is only for the kind 'taxonomic'; got kind {_shown(self.kind)}.",
                    f"Set kind='taxonomic', or leave {field} out.",
                )

    def _check_distance(self) -> None:
        from ..taxonomy.distances import get_distance

        try:
            get_distance(self.distance)
        except TaxonomyError as error:
            raise self._error(error.message, error.hint) from None


def values_in_words(attribute: Attribute) -> str:
    """Where the values of an attribute come from: its taxonomies, or how long its scale is."""
    names = [one if isinstance(one, str) else one.name for one, _ in attribute.sources]
    return ", ".join(names) or (f"{len(attribute.order)} categories in order" if attribute.order else "")


def _shown(kind: object) -> str:
    return "None" if kind is None else repr(str(kind))
