"""The plan: what a table is, how to protect it and what must hold, in one YAML file."""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..errors import PlanError, TaxomaskError, did_you_mean
from ..methods import METHODS, Method, Pipeline
from ..microdata import Kind, Role, Schema
from ..microdata.attribute import BUILTIN, MATCH, MOST_DECIMALS, UNMAPPED
from ..microdata.files import is_address
from ..microdata.yaml_file import read_yaml
from ..release.accept import Accepted, accepted_entries

__all__ = ["EngineChoice", "Limits", "Output", "Plan", "make_method", "plan_json_schema", "vary"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)


class Limits(_Part):
    """What a release must keep to; it is not written otherwise."""

    risk: float | None = Field(
        None, ge=0, le=1, description="The largest acceptable share of records that an intruder links correctly."
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
    limits: Limits = Limits(risk=None, loss=None, worst_loss=None, singled_out=None)
    accept: tuple[Accepted, ...] = ()
    output: Output = Output(path=None, report=None, keep_order=False, escape_cells=True)
    engine: EngineChoice = EngineChoice(name="memory", scheduler=None, workers=None, scratch=None)
    outside: bool = False
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
    def read(cls, path: str | PathLike[str]) -> Plan:
        """Read a plan; files that it names are found from its own folder."""
        path = Path(path)
        content = read_yaml(path)
        try:
            return cls.from_dict(content, folder=path.parent)
        except TaxomaskError as error:
            raise PlanError(f"{path}: {error.message}", hint=error.hint) from None

    @classmethod
    def from_dict(cls, content: Any, folder: str | PathLike[str] = ".") -> Plan:
        """A plan from plain values, as they stand in the YAML file."""
        if not isinstance(content, Mapping):
            raise PlanError("a plan is a mapping of keys.", hint="Write 'attributes:' and 'method:'.")
        keys = tuple(name for name in cls.model_fields if name != "folder")
        for key in content:
            if key not in keys:
                raise PlanError(f"{key!r} is not a key of a plan.", hint=did_you_mean(str(key), keys))
        if not content.get("outside", False):
            _check_inside(content, Path(folder))
        given = {key: value for key, value in content.items() if value is not None}
        given["attributes"] = Schema.from_entries(content.get("attributes"), Path(folder))
        given["accept"] = accepted_entries(given.get("accept", ()), given["attributes"])
        if isinstance(given.get("engine"), str):
            given["engine"] = {"name": given["engine"]}
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

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values, as `from_dict` takes it."""
        rest = self.model_dump(exclude={"attributes", "method", "compare", "accept", "folder"}, exclude_defaults=True)
        rest |= {"accept": [one.to_dict() for one in self.accept]} if self.accept else {}
        methods = {"method": self.method.to_dict()} if self.method is not None else {}
        grid = {"compare": [one.to_dict() for one in self.compare]} if self.compare else {}
        return {**self.attributes.to_dict(self.folder), **methods, **grid, **rest}


# --------------------------------------------------------------------------------------- methods


def make_method(entry: object) -> Method:
    """A method from plain values: its name and its parameters.

    >>> make_method({"name": "microaggregation", "k": 5}).k
    5
    """
    if isinstance(entry, list):
        return Pipeline(tuple(make_method(one) for one in entry))
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise PlanError(
            f"a method has a name and parameters; got {entry!r}.", hint="Write {name: microaggregation, k: 5}."
        )
    name = entry["name"]
    if name not in METHODS:
        raise PlanError(f"there is no method {name!r}.", hint=did_you_mean(str(name), METHODS))
    kind = METHODS[name]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for key in entry:
        if key not in fields and key != "name":
            raise PlanError(f"method {name!r} has no parameter {key!r}.", hint=did_you_mean(str(key), fields))
    hints = typing.get_type_hints(kind)
    values = {key: _parameter(value, hints[key]) for key, value in entry.items() if key != "name"}
    for key, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and key not in values:
            raise PlanError(f"method {name!r} needs the parameter {key!r}.", hint=f"Write {key}: …")
    return kind(**values)


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


def _parameter(value: Any, hint: Any) -> Any:
    of_methods = hint is Method or Method in typing.get_args(hint)  # not a column that is called "name"
    if of_methods and isinstance(value, Mapping) and "name" in value:
        return make_method(value)
    if isinstance(value, list):
        return tuple(_parameter(one, hint) for one in value)
    return value


def _grid(entries: Any) -> Iterator[Method]:
    if not isinstance(entries, list):
        raise PlanError(f"compare is a list of methods; got {entries!r}.", hint="Write '- name: …' for each.")
    for entry in entries:
        yield from vary(entry) if isinstance(entry, Mapping) else [make_method(entry)]


# --------------------------------------------------------------------------------------- checks


def _check_inside(content: Mapping[str, Any], folder: Path) -> None:
    """Files that a plan names lie in its folder, so that a plan from elsewhere cannot reach further."""
    output = content.get("output")
    named = [("data", content.get("data"))]
    named += [(f"output: {key}", output.get(key)) for key in ("path", "report")] if isinstance(output, Mapping) else []
    engine = content.get("engine")
    named += [("engine: scratch", engine.get("scratch"))] if isinstance(engine, Mapping) else []
    named += [("taxonomy", name) for name in _taxonomies(content.get("attributes"))]
    for key, name in named:
        address = isinstance(name, str) and is_address(name) and key != "taxonomy"
        if isinstance(name, str) and not address and not _is_inside(folder / name, folder):
            raise PlanError(
                f"{key}: {name!r} is outside the folder of the plan.",
                hint="Move the file there, or write 'outside: true' if it is meant.",
            )


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _taxonomies(entries: object) -> Iterator[str]:
    listed = entries.values() if isinstance(entries, Mapping) else entries if isinstance(entries, list) else ()
    for entry in listed:
        value = entry.get("taxonomy") if isinstance(entry, Mapping) else None
        for one in value if isinstance(value, list) else [value]:
            name = one.get("taxonomy") if isinstance(one, Mapping) else one
            if isinstance(name, str) and name not in BUILTIN:
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
    several = {"type": "array", "items": {"$ref": "#/$defs/method"}}
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
            "method": {"anyOf": [{"$ref": "#/$defs/method"}, several]},
            "compare": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/method"}, several, varied]}},
            "seed": {"type": "integer", "minimum": 0},
            "limits": Limits.model_json_schema(),
            "accept": _accept_schema(),
            "output": Output.model_json_schema(),
            "engine": {"anyOf": [{"enum": ["memory", "local", "dask"]}, EngineChoice.model_json_schema()]},
            "outside": {"type": "boolean", "description": "Files outside the folder of the plan may be used."},
        },
        "$defs": {"method": one, **{str(schema["title"]): schema for schema in methods}},
    }


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
            "taxonomy": {"type": ["string", "array"], "examples": list(BUILTIN)},
            "distance": text,
            "weight": {"type": "number", "exclusiveMinimum": 0},
            "match": {"enum": list(MATCH)},
            "normalize": {"type": "array", "items": text},
            "missing": values,
            "unmapped": {"enum": list(UNMAPPED)},
            "decimals": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST_DECIMALS}, {"const": "exact"}]},
            "note": text,
            "follows": text,
        },
    }


def _method_schema(kind: type[Method]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    required = [name for name, field in fields.items() if field.default is dataclasses.MISSING]
    return {
        "title": kind.name,
        "description": kind.about,
        "type": "object",
        "additionalProperties": False,
        "required": ["name", *required],
        "properties": {
            "name": {"const": kind.name},
            **{name: _type_schema(hints[name]) for name in fields},
        },
    }


def _varied_schema(method: Mapping[str, Any]) -> dict[str, Any]:
    """A method under compare, with lists of values of some of its parameters."""
    parameters = {name: one for name, one in method["properties"].items() if name != "name"}
    lists = {name: {"type": "array", "minItems": 1, "items": one} for name, one in parameters.items()}
    about = "Lists of values of parameters; every combination is tried."
    vary = {"type": "object", "description": about, "additionalProperties": False, "properties": lists}
    return {**method, "required": ["name", "vary"], "properties": {**method["properties"], "vary": vary}}


def _type_schema(hint: Any) -> dict[str, Any]:
    if hint is Method:
        return {"$ref": "#/$defs/method"}
    if Method in typing.get_args(hint):
        return {"type": "array", "items": {"$ref": "#/$defs/method"}}
    return TypeAdapter(hint).json_schema()
