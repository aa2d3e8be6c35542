"""What the page asks for each method, without a browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from taxomask._support.parameters import declared
from taxomask.comparison import default_grid
from taxomask.methods import METHODS
from taxomask.microdata import Attribute, Schema
from taxomask.plan import make_method
from taxomask.taxonomy.distances import DISTANCES
from taxomask.web.forms import methods
from taxomask.web.tasks import list_methods

FORMS = {one["name"]: one for one in json.loads(json.dumps(methods()))}
CONTROLS = {"choice", "switch", "number", "columns", "method", "methods", "none"}


def test_every_parameter_has_a_control_and_words() -> None:
    assert list(FORMS) == list(METHODS)
    for name, form in FORMS.items():
        assert [one["name"] for one in form["parameters"]] == [one.name for one in declared(METHODS[name])]
        for one in form["parameters"]:
            assert one["control"] in CONTROLS, (name, one)
            assert one["help"], (name, one)
            assert one["takes"], (name, one)
            assert (one["control"] == "choice") == bool(one["choices"])


def test_a_form_of_microaggregation() -> None:
    found = {one["name"]: one for one in FORMS["microaggregation"]["parameters"]}
    assert found["k"] == {
        "name": "k", "help": "The smallest size of a group.", "takes": "an integer of at least 2", "control": "number",
        "choices": [], "optional": False, "required": True, "default": None,
        "slider": {"low": 2, "high": 50, "step": 1, "start": 5}, "tries": [3, 5, 10, 20], "main": True,
    }  # fmt: skip
    assert found["algorithm"]["choices"] == ["auto", "mdav", "refined"]
    assert (found["keep_variance"]["control"], found["attributes"]["control"]) == ("switch", "columns")
    assert [name for name, one in found.items() if one["main"]] == ["k", "t", "l"]


@pytest.mark.parametrize("name", METHODS)
def test_sliders_stay_within_what_a_method_takes(name: str) -> None:
    for one in declared(METHODS[name]):
        if one.slider is not None:
            one.check(one.slider.low)
            one.check(one.slider.high)
            assert one.slider.low <= one.slider.low + one.slider.step <= one.slider.high
            start = one.slider.start if one.required or one.default is None else one.default
            assert start is None or one.slider.low <= start <= one.slider.high
            assert start is None or not one.required or one.slider.start is not None


@pytest.mark.parametrize("name", METHODS)
def test_a_method_as_it_first_stands_on_the_page_is_one(name: str) -> None:
    make_method(fresh(name))


def fresh(name: str) -> dict[str, Any]:
    """As in forms.js."""
    method: dict[str, Any] = {"name": name}
    for one in FORMS[name]["parameters"]:
        if one["control"] in ("method", "methods"):
            inner = fresh("microaggregation")
            method[one["name"]] = inner if one["control"] == "method" else [inner, fresh("shuffling")]
        elif one["slider"] and one["slider"]["start"] is not None:
            method[one["name"]] = one["slider"]["start"]
    return method


def test_the_page_knows_the_distances() -> None:
    assert list_methods(lambda *_: None)["distances"] == list(DISTANCES)


def test_the_page_compares_first_what_a_draft_lists() -> None:
    schema = Schema(
        [
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("pay", role="confidential", kind="continuous"),
        ]
    )
    first = list_methods(lambda *_: None)["compared"]
    assert [*first["quasi_identifier"], *first["confidential"]] == default_grid(schema)
