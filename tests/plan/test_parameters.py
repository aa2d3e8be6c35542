"""What the methods declare about their parameters is what plans, Python and the JSON schema refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from annotated_types import Ge, Gt, Le
from jsonschema import Draft202012Validator

import taxomask as tm
from taxomask._support.parameters import Option, Parameter, declared, options
from taxomask.methods import METHODS, Method
from taxomask.plan import Plan, make_method, plan_json_schema

TABLE = pa.table({"age": [20, 21, 70, 72]})
SCHEMA = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
ATTRIBUTES = [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}]
PARAMETERS = [(kind, one) for kind in METHODS.values() for one in declared(kind)]


def bounds(option: Option) -> Iterator[tuple[Any, Any]]:
    """The values just within and just outside each declared limit."""
    step = (lambda value, to: value + (1 if to > 0 else -1)) if option.type is int else math.nextafter
    for one in option.beside:
        if isinstance(one, Ge):
            yield one.ge, step(one.ge, -math.inf)
        elif isinstance(one, Gt):
            yield step(one.gt, math.inf), one.gt
        elif isinstance(one, Le):
            yield one.le, step(one.le, math.inf)
    if option.is_mapping:
        for inner in options(option.inside):
            yield from (({"age": inside}, {"age": outside}) for inside, outside in bounds(inner))


BOUNDS = [
    pytest.param(kind, one, *pair, id=f"{kind.name}-{one.name}-{pair[1]}")
    for kind, one in PARAMETERS
    for option in one.options
    for pair in bounds(option)
]


def needed(kind: type[Method]) -> dict[str, Any]:
    """Plain values of the parameters that a method needs."""
    inner = {"name": "microaggregation", "k": 3}
    return {
        one.name: one.slider.start if one.slider else [inner] if one.options[0].is_list else inner
        for one in declared(kind)
        if one.required
    }


def plan(kind: type[Method], **given: Any) -> dict[str, Any]:
    return {"attributes": ATTRIBUTES, "method": {"name": kind.name, **needed(kind), **given}}


def refusals(kind: type[Method], name: str, value: Any) -> list[str]:
    """What a plan and what `protect` say to a value."""
    with pytest.raises(tm.PlanError) as read:
        Plan.from_dict(plan(kind, **{name: value}))
    python = {key: make_method(one) if isinstance(one, dict) else one for key, one in needed(kind).items()}
    python = {key: [make_method(step) for step in one] if isinstance(one, list) else one for key, one in python.items()}
    with pytest.raises(tm.PlanError) as protected:
        tm.protect(TABLE, SCHEMA, kind(**{**python, name: value}))
    assert read.value.message == f"{kind.name}: {protected.value.message}"
    assert read.value.hint == (
        protected.value.hint or f"`taxomask methods {kind.name}` tells what each parameter takes."
    )
    return [read.value.message, protected.value.message]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(plan_json_schema())


def test_there_are_limits_to_try() -> None:
    assert len(BOUNDS) > 40
    assert {"k", "p", "t", "l", "amount", "level", "base", "top"} <= {param.values[1].name for param in BOUNDS}


@pytest.mark.parametrize(("kind", "one", "inside", "outside"), BOUNDS)
def test_a_value_just_outside_is_refused_everywhere(
    kind: type[Method], one: Parameter, inside: Any, outside: Any, validator: Draft202012Validator
) -> None:
    one.check(inside)
    assert validator.is_valid(plan(kind, **{one.name: inside}))
    for message in refusals(kind, one.name, outside):
        got = outside["age"] if isinstance(outside, dict) else outside
        assert f"{one.name}{': age' if isinstance(outside, dict) else ''} must be " in message
        assert message.endswith(f"; got {got!r}.")
    assert not validator.is_valid(plan(kind, **{one.name: outside}))


@pytest.mark.parametrize(("kind", "one"), PARAMETERS, ids=[f"{kind.name}-{one.name}" for kind, one in PARAMETERS])
def test_a_value_of_another_type_is_refused_everywhere(
    kind: type[Method], one: Parameter, validator: Draft202012Validator
) -> None:
    """Text is taken by a few choices only: not for a number, yes or no, a method, a mapping or a list of columns."""
    assert not validator.is_valid(plan(kind, **{one.name: "5"}))
    for wrong in ("5", 5j):
        assert f"{one.name} must be {one.takes}; got {wrong!r}." in refusals(kind, one.name, wrong)[1]


@pytest.mark.parametrize(("kind", "one"), [(kind, one) for kind, one in PARAMETERS if one.options[0].origin is Literal])
def test_a_misspelt_choice_names_the_nearest(kind: type[Method], one: Parameter) -> None:
    (choice, *_) = one.options[0].type.__args__
    if isinstance(choice, str):
        with pytest.raises(tm.PlanError, match=f"must be '{choice}'.*; got '{choice}e'.\nDid you mean '{choice}'"):
            Plan.from_dict(plan(kind, **{one.name: f"{choice}e"}))


WRONG = {"name": "microaggregation", "k": 1}
MESSAGE = "microaggregation: k must be an integer of at least 2; got 1.\nGroups of one record protect nobody."


@pytest.mark.parametrize(
    "content",
    [
        {"method": WRONG},
        {"method": [{"name": "rounding", "base": 5}, WRONG]},
        {"method": {"name": "reverse_mapping", "inner": WRONG}},
        {"method": {"name": "pipeline", "methods": [WRONG]}},
        {"method": {"name": "reverse_mapping", "inner": {"name": "reverse_mapping", "inner": WRONG}}},
        {"compare": [{"name": "noise"}, WRONG]},
        {"compare": [[{"name": "noise"}, WRONG]]},
        {"compare": [{"name": "microaggregation", "vary": {"k": [5, 1]}}]},
        {"compare": [{"name": "reverse_mapping", "vary": {"inner": [{"name": "noise"}, WRONG]}}]},
    ],
)
def test_a_wrong_value_is_found_wherever_it_stands(content: dict[str, Any]) -> None:
    with pytest.raises(tm.PlanError) as error:
        Plan.from_dict({"attributes": ATTRIBUTES, **content})
    assert str(error.value) == MESSAGE


def test_a_plan_is_refused_before_there_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        "data: none.csv\nattributes: [{name: age, role: other}]\nmethod: {name: microaggregation, k: '5'}\n"
    )
    with pytest.raises(tm.PlanError) as error:
        tm.run(path)
    assert error.value.message == f"{path}: microaggregation: k must be an integer of at least 2; got '5'."


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ({"name": "rank_swapping"}, "rank_swapping: give either k or p; got k=None and p=None."),
        ({"name": "numerical_swapping", "k": 3, "p": 5}, "give either k or p; got k=3 and p=5."),
        ({"name": "rank_swapping", "k": 3, "block_size": 50}, "algorithm 2 has no blocks."),
        (
            {"name": "microaggregation", "k": 5, "block_size": 19},
            "block_size must be an integer of at least 20; got 19.",
        ),
        ({"name": "micro_hybrid", "k": 5, "block_size": 19}, "block_size must be an integer of at least 20; got 19."),
        ({"name": "top_bottom_coding"}, "top or bottom must be given."),
        ({"name": "imputation", "records": 5}, "records is for synthesis='full' only"),
        ({"name": "imputation", "synthesis": "full", "given": ["age"]}, "synthesises every attribute"),
        ({"name": "recoding"}, "recoding needs a level of the taxonomy, or rules."),
        ({"name": "recoding", "rules": {"job": {"A": "a"}}}, "rules: job: A must be a list of at least one value; got"),
        ({"name": "recoding", "level": 2, "others": {"job": 1}}, "others names 'job', for which there are no rules."),
        ({"name": "recoding", "level": {"a": 2}, "rules": {"a": {"A": ["a"]}}}, "'a' has a level and rules."),
    ],
)
def test_what_depends_on_two_parameters_is_refused_early_too(method: dict[str, Any], message: str) -> None:
    with pytest.raises(tm.PlanError) as error:
        Plan.from_dict({"attributes": ATTRIBUTES, "method": method})
    assert message in error.value.message


def test_values_that_were_computed_are_taken() -> None:
    method = tm.Microaggregation(np.int64(2), t=None, attributes=np.array(["age"]))  # type: ignore[arg-type]
    release = tm.protect(TABLE, SCHEMA, method)
    assert release.data["age"].to_pylist() == [20.5, 20.5, 71.0, 71.0]
    assert release.audit["parameters"]["k"] == 2
    assert type(release.audit["parameters"]["k"]) is int
    assert release.audit["parameters"]["attributes"] == ["age"]
    for other in (
        tm.NumericalSwapping(p=np.float64(25), attributes=["age"]),
        tm.NumericalSwapping(p=25, attributes=("age",)),
        tm.Noise(1, attributes={"age": 1}.keys()),  # type: ignore[arg-type]
    ):
        assert tm.protect(TABLE, SCHEMA, other, seed=1).data.num_rows == 4
