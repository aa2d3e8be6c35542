"""The JSON schema of a plan, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import TypeAdapter

from .._support.parameters import Parameter, declared
from ..measures.analyses import ANALYSES, Analysis
from ..measures.risk import ATTACKERS
from ..methods import METHODS, Method
from ..methods.missing_permutation import MISSING_CELLS
from ..microdata import Kind, Role
from ..microdata.attribute import MATCH, MOST_DECIMALS, UNMAPPED
from ..microdata.coarsening import COARSER
from ..microdata.schema import ABOUT_PEOPLE, MissingPerson
from ..microdata.taxonomy_sources import BUILTIN
from ..taxonomy.distances import DISTANCES
from .entries import of_methods
from .plan import EngineChoice, Limits, Output

__all__ = ["plan_json_schema"]


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
    if not of_methods(parameter):
        return TypeAdapter(parameter.type).json_schema()
    method, first = {"$ref": "#/$defs/method"}, parameter.options[0]
    return {"type": "array", "minItems": first.least, "items": method} if first.is_list else method
