"""A plan drafted from the data, with the evidence in comments, for a custodian to edit."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..comparison import default_grid
from ..errors import TaxomaskError
from ..methods import Method
from ..microdata import Attribute, Kind, Role, Schema
from ..microdata.casting import is_temporal
from ..microdata.coverage import coverage
from ..microdata.files import Source, is_address, open_table
from ..microdata.infer import drafted, with_pairs
from ..microdata.recognition import DATES, whose
from ..microdata.schema import ABOUT_PEOPLE
from ..taxonomy import Taxonomy
from .first_look import FirstLook
from .labels import with_labels
from .leaders import with_leaders

__all__ = ["draft_plan", "draft_schema"]

_HEAD = """\
# Private: its comments tell of values. A draft for {data}, from names and values. Check every role before you use it:
#   undecided         not recognised, for you to decide: nothing is released while there is one. They come first
#   identifier        names a person; never released
#   quasi_identifier  others may know it, so it could lead to a person; most methods protect it
#   confidential      what is to be learnt only about groups, such as a diagnosis
#   other             released as it is, unprotected; with `follows`, as it belongs to the released value of that column
# A column goes by its kind: continuous, ordinal (with an order), nominal, or taxonomic (codes of a taxonomy).
"""
_TAIL = """
# How to protect it. `taxomask methods` lists the methods and their parameters.
method: {method}

# What `taxomask compare` tries; `vary` lists values of parameters. Groups that are refined lose less; without `steps`
# the search for them is longer, and they lose less still.
compare:
{grid}
# What must hold, or nothing is written: at most this share of records linked correctly, at most this loss over the
# protected columns, and in the worst of them.
# limits: {{risk: 0.05, loss: 0.5, worst_loss: 1}}

# output:
#   path: protected.csv
#   report: report.html
"""
_NO_METHOD = "# name a quasi_identifier or a confidential column first"
_AS_TEXT = "numbers written as text"  # said of every number, as all columns are read as text


def draft_plan(schema: Schema, data: str, folder: Path = Path(), method: Method | None = None) -> str:
    """The text of a YAML plan.

    Parameters
    ----------
    schema
        What the columns are, with evidence in the notes: a `draft_schema`.
    data
        The table: a file, or the address of one in a database.
    folder
        Where the plan will lie: files are named as seen from there.
    method
        The method, if it is known already.
    """
    named = data if is_address(data) else _seen_from(folder, Path(data))
    listed = zip(schema.values(), schema.to_dict(folder)["attributes"], strict=True)
    entries = "".join(_entry(attribute, values) for attribute, values in listed)
    grid = default_grid(schema)
    first = {"name": "microaggregation", "k": 5} if schema.quasi_identifiers else next(iter(grid), None)
    chosen = first if method is None else method.to_dict()
    compared = "".join(f"  - {_plain(entry)}\n" for entry in grid)
    elsewhere = is_address(named) or named.startswith("/")
    outside = "  # not in the folder of this plan: use it with --outside" if elsewhere else ""
    head = _HEAD.format(data=named)
    whole = f"{head}\ndata: {_plain(named)}{outside}\nattributes:\n{entries}{_people(schema)}"
    return whole + _TAIL.format(method=_NO_METHOD if chosen is None else _plain(chosen), grid=compared)


def _people(schema: Schema) -> str:
    """Whose the rows are, in lines of a plan."""
    said = schema.about_people()
    return "".join(f"\n# {ABOUT_PEOPLE[key]}\n{key}: {_plain(value)}\n" for key, value in said.items())


def draft_schema(
    frame: Any,
    *,
    beside: Path | None = None,
    roles: Mapping[str, str] | None = None,
    people: Mapping[str, str | None] | None = None,
    source: Source | None = None,
) -> Schema:
    """A schema for a table whose columns were read as text: `infer`, with what is undecided first.

    The columns that seem to name the person and the household of a row are proposed as such: identifiers whose values
    stand in several rows.

    Parameters
    ----------
    frame
        The table (a pyarrow one), a `Source`, which is read in pieces, or a `FirstLook` at either.
    beside
        The file of the table: taxonomies of single columns may lie beside it, in files whose names end in ``_`` and the
        name of the column.
    roles
        Roles that are known already, by column or pattern: see `Schema.decide`.
    people
        The columns that name the ``person`` and the ``household`` of a row, identifiers, if they are known.
    source
        Where the table came from, if it is not given as a `Source` itself: its labels and levels are used.
    """
    source = frame if isinstance(frame, Source) else source
    look = frame if isinstance(frame, FirstLook) else FirstLook(frame)
    known = {key: name for key, name in (people or {}).items() if name is not None}
    near = sorted(beside.parent.glob("*")) if beside is not None else []
    files = [path for path in near if path != beside and path.is_file()]
    columns = [with_labels(_with_kind(drafted(look, name), look, files), source, look) for name in look.names]
    decided = {**(roles or {}), **dict.fromkeys(known.values(), str(Role.IDENTIFIER))}
    schema = _decided(with_pairs(_with_commas(_with_dates(columns, beside), source, beside)), decided, look)
    repeated = [name for name in schema.identifiers if look.repeats(name, schema[name].missing)]
    proposed = {key: name for key, name in whose(repeated).items() if name not in known.values()}
    return schema.of(sorted(schema.values(), key=lambda one: one.role != Role.UNDECIDED), **{**proposed, **known})


def _decided(schema: Schema, roles: Mapping[str, str], look: FirstLook) -> Schema:
    """The draft with roles that are known, and then with columns that follow others, but for those that were named."""
    named = {pattern: role for pattern, role in roles.items() if pattern != "*"}
    schema = schema.decide(named)
    names = {name for name in schema for pattern in named if name == pattern or fnmatchcase(name, pattern)}
    schema = with_leaders(schema, look, but=names)
    return schema.decide({"*": roles["*"]}) if "*" in roles else schema


def _with_dates(attributes: list[Attribute], path: Path | None) -> list[Attribute]:
    """Dates are numbers where the file, if it is not read as text, says that they are dates."""
    names = [one.name for one in attributes if one.kind == Kind.NOMINAL and DATES in one.note]
    if path is None or not names:
        return attributes
    types = open_table(path).batches(columns=names).schema
    typed = [name for name in names if is_temporal(types.field(name).type)]
    return [replace(one, kind=Kind.CONTINUOUS) if one.name in typed else one for one in attributes]


def _with_commas(attributes: list[Attribute], source: Source | None, path: Path | None) -> list[Attribute]:
    """Numbers with open ends are written with the decimal sign of the file, though none of them has decimals."""
    if not any(one.open_ends and one.notation is None for one in attributes) or (source is None and path is None):
        return attributes
    dialect = getattr(source or open_table(str(path)), "dialect", None)
    if dialect is None or dialect.decimal == ".":
        return attributes
    return [replace(one, notation="1234,5") if one.open_ends and one.notation is None else one for one in attributes]


def _with_kind(attribute: Attribute, look: FirstLook, files: Sequence[Path]) -> Attribute:
    """What the files beside the table tell of the kind of a column."""
    note = "; ".join(part for part in attribute.note.split("; ") if part != _AS_TEXT)
    path = _taxonomy_beside(attribute, look, files) if attribute.kind == Kind.NOMINAL else None
    if path is None:
        return replace(attribute, note=note)
    return replace(attribute, kind=Kind.TAXONOMIC, taxonomy=path, note=_also(note, f"all values are in {path.name}"))


def _taxonomy_beside(attribute: Attribute, look: FirstLook, files: Sequence[Path]) -> Path | None:
    """The file of a taxonomy beside the table that is named after the column and knows all of its values."""
    for path in files:
        if not path.name.partition(".")[0].endswith(f"_{attribute.name}"):
            continue
        try:
            taxonomy = Taxonomy.read(path)
        except TaxomaskError:  # some other file
            continue
        values = look.texts(attribute.name)
        if values is None:
            return None
        found = coverage(values, taxonomy, missing=tuple(map(str, attribute.missing)))
        if found.complete and int(taxonomy.depth.max()) > 2:  # a flat one says no more than that values differ
            return path
    return None


def _also(note: str, more: str) -> str:
    return f"{note}; {more}" if note else more


def _seen_from(folder: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_posix()


def _entry(attribute: Attribute, values: dict[str, Any]) -> str:
    note = values.pop("note", "")
    if attribute.role == Role.IDENTIFIER:  # never looked at
        values = {"name": attribute.name, "role": str(attribute.role)}
    comment = textwrap.indent("\n".join(textwrap.wrap(note, 110)), "    # ") + "\n" if note else ""
    listed = "\n".join(f"    {key}: {_plain(value)}" for key, value in values.items() if key != "name")
    return f"  - name: {_plain(values['name'])}\n{comment}{listed}\n"


def _plain(value: Any) -> str:
    """A value on one line of YAML."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()
