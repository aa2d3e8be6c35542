"""What a person can see for themselves who has only their own record and the released table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing, spell
from ..errors import DataError, SchemaError, TaxonomyError, did_you_mean
from ..measures.ranks import places
from ..microdata import Attribute, Column, ContinuousColumn, Kind, Microdata, Role, Schema
from ..microdata.alike import alike
from ..microdata.casting import is_temporal
from ..taxonomy import Taxonomy

if TYPE_CHECKING:
    from .release import Release

__all__ = ["PublicTable", "Seen", "SeenColumn", "public_columns", "taxonomy_hash", "verify_record"]

Float = NDArray[np.float64]

_BLOCK = re.compile(r"```json\n(\{.*?\n\})\n```", re.DOTALL)
NEAR = 0.05  # the share of the ranks within which records are counted


# --------------------------------------------------------------------------------------- what the public note says


def public_columns(release: Release) -> str:
    """What the public note says of the columns, for those who compare their own record with the table: JSON."""
    schema = release.original.schema
    permuted = {name for promise in release._promises for name in promise.permuted(release._masked)}
    columns = []
    for name, attribute in schema.items():
        if attribute.role == Role.IDENTIFIER or name in release.following:
            continue
        said: dict[str, Any] = {"name": name} | ({} if attribute.kind is None else {"kind": str(attribute.kind)})
        if name in release.protected:
            said["protected"] = "permuted" if name in permuted and release.linked else "changed"
        if attribute.order:
            said["order"] = list(attribute.order)
        if attribute.kind == Kind.TAXONOMIC:
            said |= _about_taxonomy(attribute)
        if attribute.notation is not None and attribute.coarsen is None:
            said["notation"] = attribute.notation
        if attribute.open_ends:
            said["open_ends"] = dict(attribute.open_ends)
        if tuple(attribute.missing) != ("",):
            said["missing"] = list(attribute.missing)
        columns.append(json.dumps(said, ensure_ascii=False, default=str))
    listed = ",\n  ".join(columns)
    return f'{{"linked": {json.dumps(release.linked)},\n "columns": [\n  {listed}\n]\n}}'


def _about_taxonomy(attribute: Attribute) -> dict[str, Any]:
    """Which taxonomies: by name and hash, so that others can take the same; those made from the table have no hash."""
    found: list[dict[str, Any]] = []
    for taxonomy, weight in attribute.taxonomies:
        one = {"name": "columns of the table"} if taxonomy.made_from else {"name": taxonomy.name}
        digest = {} if taxonomy.made_from else {"sha256": taxonomy_hash(taxonomy)}
        found.append({**one, **digest, **({} if weight == 1 else {"weight": weight})})
    said: dict[str, Any] = {"taxonomy": found}
    said["distance"] = getattr(attribute.distance, "name", attribute.distance)
    if attribute.match != "id":
        said["match"] = attribute.match
    if attribute.normalize:
        said["normalize"] = list(attribute.normalize)
    return said


def taxonomy_hash(taxonomy: Taxonomy) -> str:
    """A hash of the concepts and what each is below, whatever file they came from."""
    digest = hashlib.sha256(repr((taxonomy.ids, taxonomy.codes)).encode())
    digest.update(np.asarray(taxonomy.parent_start, dtype="<i8").tobytes())
    digest.update(np.asarray(taxonomy.parent_index, dtype="<i8").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class PublicTable:
    """What the note of a release says of its columns."""

    columns: Mapping[str, Mapping[str, Any]]
    linked: bool

    @classmethod
    def of_note(cls, text: str, where: str) -> PublicTable:
        """From the text of a note; ``where`` it was found."""
        block = _BLOCK.search(text)
        try:
            said = json.loads(block[1]) if block else {}
            columns = {str(one["name"]): one for one in said["columns"]}
            return cls(columns, bool(said["linked"]))
        except (ValueError, KeyError, TypeError):
            raise DataError(
                f"{where} does not say what the columns of the table are.",
                hint="Take the note that was published with the table (its name ends in .note.md), or ask for it.",
            ) from None

    def schema(self, names: list[str], taxonomies: Mapping[str, Taxonomy]) -> Schema:
        """The columns of these names as a schema; a taxonomy that is not shipped must be given."""
        for name in taxonomies:
            if name not in self.columns or self.columns[name].get("kind") != "taxonomic":
                coded = [one for one, said in self.columns.items() if said.get("kind") == "taxonomic"]
                hint = did_you_mean(name, coded) if coded else "Leave it out."
                raise SchemaError(f"column {name!r} has no taxonomy.", hint=hint)
        return Schema([_attribute(self.columns[name], taxonomies.get(name)) for name in names])


def _attribute(said: Mapping[str, Any], given: Taxonomy | None) -> Attribute:
    known = ("order", "missing", "match", "normalize", "distance", "notation", "open_ends")
    rest = {key: said[key] for key in known if key in said}
    if said.get("kind") == "taxonomic":
        every = said["taxonomy"]
        rest["taxonomy"] = [(_taxonomy(said["name"], one, given), float(one.get("weight", 1.0))) for one in every]
        rest["unmapped"] = "as_missing"
    return Attribute(said["name"], role="quasi_identifier", kind=said.get("kind") or "nominal", **rest)


def _taxonomy(column: str, said: Mapping[str, Any], given: Taxonomy | None) -> Taxonomy:
    if given is None:
        try:
            given = Taxonomy.builtin(said["name"])
        except TaxonomyError:
            raise DataError(
                f"column {column!r}: the taxonomy {said['name']!r} is not shipped with taxomask.",
                hint=f"Ask for its file, and name it: --taxonomy {column}=FILE. Or leave the column out of the record.",
            ) from None
    if "sha256" in said and taxonomy_hash(given) != said["sha256"]:
        raise DataError(
            f"column {column!r}: this is not the taxonomy {said['name']!r} that the table was protected with.",
            hint=f"Ask for its file, and name it: --taxonomy {column}=FILE.",
        )
    return given


# --------------------------------------------------------------------------------------- the comparison


@dataclass(frozen=True)
class SeenColumn:
    """How far the released values of a protected column are from one's own.

    ``nearest`` is the smallest distance as a share of the ranks; ``equal`` and ``near`` are the numbers of candidates
    with the same value, and with one within 5 % of the ranks. ``bound`` says whether the distance is exact, because the
    column is a permutation of the original one, or approximate.
    """

    name: str
    nearest: float
    equal: int
    near: int
    bound: bool

    def __str__(self) -> str:
        exactly, have = "exactly" if self.bound else "about", "has" if self.equal == 1 else "have"
        return (
            f"{self.name}: {self.equal:,} {have} your value, {self.near:,} one within 5 % of the ranks; the nearest is "
            f"{exactly} {100 * self.nearest:.2g} % of the ranks away."
        )


@dataclass(frozen=True)
class Seen:
    """What a person sees of their own record in a release.

    ``candidates`` are the records with the same values in the columns that were released as collected. ``nearest`` is
    the smallest distance of a candidate: the largest over the protected columns; ``at_nearest`` candidates have it, and
    ``near`` lie within 5 % of the ranks in every column. If it is a ``bound``, one's own record was moved at least so
    far in one of the columns. ``left_out`` are the protected columns that were not compared, and why; ``absent`` those
    that hold exactly the values that were collected, and not one's own.
    """

    records: int
    as_collected: tuple[str, ...]
    candidates: int
    columns: tuple[SeenColumn, ...]
    nearest: float
    at_nearest: int
    near: int
    bound: bool
    linked: bool
    left_out: Mapping[str, str]
    absent: tuple[str, ...]

    def __str__(self) -> str:
        lines = []
        if self.as_collected:
            lines.append(
                f"{self.candidates:,} of {self.records:,} records have your values in {', '.join(self.as_collected)}, "
                "which were released as they were collected; these are compared."
            )
        lines += map(str, self.columns)
        moved = f"{100 * self.nearest:.2g} % of the ranks"
        many = "record does" if self.at_nearest == 1 else "records do"
        lie = "lies" if self.near == 1 else "lie"
        compared = " that were compared" if self.left_out else ""
        lines.append(
            f"Over the columns{compared} together the nearest differs by {moved} in that where it differs most: "
            f"{self.at_nearest:,} {many}, {self.near:,} {lie} within 5 %."
        )
        if not self.linked:
            lines.append("The records of this table were made anew: none of them is yours.")
        elif self.absent:
            lines.append(
                f"{', '.join(self.absent)}: the table holds exactly the values that were collected, and not yours. "
                "Either your record is not in it, or your value is written differently there."
            )
        elif self.bound and self.nearest == 0:
            lines.append(
                f"No bound: a record of the table is like yours in the columns{compared}, whether it is yours or not."
            )
        elif self.bound:
            lines.append(f"A bound: if your record is in the table, it was moved by at least {moved} in one column.")
        else:
            lines.append(
                "An approximation: not every column is a permutation of the original one in which your value occurs."
            )
        if self.left_out:
            lines.append(f"Not compared: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n".join(lines)


def verify_record(
    table: Any, record: Mapping[str, Any], public: PublicTable, taxonomies: Mapping[str, Taxonomy]
) -> Seen:
    """Compare one's own record with a released table, a pyarrow table whose categories are text.

    Columns released as collected must be equal. In protected ones the distance of a released value is the number of
    ranks between it and one's own, in the order in which permuting methods rank values, as a share of all. It is the
    smallest that ties allow. A released cell without a value may have been anybody's, and counts as 0.

    References
    ----------
    Domingo-Ferrer, Muralidhar (2016), New directions in anonymization: permutation paradigm, verifiability by subjects
    and intruders, transparency to users, arXiv 1501.04186.
    """
    names = _compared(table, record, public)
    schema = public.schema(names, {name: one for name, one in taxonomies.items() if name in names})
    released = Microdata.from_frame(table.select(names), schema)
    mine = {name: _coded(table, schema[name], record[name]) for name in names}
    protected = [name for name in names if "protected" in public.columns[name]]
    permuted = [name for name in protected if public.linked and public.columns[name]["protected"] == "permuted"]
    given = [name for name in permuted if not mine[name].missing[0]]
    absent = tuple(name for name in given if not _occurs(released.columns[name], mine[name]))
    whys = {name: _why_not(released.columns[name], mine[name], record[name]) for name in protected}
    left_out = {name: why for name, why in whys.items() if why}
    if len(left_out) == len(protected):
        every = [name for name, said in public.columns.items() if "protected" in said]
        found = "".join(f" {name}: {why}." for name, why in left_out.items())
        raise DataError(
            f"the record has no value in a protected column that the table knows.{found}",
            hint=f"Give your own values of {listing(every)}.",
        )
    as_collected = [name for name in names if name not in protected] if public.linked else []
    own = np.ones(released.n, dtype=np.bool_)
    for name in as_collected:
        theirs, yours = alike(released.columns[name], mine[name])
        own &= theirs.same(yours.take(np.zeros(released.n, dtype=np.int64)))
    if not own.any():
        raise DataError(
            f"no record of the table has your values in {', '.join(as_collected)}, which were released as they were "
            "collected.",
            hint="Your record is not in this table, or its values are spelled differently; leave these columns out to "
            "compare the others.",
        )
    seen, largest, exact = [], np.zeros(int(own.sum())), public.linked and not absent
    for name in protected:
        if name in left_out:
            continue
        away, bound = _away(released.columns[name], mine[name])[own], name in permuted and name not in absent
        seen.append(SeenColumn(name, float(away.min()), int((away == 0).sum()), int((away <= NEAR).sum()), bound))
        largest, exact = np.maximum(largest, away), exact and bound
    nearest = float(largest.min())
    return Seen(
        released.n,
        tuple(as_collected),
        len(largest),
        tuple(seen),
        nearest,
        int((largest <= nearest + 1e-12).sum()),
        int((largest <= NEAR).sum()),
        exact,
        public.linked,
        left_out,
        absent,
    )


def _compared(table: Any, record: Mapping[str, Any], public: PublicTable) -> list[str]:
    """The columns that both the record and the table have."""
    for name in record:
        if name not in public.columns:
            raise DataError(
                f"the record has a column {name!r}, which the table does not have.",
                hint=did_you_mean(name, public.columns),
            )
        if isinstance(record[name], list | dict):
            raise DataError(f"the value of {name!r} is a list.", hint="Give one value for each column.")
    absent = [name for name in record if name not in table.column_names]
    if absent:
        raise DataError(f"the table has no column {listing(absent)}.", hint="Take the note of this very table.")
    return [name for name in table.column_names if name in record]


def _coded(table: Any, attribute: Attribute, value: Any) -> Column:
    """A value of the record as a column of one row, of the type that the column of the release has."""
    import pyarrow as pa

    name = attribute.name
    dtype = table.schema.field(name).type
    try:
        if value is None:
            cell = pa.nulls(1, dtype)
        elif is_temporal(dtype):
            cell = pa.array([str(value)]).cast(dtype)
        elif isinstance(value, int | float) and not isinstance(value, bool) and attribute.kind == Kind.CONTINUOUS:
            cell = pa.array([float(value)])
        else:
            cell = pa.array([spell(value)])
        return Microdata.from_frame(pa.table({name: cell}), Schema([attribute])).columns[name]
    except (pa.ArrowInvalid, DataError):
        if attribute.order:
            raise DataError(
                f"your value of {name!r}, {value!r}, is not on its scale.",
                hint=f"It is one of {', '.join(map(spell, attribute.order))}.",
            ) from None
        written = next((one.as_py() for one in table[name] if one.is_valid), "")
        raise DataError(
            f"your value of {name!r}, {value!r}, is not written as in the table.",
            hint=f"Write it as the table does, such as {spell(written)!r}.",
        ) from None


def _why_not(released: Column, mine: Column, value: Any) -> str:
    """Why a value cannot be compared with a column, if it cannot."""
    attribute, shown = mine.attribute, repr(spell(value))
    if not mine.missing[0]:
        there = attribute.kind != Kind.NOMINAL or _occurs(released, mine)
        return "" if there else f"no record of the table has {shown}"
    if value is None:
        return "you gave no value"
    if not attribute.taxonomies or spell(value) in map(spell, attribute.missing):
        return f"{shown} means that there is no value"
    taxonomy: Taxonomy = attribute.taxonomies[0][0]
    near = taxonomy.nearest(spell(value), match=attribute.match)  # type: ignore[arg-type]
    return f"{shown} is not in {taxonomy.name}{f'; near it are {listing(near[:3])}' if near else ''}"


def _occurs(released: Column, mine: Column) -> bool:
    """Whether a value occurs in a column."""
    theirs, yours = alike(released, mine)
    return bool(theirs.same(yours.take(np.zeros(len(theirs), dtype=np.int64))).any())


def _away(released: Column, mine: Column) -> Float:
    """How many ranks each released value is from one's own, as a share of all."""
    theirs, yours = alike(released, mine)
    if isinstance(theirs, ContinuousColumn):
        z, x = theirs.numbers(), float(yours.numbers()[0])
    else:
        of_all, of_mine = places(theirs, yours)
        z, x = np.where(of_all < 0, np.nan, of_all.astype(np.float64)), float(of_mine[0])
    present = ~np.isnan(z)
    ordered = np.sort(z[present])
    low, high = float(np.searchsorted(ordered, x, "left")) + 1, float(np.searchsorted(ordered, x, "right"))
    if high < low:  # the value does not occur
        low = high = high + 0.5
    first, last = np.searchsorted(ordered, z[present], "left") + 1, np.searchsorted(ordered, z[present], "right")
    away = np.zeros(len(z))
    away[present] = np.maximum(np.maximum(first - high, low - last), 0) / max(len(ordered) - 1, 1)
    return away
