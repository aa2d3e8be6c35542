"""Recoding by rules: every kind of column, what it promises, and what is refused."""

from __future__ import annotations

import datetime
import json
from itertools import chain, combinations
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import _rules
from taxomask.plan import Plan, make_method

from .conftest import SCHEMA, TREE, released, tables

V1, V2 = ["a", "b", "c", "e", "e", "e", "e", "d", "c", "a", "a", "a"], list("rrrrstvvvvut")


def schema(kind: str, **more: Any) -> tm.Schema:
    return tm.Schema([tm.Attribute("v", role="quasi_identifier", kind=kind, **more)])


def recoded(values: list[Any], described: tm.Schema, rules: Any, others: Any = None, kind: Any = None) -> list[Any]:
    method = tm.Recoding(rules={"v": rules}, others=None if others is None else {"v": others})
    found: list[Any] = tm.protect(pa.table({"v": pa.array(values, kind)}), described, method).data["v"].to_pylist()
    return found


def test_the_twelve_records_of_the_paper() -> None:
    """P2 section 4: {a, b, c} → ABC and {r, s, t} → RST force r9 to (ABC, v) and r12 to (ABC, RST)."""
    plain = [tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in ("V1", "V2")]
    rules = {"V1": {"ABC": ["a", "b", "c"]}, "V2": {"RST": ["r", "s", "t"]}}
    release = tm.protect(pa.table({"V1": V1, "V2": V2}), tm.Schema(plain), tm.Recoding(rules=rules))
    rows = [tuple(row.values()) for row in release.data.to_pylist()]
    assert rows == [("ABC", "RST")] * 3 + [("e", "RST")] * 3 + [
        ("e", "v"), ("d", "v"), ("ABC", "v"), ("ABC", "v"), ("ABC", "u"), ("ABC", "RST"),
    ]  # fmt: skip
    assert release.notes[:2] == ("V1: 5 different values became 3.", "V2: 5 different values became 3.")
    assert str(release.promise[-1]) == (
        "holds: every value of V2 for which there is a rule has become RST; all others are as they were (0 differ)"
    )


def test_every_kind_by_hand() -> None:
    nominal, numbers = schema("nominal"), schema("continuous")
    assert recoded(["x", "y", None, "z"], nominal, {"xy": ["x", "y"]}) == ["xy", "xy", None, "z"]
    assert recoded(["x", "y", None, "z"], nominal, {"xy": ["x", "y"]}, "rest") == ["xy", "xy", None, "rest"]
    assert recoded(["x", "y", "z"], nominal, {"y": ["x", "y"]}) == ["y", "y", "z"]
    assert recoded([1, 2, 30], nominal, {12: [1, 2]}) == [12, 12, 30]
    assert recoded([1, 2, 30], nominal, {"12": ["1", 2.0]}) == [12, 12, 30]
    ages = {9: [None, 18], 40: [18, 65], 75: [65, None]}
    assert recoded([3, 17, 18, 64, 65, 99, None], numbers, ages) == [9, 9, 40, 40, 75, 75, None]
    assert recoded([3, 17, 18, 64], numbers, {"9": [0, 18]}) == [9, 9, 18, 64]
    assert recoded([3, 17, 18, 64, None], numbers, {9.5: [0, 18]}, 40) == [9.5, 9.5, 40, 40, None]
    assert recoded(["3", "17", "?"], schema("continuous", missing=["?"]), {9: [0, 18]}) == ["9", "9", "?"]
    scale = schema("ordinal", order=["a", "b", "c", "ABC", "d"])
    assert recoded(["a", "c", "d", None], scale, {"ABC": ["a", "b", "c"]}) == ["ABC", "ABC", "d", None]
    assert recoded(["a", "c", "d", None], scale, {"b": ["a", "b", "c"]}) == ["b", "b", "d", None]
    assert recoded(["a", "c", "d"], scale, {"b": ["a", "b"]}, "c") == ["b", "c", "c"]
    tree = schema("taxonomic", taxonomy=TREE)
    assert recoded(["b11", "b12", "b1", "b2", "a1"], tree, {"b": ["b1", "b2"]}) == ["b", "b", "b", "b", "a1"]
    assert recoded(["b11", "b12", "b", "a1"], tree, {"b": ["b11", "b12"]}, "r") == ["b", "b", "b", "r"]


def test_dates_are_numbers_too() -> None:
    days = [datetime.date(1950, 3, 4), datetime.date(1959, 12, 31), datetime.date(1960, 1, 1), None]
    middle = datetime.date(1955, 1, 1)
    rules = {middle: [datetime.date(1950, 1, 1), "1960-01-01"]}
    assert recoded(days, schema("continuous"), rules) == [middle, middle, days[2], None]
    method = tm.Recoding(rules={"v": rules})
    assert (
        json.dumps(method.parameters()["rules"], default=str) == '{"v": {"1955-01-01": ["1950-01-01", "1960-01-01"]}}'
    )
    assert recoded(days, schema("continuous"), method.to_dict()["rules"]["v"])[0] == middle
    with pytest.raises(tm.PlanError, match="names 20, which is no date or time"):
        recoded(days, schema("continuous"), {30: [20, 40]})


@pytest.mark.parametrize("frame", ["pandas", "categorical", "polars", "enum", "dictionary"])
def test_the_same_kind_of_table_comes_back(frame: str) -> None:
    values = ["x", "y", None, "z"]
    table: Any = {
        "pandas": lambda: pd.DataFrame({"v": values}),
        "categorical": lambda: pd.DataFrame({"v": pd.Categorical(values)}),
        "polars": lambda: pl.DataFrame({"v": values}),
        "enum": lambda: pl.DataFrame({"v": pl.Series(values, dtype=pl.Enum(["x", "y", "z"]))}),
        "dictionary": lambda: pa.table({"v": pa.array(values).dictionary_encode()}),
    }[frame]()
    release = tm.protect(table, schema("nominal"), tm.Recoding(rules={"v": {"xy": ["x", "y"]}}))
    assert type(release.data) is type(table)
    found = release.data["v"].to_pylist() if frame == "dictionary" else list(release.data["v"])
    assert [None if one != one else one for one in found] == ["xy", "xy", None, "z"]
    assert tm.evaluate(table, release.data, schema("nominal")).headline["k"] == 1


# --------------------------------------------------------------------------------------- all generalizations

C = "pqrstu"


def generalizations(c: int) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(C[:c], size) for size in range(2, c + 1)))


@pytest.mark.parametrize(("c", "count"), [(1, 0), (2, 1), (3, 4), (4, 11), (5, 26), (6, 57)])
def test_lemma_4_1(c: int, count: int) -> None:
    """P2 Lemma 4.1: for an attribute with c categories, there are 2^c - c - 1 possible generalizations.

    A generalization replaces a set of more than one category by a new one. Each such set is a rule that recoding
    accepts, and no two make the same table; a set of one category only renames it.
    """
    releases = {tuple(recoded(list(C[:c]), schema("nominal"), {"new": one})) for one in generalizations(c)}
    assert len(releases) == len(generalizations(c)) == count == 2**c - c - 1
    for release in releases:
        assert release.count("new") >= 2


def test_lemma_4_1_on_a_scale() -> None:
    """Where the order is to be kept, only runs of neighbours can be joined: c(c - 1)/2 of the 2^c - c - 1."""
    c, accepted = 5, []
    for one in generalizations(c):
        try:
            accepted.append(recoded(list(C[:c]), schema("ordinal", order=list(C[:c])), {one[0]: one}))
        except tm.PlanError as error:
            assert "not neighbours" in str(error)  # noqa: PT017 - the others must be refused for this
    assert len({tuple(one) for one in accepted}) == len(accepted) == c * (c - 1) // 2


# --------------------------------------------------------------------------------------- what it promises


@given(tables(complete=False), st.sampled_from([None, 0]))
@settings(max_examples=40)
def test_only_what_the_rules_allow_is_released(table: pa.Table, others: Any) -> None:
    there = set(table["plain"].to_pylist()) & {"x", "y"}
    rules: dict[str, Any] = {
        "number": {-3: [-5, 0], 3: [2, None]},
        "grade": {"mid": ["low", "mid"]},
        "concept": {"b": ["b1", "b2"]},
    }
    if there:
        rules["plain"] = {"xy": sorted(there)}
    method = tm.Recoding(rules=rules, others=None if others is None else {"number": others})
    found = released(table, SCHEMA, method)

    def number(value: int) -> int:
        return -3 if -5 <= value < 0 else 3 if value >= 2 else value if others is None else others

    expected = {
        "number": number,
        "grade": lambda value: {"low": "mid"}.get(value, value),
        "plain": lambda value: "xy" if value in there else value,
        "concept": lambda value: "b" if {"b1", "b2"} & set(TREE.ancestors(value)) else value,
    }
    for name, image in expected.items():
        wanted = [None if value is None else image(value) for value in table[name].to_pylist()]
        assert found[name].to_pylist() == wanted


@pytest.mark.parametrize("name", ["number", "grade", "plain", "concept"])
def test_a_value_that_slips_through_stops_the_release(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules: Any = {
        "number": {3: [0, 5]},
        "grade": {"low": ["low", "mid"]},
        "plain": {"xy": ["x", "y"]},
        "concept": {"b": ["b1"]},
    }
    table = pa.table(
        {
            "id": ["p", "q"],
            "number": [1, 7],
            "grade": ["mid", "top"],
            "plain": ["x", "y"],
            "concept": ["b1", "a"],
            "rest": ["", ""],
        }
    )
    kind = {"number": "_Numbers", "concept": "_Concepts"}.get(name, "_Categories")
    monkeypatch.setattr(getattr(_rules, kind), "recoded", lambda self: self._column)
    with pytest.raises(
        tm.PromiseError,
        match=f"every value of {name} for which there is a rule.*{'2' if name == 'plain' else '1'} differ",
    ):
        tm.protect(table, SCHEMA, tm.Recoding(rules={name: rules[name]}))


def test_what_stays_must_be_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rules._Numbers, "recoded", lambda self: self._column.with_values([3.0, 8.0]))
    with pytest.raises(tm.PromiseError, match="1 differ"):
        recoded([1, 7], schema("continuous"), {3: [0, 5]})


def test_numbers_of_32_bits() -> None:
    assert recoded([0.05, 0.7], schema("continuous"), {0.1: [0, 0.1]}, kind=pa.float32()) == pytest.approx([0.1, 0.7])


# --------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("kind", "rules", "others", "message"),
    [
        ("nominal", {"xy": ["x", "y"], "yz": ["y", "z"]}, None, "overlap: 'y' becomes 'xy' and 'yz'"),
        ("nominal", {"xy": ["x", "Y"]}, None, "names 'Y', which is not among the values(?s:.*)one of 'x', 'y', 'z'"),
        ("nominal", {"z": ["x", "y"]}, None, "makes 'z', which is a category already(?s:.*)List 'z' among"),
        ("nominal", {"z": ["x", "y"], "w": ["z"]}, None, "makes 'z', which is a category already"),
        ("nominal", {"xy": ["x", "y"]}, "x", "makes 'x', which is a category already"),
        ("nominal", {"xy": ["x", "y"]}, "xy", "overlap: 'others' becomes 'xy'"),
        ("nominal", {"xy": []}, None, "rules: v: xy must be a list of at least one value; got \\[\\]"),
        ("nominal", {"xy": "x"}, None, "rules: v: xy must be a list of at least one value; got 'x'"),
        ("nominal", {}, None, "rules: v must be a mapping with at least one key"),
        ("nominal", ["x"], None, "rules: v must be a mapping with at least one key"),
        ("ordinal", {"x": ["x", "z"]}, None, "not neighbours: between those of 'x' stands 'y'"),
        ("ordinal", {"xy": ["x", "y"]}, None, "makes 'xy', which has no place in the order"),
        ("ordinal", {"y": ["y"]}, "x", "not neighbours: between those of 'x' stands 'y'"),
        ("ordinal", {"x": ["x", "w"]}, None, "names 'w', which is not among the order"),
        ("taxonomic", {"b": ["b1"], "r": ["b11"]}, None, "overlap: 'b11' becomes 'b' and 'r'"),
        ("taxonomic", {"b": ["b1"], "r": ["b1"]}, None, "overlap: 'b1' becomes 'b' and 'r'"),
        ("taxonomic", {"B": ["b1"]}, None, "names 'B', which is not in taxonomy"),
        ("taxonomic", {"a": ["b1"]}, None, "puts 'a' in place of 'b1', which is not below it"),
        ("taxonomic", {"b": ["b1"]}, "b", "others for 'v' puts 'b' in place of 'a1', which is not below it"),
        ("continuous", {30: [20, 40], 50: [39, 60]}, None, "overlap: 30: \\[20, 40\\] and 50: \\[39, 60\\]"),
        ("continuous", {30: [40, 20]}, None, "holds for no number"),
        ("continuous", {30: [30, 30]}, None, "holds for no number"),
        ("continuous", {30: [20]}, None, "must name the two ends of a range"),
        ("continuous", {30: [40, 60]}, None, "puts a number outside of the range in its place"),
        ("continuous", {"young": [0, 20]}, None, "names 'young', which is no number(?s:.*)stays one"),
        ("continuous", {30: [20, "many"]}, None, "names 'many', which is no number"),
        ("continuous", {30: [20, 40]}, True, "names True, which is no number"),
        ("continuous", {30: [20, float("nan")]}, None, "names nan, which is no number"),
    ],
)  # fmt: skip
def test_bad_rules(kind: str, rules: Any, others: Any, message: str) -> None:
    more: dict[str, Any] = {"ordinal": {"order": ["x", "y", "z"]}, "taxonomic": {"taxonomy": TREE}}.get(kind, {})
    values: list[Any] = {"continuous": [1, 30], "taxonomic": ["b1", "b11", "a1"]}.get(kind, ["x", "y", "z"])
    with pytest.raises(tm.TaxomaskError, match=message):
        recoded(values, schema(kind, **more), rules, others)


def test_bad_parameters() -> None:
    table = pa.table({"v": [1, 2]})
    method: Any
    for method, message in (
        (tm.Recoding(), "recoding needs a level of the taxonomy, or rules"),
        (tm.Recoding(rules={}), "recoding needs a level of the taxonomy, or rules"),
        (tm.Recoding(rules=["v"]), "rules must be a mapping from attributes; got \\['v'\\]"),  # type: ignore[arg-type]
        (tm.Recoding(rules={"w": {"1": [1]}}), "there is no coded column 'w' to protect"),
        (tm.Recoding(rules={"v": {"1": [1]}}, others={"w": 3}), "others names 'w', for which there are no rules"),
        (tm.Recoding(rules={"v": {"12": [1, 2]}}, level=2), "the table has no taxonomic quasi-identifier"),
        (tm.Recoding(rules={"v": {"both": [1, 2]}}), "column 'v' holds int64, in which 'both' cannot be written"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(table, schema("nominal"), method)
    method = tm.Recoding({"v": 2}, rules={"v": {"b": ["b1"]}})
    with pytest.raises(tm.PlanError, match="'v' has a level and rules"):
        tm.protect(pa.table({"v": ["b1"]}), schema("taxonomic", taxonomy=TREE), method)


def test_a_code_below_two_others_must_not_be_in_two_rules() -> None:
    dag = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("x", "a"), ("x", "b"), ("y", "a"), ("z", "b")])
    described = schema("taxonomic", taxonomy=dag)
    assert recoded(["y", "z"], described, {"a": ["a"], "b": ["b"]}) == ["a", "b"]
    with pytest.raises(tm.PlanError, match="overlap: 'x' becomes 'a' and 'b'"):
        recoded(["x", "y", "z"], described, {"a": ["a"], "b": ["b"]})


def test_one_level_for_the_codes_without_rules() -> None:
    two = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="taxonomic", taxonomy=TREE) for name in "vw"])
    table = pa.table({"v": ["b11", "a1"], "w": ["b11", "a1"]})
    release = tm.protect(table, two, tm.Recoding(2, rules={"v": {"b1": ["b11"]}}))
    assert release.data.to_pydict() == {"v": ["b1", "a1"], "w": ["b", "a"]}


# --------------------------------------------------------------------------------------- plans


def test_rules_in_a_plan() -> None:
    """A column may be called "name", and after a way through JSON the keys are text."""
    text = """
        attributes:
          - {name: name, role: quasi_identifier, kind: nominal}
          - {name: age, role: quasi_identifier, kind: continuous}
        method:
          name: recoding
          rules:
            name: {ABC: [a, b, c]}
            age: {9: [null, 18], 40: [18, null]}
          others: {name: Z}
    """
    content = yaml.safe_load(text)
    table = pa.table({"name": ["a", "b", "c", "d"], "age": [3, 17, 18, 99]})
    for one in (content, json.loads(json.dumps(content))):
        plan = Plan.from_dict(one)
        assert plan.method is not None
        release = tm.protect(table, plan.attributes, plan.method)
        assert release.data.to_pydict() == {"name": ["ABC", "ABC", "ABC", "Z"], "age": [9, 9, 40, 40]}
        assert make_method(plan.method.to_dict()) == plan.method
        assert Plan.from_dict(yaml.safe_load(yaml.safe_dump(plan.to_dict()))).method == plan.method
