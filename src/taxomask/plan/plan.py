"""The plan: what a table is, how to protect it and what must hold, in one YAML file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .._support.parameters import Parameter, declared
from ..errors import PlanError, TaxomaskError, did_you_mean
from ..evaluation import check_analyses, check_attackers
from ..measures.analyses import ANALYSES, Analysis
from ..measures.risk import ATTACKERS
from ..methods import METHODS, Method, Pipeline
from ..methods.missing_permutation import MISSING_CELLS
from ..microdata import Kind, Role, Schema
from ..microdata.attribute import BUILTIN, MATCH, MOST_DECIMALS, UNMAPPED
from ..microdata.coarsening import COARSER
from ..microdata.files import is_address, shown
from ..microdata.schema import ABOUT_PEOPLE, MissingPerson
from ..microdata.yaml_file import check_size, read_yaml
from ..release.accept import Accepted, accepted_entries
from ..taxonomy.distances import DISTANCES

__all__ = ["EngineChoice", "Limits", "Output", "Plan", "make_analysis", "make_method", "plan_json_schema", "vary"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)


class Limits(_Part):
    """What a release must keep to; it is not written otherwise."""

    risk: float | None = Field(
        None, ge=0, le=1, description="The largest acceptable share of records that the best attacker links rightly."
    )
    disclosure: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The largest acceptable part of what a guess leaves open that the best attacker learns of "
        "confidential values.",
    )
    loss: float | None = Field(
        None,
        ge=0,
        description="The largest acceptable loss, the mean over the protected columns: 0 is none, 1 is every value "
        "replaced by the average.",
    )
    worst_loss: float | None = Field(
        None, ge=0, description="The largest acceptable loss of the protected column that loses most."
    )
    analyses: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The smallest acceptable overlap of the confidence intervals of each of the plan's analyses, the "
        "mean over its numbers: 1 is the same as in the original.",
    )
    singled_out: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The largest acceptable share of records that are alone by the columns released as they are.",
    )


class Output(_Part):
    """What is written, and how."""

    path: str | None = Field(None, description="The protected table; the format follows from the suffix.")
    report: str | None = Field(None, description="A report as one HTML file, for the custodian.")
    keep_order: bool = Field(False, description="Keep the order of the rows, which links them to the original ones.")
    escape_cells: bool = Field(
        True, description="Write text that a spreadsheet would run (= + - @ first) with an apostrophe before it."
    )


class EngineChoice(_Part):
    """Where the work is done. The release is the same everywhere."""

    name: Literal["memory", "local", "dask"] = Field(
        "memory",
        description="memory: the table in memory; local: column by column from files, here; dask: on a cluster.",
    )
    scheduler: str | None = Field(
        None, description="The address of a running Dask scheduler; by default a cluster is started on this machine."
    )
    workers: int | None = Field(None, ge=1, description="How many jobs run at a time; by default one per core.")
    scratch: str | None = Field(
        None, description="A folder for intermediate files, which all workers see; by default that of the output."
    )


class Plan(_Part):
    """What a table is, how to protect it and what must hold.

    Examples
    --------
    >>> plan = Plan.from_dict({
    ...     "attributes": [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}],
    ...     "method": {"name": "microaggregation", "k": 5},
    ... })
    >>> plan.method
    Microaggregation(k=5)
    """

    attributes: Schema
    method: Method | None = None
    compare: tuple[Method, ...] = ()
    data: str | None = None
    seed: int | None = Field(None, ge=0)
    practice: bool = False
    purpose: str | None = None
    recipient: str | None = None
    attackers: tuple[str, ...] | None = None
    missing_cells: Literal["keep", "permute"] = "keep"
    limits: Limits = Limits(risk=None, disclosure=None, loss=None, worst_loss=None, analyses=None, singled_out=None)
    analyses: tuple[Analysis, ...] = ()
    accept: tuple[Accepted, ...] = ()
    output: Output = Output(path=None, report=None, keep_order=False, escape_cells=True)
    engine: EngineChoice = EngineChoice(name="memory", scheduler=None, workers=None, scratch=None)
    folder: Path = Field(Path(), exclude=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Without the seed."""
        yield "attributes", len(self.attributes)
        yield "method", self.method
        if self.compare:
            yield "compare", len(self.compare)
        yield "data", self.data
        yield "engine", self.engine.name

    @classmethod
    def read(cls, path: str | PathLike[str], *, outside: bool = False) -> Plan:
        """Read a plan; files that it names are found from its own folder.

        ``outside`` lets it name files outside that folder, databases and clusters: a plan from elsewhere cannot reach
        further by itself.
        """
        path = Path(path)
        content = read_yaml(path)
        try:
            return cls.from_dict(content, folder=path.parent, outside=outside)
        except TaxomaskError as error:
            raise PlanError(f"{path}: {error.message}", hint=error.hint) from None

    @classmethod
    def from_dict(cls, content: Any, folder: str | PathLike[str] = ".", *, outside: bool = False) -> Plan:
        """A plan from plain values, as they stand in the YAML file."""
        if not isinstance(content, Mapping):
            raise PlanError("a plan is a mapping of keys.", hint="Write 'attributes:' and 'method:'.")
        check_size(content)
        keys = (*(name for name in cls.model_fields if name != "folder"), *ABOUT_PEOPLE)
        for key in content:
            if key == "outside":
                said = "a plan cannot allow itself to reach outside its folder."
                raise PlanError(said, hint=f"Remove 'outside:'. {_OUTSIDE}")
            if key not in keys:
                raise PlanError(f"{key!r} is not a key of a plan.", hint=did_you_mean(str(key), keys))
        _check_files(content, Path(folder), outside=outside)
        given = {key: value for key, value in content.items() if value is not None}
        people = {key: given.pop(key) for key in ABOUT_PEOPLE if key in given}
        given["attributes"] = Schema.from_entries(content.get("attributes"), Path(folder), **people)
        given["accept"] = accepted_entries(given.get("accept", ()), given["attributes"])
        if isinstance(given.get("engine"), str):
            given["engine"] = {"name": given["engine"]}
        if "attackers" in given:
            given["attackers"] = _attackers(given["attackers"])
        if "analyses" in given:
            given["analyses"] = _analyses(given["analyses"], given["attributes"])
        elif isinstance(given.get("limits"), Mapping) and given["limits"].get("analyses") is not None:
            raise PlanError("limits names analyses, of which the plan has none.", hint="Write 'analyses:'.")
        if "method" in given:
            given["method"] = make_method(given["method"])
        if "compare" in given:
            given["compare"] = tuple(_grid(given["compare"]))
        try:
            return cls(**given, folder=Path(folder))
        except ValidationError as error:
            raise _plain(error) from None

    def located(self, name: str) -> str:
        """A file that the plan names, as seen from here; addresses of databases stay as they are."""
        return name if is_address(name) else str(self.folder / name) + "/" * name.endswith("/")

    def on(self, engine: str | None = None, *, scheduler: str | None = None, workers: int | None = None) -> Plan:
        """The same plan on another engine; what is not given stays as the plan says."""
        given = {"name": engine or ("dask" if scheduler else None), "scheduler": scheduler, "workers": workers}
        new = {**self.engine.model_dump(), **{key: value for key, value in given.items() if value is not None}}
        try:
            return self.model_copy(update={"engine": EngineChoice(**new)})
        except ValidationError as error:
            raise _plain(error) from None

    def counting(self, **people: Any) -> Plan:
        """The same plan with other columns for the person, the household and the like; None stays as the plan says."""
        given = {key: value for key, value in people.items() if value is not None}
        if not given:
            return self
        return self.model_copy(update={"attributes": self.attributes.of(self.attributes.values(), **given)})

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values, as `from_dict` takes it."""
        rest = self.model_dump(
            exclude={"attributes", "method", "compare", "analyses", "accept", "folder"}, exclude_defaults=True
        )
        rest |= {"analyses": [one.to_dict() for one in self.analyses]} if self.analyses else {}
        rest |= {"attackers": list(self.attackers)} if self.attackers is not None else {}
        rest |= {"accept": [one.to_dict() for one in self.accept]} if self.accept else {}
        methods = {"method": self.method.to_dict()} if self.method is not None else {}
        grid = {"compare": [one.to_dict() for one in self.compare]} if self.compare else {}
        return {**self.attributes.to_dict(self.folder), **methods, **grid, **rest}


def _attackers(names: Any) -> tuple[str, ...] | None:
    if not isinstance(names, list):
        raise PlanError(f"attackers is a list of names; got {names!r}.", hint="Write [nearest, partial].")
    return check_attackers(names)


def _analyses(entries: Any, schema: Schema) -> tuple[Analysis, ...]:
    if not isinstance(entries, list):
        raise PlanError(f"analyses is a list; got {entries!r}.", hint=f"Write - {_AN_ANALYSIS}")
    return check_analyses(map(make_analysis, entries), schema)


_AN_ANALYSIS = "{name: stay, kind: mean, of: days, by: [region]}"


def make_analysis(entry: object) -> Analysis:
    """An analysis from plain values: its name, its kind and its parameters, not yet checked.

    >>> make_analysis({"name": "stay", "kind": "mean", "of": "days", "by": ["region"]}).words()
    'Mean of days by region'
    """
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise PlanError(f"an analysis has a name, a kind and more; got {entry!r}.", hint=f"Write {_AN_ANALYSIS}")
    what, kind = f"analysis {entry['name']!r}", entry.get("kind")
    if not isinstance(kind, str) or kind not in ANALYSES:
        raise PlanError(f"{what}: there is no kind {kind!r}.", hint=did_you_mean(str(kind), ANALYSES))
    given = {key: value for key, value in entry.items() if key != "kind"}
    known = _known_parameters(ANALYSES[kind], given, what)
    return ANALYSES[kind](**{key: _given(value, known[key]) for key, value in given.items()})


def _known_parameters(kind: type, given: Mapping[str, Any], what: str) -> dict[str, Parameter]:
    """What a declared thing takes; an error if something else is given, or if what it needs is not."""
    known = {one.name: one for one in declared(kind)}
    for key in given:
        if key not in known:
            raise PlanError(f"{what} has no parameter {key!r}.", hint=did_you_mean(str(key), known))
    for key, one in known.items():
        if one.required and key not in given:
            raise PlanError(f"{what} needs the parameter {key!r}.", hint=f"Write {key}: …")
    return known


# --------------------------------------------------------------------------------------- methods


def make_method(entry: object) -> Method:
    """A method from plain values: its name and its parameters, checked as far as that needs no table.

    >>> make_method({"name": "microaggregation", "k": 5}).k
    5
    >>> make_method({"name": "microaggregation", "k": "5"})
    Traceback (most recent call last):
    taxomask.errors.PlanError: microaggregation: k must be an integer of at least 2; got '5'.
    Groups of one record protect nobody.
    """
    if isinstance(entry, list):
        return _checked(Pipeline(tuple(make_method(one) for one in entry)))
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise PlanError(
            f"a method has a name and parameters; got {entry!r}.", hint="Write {name: microaggregation, k: 5}."
        )
    name = entry["name"]
    if not isinstance(name, str) or name not in METHODS:
        raise PlanError(f"there is no method {name!r}.", hint=did_you_mean(str(name), METHODS))
    kind = METHODS[name]
    given = {key: value for key, value in entry.items() if key != "name"}
    known = _known_parameters(kind, given, f"method {name!r}")
    return _checked(kind(**{key: _given(value, known[key]) for key, value in given.items()}))


def vary(entry: Mapping[str, Any]) -> Iterator[Method]:
    """The methods of one entry of a grid: every combination of the values under ``vary:``.

    >>> [method.k for method in vary({"name": "microaggregation", "vary": {"k": [3, 5]}})]
    [3, 5]
    """
    fixed = {key: value for key, value in entry.items() if key != "vary"}
    varied = entry.get("vary") or {}
    if not isinstance(varied, Mapping) or not all(isinstance(values, list) and values for values in varied.values()):
        raise PlanError(f"'vary' lists values of parameters; got {varied!r}.", hint="Write vary: {k: [3, 5, 10]}.")
    for values in itertools.product(*varied.values()):
        yield make_method({**fixed, **dict(zip(varied, values, strict=True))})


def _checked(method: Method) -> Method:
    try:
        method.check_parameters()
    except PlanError as error:
        hint = error.hint or f"`taxomask methods {method.name}` tells what each parameter takes."
        raise PlanError(f"{method.name}: {error.message}", hint=hint) from None
    return method


def _given(value: Any, parameter: Parameter) -> Any:
    if _of_methods(parameter) and isinstance(value, Mapping) and "name" in value:
        return make_method(value)
    return tuple(_given(one, parameter) for one in value) if isinstance(value, list) else value


def _of_methods(parameter: Parameter) -> bool:
    """Whether it takes methods: there a mapping with a name is one, and not a column that is called "name"."""
    return any(Method in (one.type, one.inside) for one in parameter.options)


def _grid(entries: Any) -> Iterator[Method]:
    if not isinstance(entries, list):
        raise PlanError(f"compare is a list of methods; got {entries!r}.", hint="Write '- name: …' for each.")
    for entry in entries:
        yield from vary(entry) if isinstance(entry, Mapping) else [make_method(entry)]


# --------------------------------------------------------------------------------------- checks


_OUTSIDE = "If it is meant, say --outside on the command line, or outside=True in Python."


def _check_files(content: Mapping[str, Any], folder: Path, *, outside: bool) -> None:
    """Files that a plan names lie in its folder, and it names no database and no cluster, unless somebody says so."""
    output = content.get("output")
    named = [("data", content.get("data"))]
    named += [(f"output: {key}", output.get(key)) for key in ("path", "report")] if isinstance(output, Mapping) else []
    engine = content.get("engine")
    places = engine if isinstance(engine, Mapping) else {}
    named += [(f"engine: {key}", places.get(key)) for key in ("scratch", "scheduler")]
    named += [("taxonomy", name) for name in _taxonomies(content.get("attributes"))]
    for key, name in named:
        if not isinstance(name, str):
            continue
        if key == "engine: scheduler" or (is_address(name) and key != "taxonomy"):
            if not outside:
                raise PlanError(f"{key}: the plan reaches {shown(name)}, outside its folder.", hint=_OUTSIDE)
            continue
        try:
            inside = _is_inside(folder / name, folder)
        except (ValueError, OSError, RuntimeError):
            raise PlanError(f"{key}: {name!r} is not the name of a file.", hint="Check the path.") from None
        if not inside and not outside:
            raise PlanError(f"{key}: {name!r} is outside the folder of the plan.", hint=f"Move it there. {_OUTSIDE}")


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _taxonomies(entries: object) -> Iterator[str]:
    listed = entries.values() if isinstance(entries, Mapping) else entries if isinstance(entries, list) else ()
    for entry in listed:
        value = entry.get("taxonomy") if isinstance(entry, Mapping) else None
        for one in value if isinstance(value, list) else [value]:
            inner = one.get("taxonomy") if isinstance(one, Mapping) and "taxonomy" in one else one
            name = inner.get("file") if isinstance(inner, Mapping) else inner
            if isinstance(name, str) and (name not in BUILTIN or isinstance(inner, Mapping)):
                yield name


def _plain(error: ValidationError) -> PlanError:
    """An error of pydantic in our words: the first thing that is wrong."""
    first = error.errors()[0]
    where = ": ".join(str(part) for part in first["loc"])
    parts: dict[str, type[BaseModel]] = {"limits": Limits, "output": Output, "engine": EngineChoice}
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 2:
        part, key = map(str, first["loc"])
        return PlanError(f"{key!r} is not a key of '{part}:'.", hint=did_you_mean(key, parts[part].model_fields))
    return PlanError(
        f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}; got {first.get('input')!r}.",
        hint="See docs/plan.md for what each key takes.",
    )


# --------------------------------------------------------------------------------------- for editors


def plan_json_schema() -> dict[str, Any]:
    """The JSON schema of a plan, with which editors complete and check it."""
    methods = [_method_schema(kind) for kind in METHODS.values()]
    one = {"oneOf": [{"$ref": f"#/$defs/{schema['title']}"} for schema in methods]}
    several = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/method"}}
    varied = {"oneOf": [_varied_schema(schema) for schema in methods]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "taxomask plan",
        "type": "object",
        "additionalProperties": False,
        "required": ["attributes"],
        "properties": {
            "data": {"type": "string", "description": "The table: a file, or the address of a database."},
            "attributes": {
                "description": "What each column is.",
                "anyOf": [
                    {"type": "array", "items": _attribute_schema("name")},
                    {"type": "object", "additionalProperties": _attribute_schema()},
                ],
            },
            **_people_schema(),
            "method": {"anyOf": [{"$ref": "#/$defs/method"}, several]},
            "compare": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/method"}, several, varied]}},
            "seed": {"type": "integer", "minimum": 0},
            "practice": {"type": "boolean", "description": "Not for release: a seed that can be guessed is accepted."},
            "purpose": {"type": "string", "description": "What the table is released for: the report begins with it."},
            "recipient": {"type": "string", "description": "To whom it is released: the report begins with it."},
            "attackers": {
                "type": "array",
                "minItems": 1,
                "items": {"enum": list(ATTACKERS)},
                "description": "Those who try to find people in what is released; by default all.",
            },
            "missing_cells": {
                "enum": list(MISSING_CELLS),
                "description": "permute: the missing cells of protected columns are moved to records drawn at random.",
            },
            "limits": Limits.model_json_schema(),
            "analyses": {
                "type": "array",
                "description": "What users compute from the table: it is compared before and after.",
                "items": {"oneOf": [_analysis_schema(kind) for kind in ANALYSES.values()]},
            },
            "accept": _accept_schema(),
            "output": Output.model_json_schema(),
            "engine": {"anyOf": [{"enum": ["memory", "local", "dask"]}, EngineChoice.model_json_schema()]},
        },
        "$defs": {"method": one, **{str(schema["title"]): schema for schema in methods}},
    }


def _people_schema() -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "population_size": {"type": "integer", "minimum": 1},
        "missing_person": {"enum": [*get_args(MissingPerson)]},
    }
    return {key: {**kinds.get(key, {"type": "string"}), "description": about} for key, about in ABOUT_PEOPLE.items()}


def _accept_schema() -> dict[str, Any]:
    columns = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    return {
        "type": "array",
        "description": "What the leak check finds and a person has looked at and accepts.",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["columns", "reason"],
            "properties": {"columns": columns, "reason": {"type": "string", "minLength": 1}},
        },
    }


def _attribute_schema(*required: str) -> dict[str, Any]:
    values, text = {"type": "array"}, {"type": "string"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {
            "name": text,
            "role": {"enum": [str(role) for role in Role]},
            "kind": {"enum": [str(kind) for kind in Kind]},
            "order": values,
            "taxonomy": {
                "type": ["string", "array", "object"],
                "examples": [*BUILTIN, {"from": ["code", "group"]}, {"file": "own.csv", "concept": "code"}],
            },
            "distance": {"enum": list(DISTANCES)},
            "weight": {"type": "number", "exclusiveMinimum": 0},
            "match": {"enum": list(MATCH)},
            "normalize": {"type": "array", "items": text},
            "missing": values,
            "unmapped": {"enum": list(UNMAPPED)},
            "decimals": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST_DECIMALS}, {"const": "exact"}]},
            "note": text,
            "follows": text,
            "notation": {**text, "examples": ["1,234.50", "1.234,5 €", "d.m.Y"]},
            "open_ends": {"type": "object", "additionalProperties": {"type": "number"}},
            "coarsen": {**text, "examples": list(COARSER)},
        },
    }


def _method_schema(kind: type[Method]) -> dict[str, Any]:
    parameters = declared(kind)
    return {
        "title": kind.name,
        "description": kind.about,
        "type": "object",
        "additionalProperties": False,
        "required": ["name", *(one.name for one in parameters if one.required)],
        "properties": {
            "name": {"const": kind.name},
            **{one.name: {**_type_schema(one), "description": one.about} for one in parameters},
        },
    }


def _analysis_schema(kind: type[Analysis]) -> dict[str, Any]:
    words = {one.name: one.about for one in declared(Analysis)}
    parameters = {
        one.name: {**_type_schema(one), "description": one.about or words.get(one.name, "")} for one in declared(kind)
    }
    return {
        "title": kind.kind,
        "description": kind.about,
        "type": "object",
        "additionalProperties": False,
        "required": ["kind", *(one.name for one in declared(kind) if one.required)],
        "properties": {"kind": {"const": kind.kind}, **parameters},
    }


def _varied_schema(method: Mapping[str, Any]) -> dict[str, Any]:
    """A method under compare, with lists of values of some of its parameters."""
    parameters = {name: one for name, one in method["properties"].items() if name != "name"}
    lists = {name: {"type": "array", "minItems": 1, "items": one} for name, one in parameters.items()}
    about = "Lists of values of parameters; every combination is tried."
    vary = {"type": "object", "description": about, "additionalProperties": False, "properties": lists}
    return {**method, "required": ["name", "vary"], "properties": {**method["properties"], "vary": vary}}


def _type_schema(parameter: Parameter) -> dict[str, Any]:
    if not _of_methods(parameter):
        return TypeAdapter(parameter.type).json_schema()
    method, first = {"$ref": "#/$defs/method"}, parameter.options[0]
    return {"type": "array", "minItems": first.least, "items": method} if first.is_list else method
