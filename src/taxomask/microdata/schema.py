"""What the columns of a table are: attributes by name, in order."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from .._support.showing import few, line, view
from .._support.spelling import listing, spell
from ..errors import SchemaError, did_you_mean
from ..taxonomy import FromColumns, Level, Taxonomy
from .attribute import Attribute, Kind, Role, values_in_words
from .schema_entries import DEFAULTS, FIELDS, attribute_of, check_keys, entries_of, entry_of
from .yaml_file import read_yaml

if TYPE_CHECKING:
    from .frames import Frame

__all__ = ["ABOUT_PEOPLE", "MissingPerson", "Schema", "made_from_frame"]

MissingPerson = Literal["together", "each"]
ABOUT_PEOPLE = {
    "person": "The column that names the person of a row, an identifier: k, l and t count people, not rows.",
    "household": "The column that names the household of a row, an identifier: k counts households, not people.",
    "sampling_weight": "The column of numbers that says for how many people of the population a row stands.",
    "population_size": "How many people the population has that the table is a sample of.",
    "missing_person": "Rows that name no person are together one person, or each row is one.",
}
"""What a schema says besides its attributes, in the words of a plan."""

_OF_ONE_KIND = (
    "order",
    "taxonomy",
    "distance",
    "match",
    "normalize",
    "unmapped",
    "decimals",
    "notation",
    "open_ends",
    "coarsen",
)


class Schema(Mapping[str, Attribute]):
    """A description of every column of a table: a mapping from names to attributes, in order.

    Parameters
    ----------
    attributes
        The attributes; no name may stand twice.
    person
        The column that names the person of a row, an identifier. Where it is given, people are counted, not rows: a
        group and a class have at least k different people.
    household
        The column that names the household of a row, an identifier. Where it is given, households are counted.
    sampling_weight
        The column, a continuous one, that says for how many people of the population a row stands.
    population_size
        How many people the population has that the table is a sample of.
    missing_person
        Rows that name neither person nor household are ``"together"`` one, or ``"each"`` row is one. The first cannot
        promise too much.

    Examples
    --------
    >>> schema = Schema([
    ...     Attribute("patient", role="identifier"),
    ...     Attribute("age", role="quasi_identifier", kind="continuous"),
    ... ])
    >>> schema.identifiers, schema["age"].kind
    (('patient',), <Kind.CONTINUOUS: 'continuous'>)
    >>> schema.replace("age", role="confidential").confidential
    ('age',)
    >>> Schema(schema.values(), person="patient")
    <Schema of 2 attributes: identifier patient; quasi_identifier age; person patient>
    """

    def __init__(
        self,
        attributes: Iterable[Attribute],
        person: str | None = None,
        household: str | None = None,
        sampling_weight: str | None = None,
        population_size: int | None = None,
        missing_person: MissingPerson = "together",
    ) -> None:
        self._attributes: dict[str, Attribute] = {}
        for attribute in attributes:
            if not isinstance(attribute, Attribute):
                raise SchemaError(
                    f"a schema is a list of attributes; got {attribute!r}.",
                    hint="Write Schema([Attribute('age', role='quasi_identifier', kind='continuous'), …]).",
                )
            if attribute.name in self._attributes:
                raise SchemaError(
                    f"attribute {attribute.name!r} is described twice.", hint="Describe every column once."
                )
            self._attributes[attribute.name] = attribute
        self.person, self.household, self.sampling_weight = person, household, sampling_weight
        self.population_size, self.missing_person = population_size, missing_person
        self._let_levels_follow()
        self._check_follows()
        self._check_people()

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """Read the ``attributes:`` of a YAML plan, and its ``person:``, ``household:`` and the like.

        They are a list of attributes, or a mapping from names to attributes. A taxonomy is the name of a
        shipped one or a file, found from the folder of the plan; several are a list, each with or without a
        weight (``{taxonomy: local.csv, weight: 2}``).
        """
        path = Path(path)
        plan = read_yaml(path)
        try:
            given = plan if isinstance(plan, dict) else {}
            people = {key: given[key] for key in ABOUT_PEOPLE if given.get(key) is not None}
            return cls.from_entries(given.get("attributes"), path.parent, **people)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error.message}", hint=error.hint) from None

    @classmethod
    def from_entries(cls, entries: object, folder: str | PathLike[str] = ".", **people: Any) -> Schema:
        """A schema from plain values, as they stand under ``attributes:`` and, what is said of people, beside it."""
        if not entries:
            raise SchemaError("there are no attributes.", hint="List the columns under 'attributes:'.")
        return cls((attribute_of(entry, Path(folder)) for entry in entries_of(entries)), **people)

    # ----------------------------------------------------------------------------------- as a mapping

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        roles = {role: self.by_role(role) for role in Role}
        parts = (f"{role} {few(names, 4)}" for role, names in roles.items() if names)
        people = (f"{key} {value}" for key, value in self.about_people().items())
        return line(f"<Schema of {len(self)} attributes: {'; '.join([*parts, *people])}>")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Schema) and self.about_people() != other.about_people():
            return False
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        counted = [f"{len(self.by_role(role))} {role}" for role in Role if self.by_role(role)]
        counted += [f"{key} {value}" for key, value in self.about_people().items()]
        rows: list[tuple[str, ...]] = [
            (name, str(one.role), str(one.kind or "–"), values_in_words(one), one.note) for name, one in self.items()
        ]
        header: tuple[str, ...] = ("column", "role", "kind", "values", "note")
        if not any(one.note for one in self.values()):
            header, rows = header[:4], [row[:4] for row in rows]
        return view(f"Schema of {len(self)} attributes", ", ".join(counted), header=header, rows=rows)

    # ----------------------------------------------------------------------------------- by role

    def by_role(self, role: Role | str) -> tuple[str, ...]:
        """The names of the attributes with a role."""
        if role not in tuple(Role):
            raise SchemaError(
                f"role must be one of {listing(map(str, Role))}; got {role!r}.",
                hint=did_you_mean(str(role), map(str, Role)),
            )
        return tuple(name for name, attribute in self.items() if attribute.role == role)

    @property
    def identifiers(self) -> tuple[str, ...]:
        return self.by_role(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.by_role(Role.QUASI_IDENTIFIER)

    @property
    def confidential(self) -> tuple[str, ...]:
        return self.by_role(Role.CONFIDENTIAL)

    @property
    def undecided(self) -> tuple[str, ...]:
        return self.by_role(Role.UNDECIDED)

    def decide(self, roles: Mapping[str, str]) -> Schema:
        """A schema with roles decided, by the names of columns.

        A name may be a pattern (``dx*``), which decides all columns that it fits and that are not named in full. ``*``
        alone decides all that is undecided, after the others, and nothing else.

        >>> draft = Schema([Attribute("id", role="identifier"), Attribute("ward"), Attribute("floor")])
        >>> draft.decide({"*": "other", "ward": "identifier"})
        <Schema of 3 attributes: identifier id, ward; other floor>
        """
        named = {name: role for name, role in roles.items() if name in self}
        rest = {pattern: role for pattern, role in roles.items() if pattern not in named}
        found = dict.fromkeys(self.undecided, rest.pop("*")) if "*" in rest else {}
        for pattern, role in rest.items():
            fitting = [name for name in self if fnmatchcase(name, pattern)]
            if not fitting:
                raise SchemaError(f"there is no column {pattern!r}.", hint=did_you_mean(pattern, self))
            found |= dict.fromkeys(fitting, role)
        found |= named
        return self.of(dataclasses.replace(one, role=found.get(one.name, one.role)) for one in self.values())

    def check_decided(self) -> None:
        """An error that names all columns that are undecided, if there are any."""
        names = self.undecided
        if names:
            what = "the role of 1 column is" if len(names) == 1 else f"the roles of {len(names):,} columns are"
            raise SchemaError(
                f"{what} undecided: {listing(names, len(names))}.",
                hint="Decide for each whether it is an identifier (never released), a quasi_identifier or confidential "
                "(protected), or other (released as it is): in the plan; with `taxomask inspect --role NAME=ROLE`, "
                "where --role '*=other' stands for all of them; or with schema.decide({…}) in Python.",
            )

    # ----------------------------------------------------------------------------------- who follows whom

    def following(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns that follow one of these, or one that follows it, and so on."""
        leaders = set(names)
        return tuple(name for name in self if leaders.intersection(self._led_by(name)))

    def _led_by(self, name: str) -> list[str]:
        """What a column follows, and what that follows, and so on."""
        found: list[str] = []
        while (leader := self[name].follows) is not None and leader not in found:
            found.append(leader)
            name = leader
        return found

    def _check_follows(self) -> None:
        for name, attribute in self.items():
            if attribute.follows is None:
                continue
            if attribute.follows not in self:
                raise SchemaError(
                    f"attribute {name!r} follows {attribute.follows!r}, which is not described.",
                    hint=did_you_mean(attribute.follows, [one for one in self if one != name]),
                )
            if self[attribute.follows].role == Role.IDENTIFIER:
                raise SchemaError(
                    f"attribute {name!r} follows {attribute.follows!r}, an identifier, which is never released.",
                    hint="Make it an identifier too, or let it follow another column.",
                )
            if name in self._led_by(name):
                raise SchemaError(
                    f"attribute {name!r} follows itself, by way of {listing(self._led_by(name)[:-1])}.",
                    hint="One of these columns must follow none.",
                )

    # ----------------------------------------------------------------------------------- taxonomies of the table itself

    def _let_levels_follow(self) -> None:
        """Columns that a taxonomy is made from follow its codes, unless they have a role of their own."""
        for name, attribute in list(self.items()):
            for made_from in (one for one, _ in attribute.sources if isinstance(one, FromColumns)):
                for other in made_from.every[1:]:
                    if other not in self:
                        raise SchemaError(
                            f"the taxonomy of {name!r} is made from {other!r}, which is not described.",
                            hint=did_you_mean(other, [one for one in self if one != name]),
                        )
                    there = self[other]
                    if there.kind is None and there.follows is None and there.role in (Role.UNDECIDED, Role.OTHER):
                        self._attributes[other] = dataclasses.replace(there, role=Role.OTHER, follows=name)

    def with_own_taxonomies(self, make: Callable[[FromColumns, tuple[str, ...]], Taxonomy]) -> Schema:
        """The schema with the taxonomies that are made from the table itself; the same schema if there are none.

        ``make`` is given the columns and what means missing in them; see `made_from_frame`.
        """
        changed = [_with_own_taxonomies(one, make) for one in self.values()]
        return self if all(a is b for a, b in zip(changed, self.values(), strict=True)) else self.of(changed)

    # ----------------------------------------------------------------------------------- people

    def _check_people(self) -> None:
        for key in ("person", "household", "sampling_weight"):
            name = getattr(self, key)
            if name is None:
                continue
            if not isinstance(name, str) or name not in self:
                raise SchemaError(
                    f"{key} must be the name of a column; got {name!r}.", hint=did_you_mean(str(name), self)
                )
            if key != "sampling_weight" and self[name].role != Role.IDENTIFIER:
                raise SchemaError(
                    f"the {key} is column {name!r}, whose role is {self[name].role}.",
                    hint=f"Give it the role 'identifier': released, it would tie the rows of a {key} together.",
                )
        if self.person is not None and self.person == self.household:
            raise SchemaError(
                f"person and household are the same column, {self.person!r}.",
                hint="Name the household alone, if rows do not tell its people apart.",
            )
        weight = self.sampling_weight
        if weight is not None and self[weight].kind != Kind.CONTINUOUS:
            raise SchemaError(
                f"the sampling_weight is column {weight!r}, which is not described as a number.",
                hint="Give it the kind 'continuous'.",
            )
        size: Any = self.population_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, Integral) or size < 1):
            raise SchemaError(
                f"population_size must be a whole number of at least 1; got {size!r}.",
                hint="Say how many people the population has, or leave it out.",
            )
        choices = get_args(MissingPerson)
        if self.missing_person not in choices:
            raise SchemaError(
                f"missing_person must be one of {listing(choices)}; got {self.missing_person!r}.",
                hint=did_you_mean(str(self.missing_person), choices),
            )

    @property
    def coarsened(self) -> frozenset[str]:
        """The columns of dates that are read, and released, as something coarser."""
        kept = [one for one in self.values() if one.role != Role.IDENTIFIER]
        return frozenset(one.name for one in kept if one.coarsen is not None)

    # ----------------------------------------------------------------------------------- changing and writing

    def replace(self, name: str, /, **changes: Any) -> Schema:
        """A schema in which one attribute is changed; what only its former kind had is left out."""
        if name not in self:
            raise SchemaError(f"there is no attribute {name!r}.", hint=did_you_mean(name, self))
        check_keys(f"attribute {name!r}", changes)
        if "kind" in changes and changes["kind"] != self[name].kind:
            changes = {field: DEFAULTS[field] for field in _OF_ONE_KIND} | changes
        changed = dataclasses.replace(self[name], **changes)
        return self.of(changed if one.name == name else one for one in self.values())

    def of(self, attributes: Iterable[Attribute], **people: Any) -> Schema:
        """A schema of other attributes that says the same of people, or what is given; None takes it away.

        What names a column that is not among the attributes is left out.
        """
        every = list(attributes)
        names = {one.name for one in every}
        kept = {
            key: value
            for key, value in self.about_people().items()
            if key in ("population_size", "missing_person") or value in names
        }
        said = {**kept, **people}
        return Schema(every, **{key: value for key, value in said.items() if value is not None})

    def about_people(self) -> dict[str, Any]:
        """What the schema says besides its attributes, where it differs from the defaults: see `ABOUT_PEOPLE`."""
        said = {key: getattr(self, key) for key in ABOUT_PEOPLE}
        return {key: value for key, value in said.items() if value not in (None, "together")}

    def to_dict(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """The schema in plain values, as `read` takes it: names, roles, and what differs from the defaults.

        Files of taxonomies are written as seen from ``folder``, by default the current one.
        """
        return {"attributes": [entry_of(one, Path(folder or ".")) for one in self.values()], **self.about_people()}

    def fingerprint(self) -> str:
        """A hash of all that the schema says, the content of its taxonomies included."""
        digest = hashlib.sha256()
        for one in self.values():
            plain = {field: getattr(one, field) for field in FIELDS if field not in ("taxonomy", "note")}
            digest.update(repr({**plain, "distance": getattr(one.distance, "name", one.distance)}).encode())
            digest.update(repr([source for source, _ in one.sources if isinstance(source, FromColumns)]).encode())
            for taxonomy, weight in _there(one):
                digest.update(repr((weight, taxonomy.ids, taxonomy.labels, taxonomy.codes)).encode())
                digest.update(taxonomy.parent_start.tobytes() + taxonomy.parent_index.tobytes())
        if self.about_people():
            digest.update(repr(self.about_people()).encode())
        return digest.hexdigest()


def made_from_frame(frame: Frame, made_from: FromColumns, missing: tuple[str, ...]) -> Taxonomy:
    """The taxonomy that columns of a table are."""
    columns = {name: frame.distinct(name) for name in made_from.every}
    levels = {name: Level(one.spellings, one.codes).without(missing) for name, one in columns.items()}
    return Taxonomy.from_levels(made_from, levels)


def _with_own_taxonomies(attribute: Attribute, make: Callable[[FromColumns, tuple[str, ...]], Taxonomy]) -> Attribute:
    if not any(isinstance(source, FromColumns) for source, _ in attribute.sources):
        return attribute
    missing = tuple(spell(one) for one in attribute.missing)
    found = [
        (make(source, missing) if isinstance(source, FromColumns) else source, weight)
        for source, weight in attribute.sources
    ]
    return dataclasses.replace(attribute, taxonomy=found)


def _there(attribute: Attribute) -> Iterator[tuple[Taxonomy, float]]:
    """The taxonomies of an attribute but for those that are made from a table."""
    kept = [(source, weight) for source, weight in attribute.sources if not isinstance(source, FromColumns)]
    return iter(dataclasses.replace(attribute, taxonomy=kept).taxonomies if kept else ())
