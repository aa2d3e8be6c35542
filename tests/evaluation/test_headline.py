"""Headlines that do not mislead: loss over what was protected, the worst column beside it, every figure in words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.evaluation import HEADLINE
from taxomask.evaluation.page import page
from taxomask.measures.measure import value_at
from taxomask.measures.measured import all_figures
from taxomask.measures.risk import ATTACKERS
from taxomask.methods import METHODS
from taxomask.report import render

THREE = ("a", "b", "c")
BY_HAND = {"a": [0, 2, 10, 12], "b": [0, 0, 4, 8], "u": [1, 2, 3, 4]}  # k = 2 makes the groups 1, 2 and 3, 4
LOSS = {"a": 4 / 104, "b": 8 / 44}


def numbers(names: Any, role: str = "quasi_identifier") -> list[tm.Attribute]:
    return [tm.Attribute(name, role=role, kind="continuous") for name in names]


def by_hand() -> tuple[pa.Table, tm.Schema]:
    return pa.table(BY_HAND), tm.Schema([*numbers("ab"), *numbers("u", "other")])


def wide(untouched: int) -> tuple[pa.Table, tm.Schema]:
    rng = np.random.default_rng(4)
    names = [*THREE, *(f"u{i}" for i in range(untouched))]
    table = pa.table({name: rng.normal(size=200) for name in names})
    return table, tm.Schema([*numbers(THREE), *numbers(names[3:], "other")])


# ----------------------------------------------------------------------------------- loss


def test_columns_that_nobody_touched_do_not_make_a_loss_smaller() -> None:
    found = []
    for untouched in (0, 20):
        table, schema = wide(untouched)
        release = tm.protect(table, schema, tm.Microaggregation(5), seed=1)
        found += [tm.evaluate(table, release.data, schema), release.evaluate()]
    first = found[0].headline["loss"]
    assert 0.05 < first < 0.2
    assert {one.headline["loss"] for one in found} == {first}
    assert {one.utility.overall.overall for one in found if one.utility.overall} == {first}
    assert {one.protected for one in found} == {THREE}


def test_the_loss_and_the_worst_column_by_hand() -> None:
    table, schema = by_hand()
    release = tm.protect(table, schema, tm.Microaggregation(2))
    head = tm.evaluate(table, release.data, schema).headline
    assert head["loss"] == pytest.approx((LOSS["a"] + LOSS["b"]) / 2)
    assert head["worst_column"] == "b"
    assert head["worst_loss"] == pytest.approx(LOSS["b"])
    disclosure = (head["risk"] + head["interval_disclosure"]) / 2
    assert head["score"] == pytest.approx((100 * head["loss"] + 100 * disclosure) / 2)


def test_a_method_says_which_columns_count_even_if_one_of_them_did_not_change() -> None:
    table, schema = by_hand()
    method = tm.Rounding({"a": 8, "b": 1})  # b holds whole numbers
    protected = tm.protect(table, schema, method).data
    without, told = tm.evaluate(table, protected, schema), tm.evaluate(table, protected, schema, method)
    assert (without.protected, told.protected) == (("a",), ("a", "b"))
    assert told.headline["loss"] == without.headline["loss"] / 2 > 0
    assert told.headline["worst_column"] == "a"


def test_without_a_column_that_lost_there_is_no_worst_one() -> None:
    table, schema = by_hand()
    same, unlinked = (tm.evaluate(table, table, schema, linked=linked).headline for linked in (True, False))
    assert (same["loss"], same["worst_column"], same["worst_loss"]) == (0.0, None, 0.0)
    assert unlinked["worst_column"] is None
    assert math.isnan(unlinked["loss"])
    assert math.isnan(unlinked["worst_loss"])


def test_every_method_says_beforehand_what_it_protects() -> None:
    table = pa.table(
        {
            "age": [20, 21, 40, 43, 60, 66, 70, 71],
            "grade": ["low", "mid", "high", "low", "mid", "high", "mid", "low"],
            "dx": ["25001", "25002", "4019", "4011", "25001", "0380", "4019", "0380"],
            "pay": [1.0, 5, 2, 7, 3, 9, 4, 8],
            "rest": list("abababab"),
        }
    )
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "high"]),
            tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
            tm.Attribute("pay", role="confidential", kind="continuous"),
            tm.Attribute("rest", role="other", kind="nominal"),
        ]
    )
    given: dict[str, dict[str, Any]] = {
        "generalisation": {"k": 2},
        "microaggregation": {"k": 2},
        "micro_hybrid": {"k": 2},
        "group_permutation": {"k": 2},
        "individual_ranking": {"k": 2},
        "suppression": {"k": 2},
        "semantic_noise": {"epsilon": {"dx": 1.0}},
        "rank_swapping": {"k": 2},
        "distributional_swapping": {"k": 2, "attributes": ["dx", "grade"]},
        "numerical_swapping": {"k": 2, "attributes": ["age", "pay"]},
        "topological_swapping": {"k": 2, "attributes": ["dx"]},
        "recoding": {"level": 2},
        "rounding": {"base": {"pay": 2}},
        "top_bottom_coding": {"top": {"grade": "mid"}, "bottom": {"age": 30}},
        "reverse_mapping": {"inner": tm.Microaggregation(2), "attributes": ["age"]},
        "pipeline": {"methods": [tm.Rounding(10), tm.Shuffling()]},
    }
    protected = {}
    for name, kind in METHODS.items():
        method = kind(**given.get(name, {}))
        data = tm.Microdata.from_frame(table, schema)
        masked = method.mask(data, np.random.default_rng(1)).data
        protected[name] = masked.changed_from(data)
        assert method.protects(data) == protected[name], name
    assert protected["pipeline"] == ("age", "pay")
    assert protected["reverse_mapping"] == ("age", "grade", "dx")
    assert protected["top_bottom_coding"] == ("age", "grade")


# ----------------------------------------------------------------------------------- comparisons


def test_compared_losses_are_over_what_any_method_that_ran_protects(tmp_path: Path) -> None:
    table, schema = by_hand()
    first, second = tm.Rounding({"a": 8}), tm.Microaggregation(2, attributes=("b",))
    fails = tm.Microaggregation(5, attributes=("u",))
    alone = tm.compare(table, schema, [first], cache=tmp_path)
    assert alone.protected == ("a",)
    both = tm.compare(table, schema, [first, second, fails], cache=tmp_path)
    assert both.protected == ("a", "b")  # not u, whose method could not be run
    assert [one.loss for one in both.points] == [alone.points[0].loss / 2, pytest.approx(LOSS["b"] / 2)]
    assert [one.numbers["worst_column"] for one in both.points] == ["a", "b"]
    again = tm.compare(table, schema, [first], cache=tmp_path)
    assert again.points == alone.points  # what is kept are losses per column, not their mean


def test_figures_of_an_earlier_form_in_the_cache_are_computed_anew(tmp_path: Path) -> None:
    table, schema = by_hand()
    made = tm.compare(table, schema, [tm.Rounding(8)], cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps({"risk": 0.5, "loss": 0.5, "score": 1.0}))
    assert tm.compare(table, schema, [tm.Rounding(8)], cache=tmp_path).points == made.points


def test_long_parameters_are_told_apart_in_the_cache(tmp_path: Path) -> None:
    names = [f"a column with quite a long name, number {i}" for i in range(40)]
    table = pa.table({name: [0, 2, 10, 12 + place] for place, name in enumerate(names)})
    schema = tm.Schema(numbers(names))
    methods = [tm.Rounding(dict.fromkeys(names, 8.0) | {names[20]: base}) for base in (8.0, 3.0)]
    found = [tm.compare(table, schema, [one], cache=tmp_path).points[0].loss for one in methods]
    assert len(list(tmp_path.iterdir())) == 2
    assert found[0] != found[1]


# ----------------------------------------------------------------------------------- words


def evaluated() -> tm.Evaluation:
    table, schema = by_hand()
    release = tm.protect(table, schema, tm.Microaggregation(2))
    return tm.evaluate(table, release.data, schema, analyses=[tm.Mean("mean", "a")])


PAPERS = (
    "Score", "DR", "SSE", "RMSE", "Dist", "EBIL", "IL", "IL1", "IL2", "IL3", "IL4", "IL5", "PIL(Q)", "PIL(m)",
    "PIL(m2)", "PIL(m11)", "PIL(r)", "CTBIL'", "ACTBIL'", "Δ(mean)", "Δ(variance)", "Δ(covariance)", "r_xz",
)  # fmt: skip


def test_a_statistician_finds_the_names_of_the_papers_in_json() -> None:
    values = evaluated().to_dict()
    papers = json.loads(json.dumps(values, allow_nan=False))["papers"]
    assert set(PAPERS) <= set(papers)
    assert papers["IL1"]["value"] == values["utility"]["information"]["values"]["overall"] > 0
    assert papers["IL1"]["here"] == "utility.information.values.overall"
    assert papers["Score"]["value"] == values["headline"]["score"]
    head = values["headline"]
    assert papers["DR"]["value"] == pytest.approx(100 * (head["risk"] + head["interval_disclosure"]) / 2)
    assert set(papers["r_xz"]["value"]) == {"a", "b"}
    assert all(one["meaning"].endswith(".") for one in papers.values())


def test_every_measure_has_its_meaning() -> None:
    found, figures = evaluated(), all_figures()
    assert set(HEADLINE) == set(found.headline)
    for one in (*HEADLINE.values(), *figures.values()):
        assert one.about.endswith(".")
        assert one.about.count(". ") == 0  # one sentence
    named = [one.paper for one in figures.values() if one.paper]
    assert len(set(named)) == len(named)
    assert all(one.knows.endswith(".") for one in ATTACKERS.values())
    empty = [where for where in figures if value_at(found.to_dict(), where) is None]
    assert {where for where in empty if not where.startswith("attackers.")} == {
        where for where in figures if where.startswith(("risk.individual.", "risk.population_uniques."))
    }  # there are no weights
    assert {where.split(".")[1] for where in empty if where.startswith("attackers.")} == {
        "pattern", "informed", "rank_intervals", "membership", "inference", "homogeneity", "extremes",
    }  # nothing is missing or confidential, and nobody said how it was protected  # fmt: skip


def test_a_report_says_what_every_figure_is() -> None:
    found = evaluated()
    values = page(found, None)
    text = render("evaluation.html", compared=None, **values)
    (score,) = (card for card in values["cards"] if card["name"] == "score")
    assert "interval disclosure" in score["about"]
    assert "half of loss and risk" not in text
    assert "loss of b, the worst column" in text
    assert all(card["about"] for card in values["cards"])
    for name in PAPERS:
        if name != "r_xz":  # one figure per column
            assert name.replace("'", "&#39;") in text
    for section in values["sections"]:
        shown = [row for row in section["rows"] if not row["about"]]
        assert section["about"]
        if section["title"] == "Every measure, with its name in the papers":  # what a figure is stands beside its first
            told = {row["cells"][0] for row in section["rows"] if row["about"]}
            assert {row["cells"][0] for row in shown} <= told


def test_charts_say_how_many_categories_there_are_and_what_vanished() -> None:
    before = [f"c{i:02}" for i in range(49)] * 2
    after = [f"c{i % 14:02}" for i in range(49)] * 2
    schema = tm.Schema(
        [
            tm.Attribute("job", role="quasi_identifier", kind="nominal"),
            tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        ]
    )
    codes = ["25001", "4019"] * 49
    tables = (pa.table({"job": before, "dx": codes}), pa.table({"job": after, "dx": ["25001"] * 97 + ["250"]}))
    values = page(tm.evaluate(*tables, schema), None)
    dx, job = (column["words"] for column in values["columns"])  # the worst first
    assert job == (
        "49 categories before, 14 after; 35 vanished, which 70 records had. The chart shows the 12 commonest of 49."
    )
    assert dx.startswith("2 categories before, 2 after; 1 vanished, which 49 records had; 1 are new. The chart shows")
    text = render("evaluation.html", compared=None, **values)
    assert job in text
    assert dx in text


def test_a_map_says_what_its_figures_are(tmp_path: Path) -> None:
    table, schema = by_hand()
    found = tm.compare(
        table, schema, [tm.Microaggregation(2), tm.Rounding(8)], cache=False, analyses=[tm.Mean("mean", "a")]
    )
    found.to_html(tmp_path / "map.html")
    text = (tmp_path / "map.html").read_text()
    assert all(meaning.about in text for meaning in HEADLINE.values())
    assert "protects: a, b." in text
    assert "worst column b, loss 0.1818" in text  # on hovering over a point


# ----------------------------------------------------------------------------------- frames


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_figures_come_in_the_kind_of_table_that_was_given(kind: Any) -> None:
    plain, schema = by_hand()
    table = kind(plain.to_pydict())
    release = tm.protect(table, schema, tm.Microaggregation(2))
    found = tm.evaluate(table, release.data, schema).to_frame()
    compared = tm.compare(table, schema, [tm.Microaggregation(2), tm.Rounding(1)], cache=False).to_frame()
    for frame in (found, compared):
        assert type(frame) is type(table)
    first = found["measure"][0]
    assert (first.as_py() if kind is pa.table else first) == "headline.risk"
    names = compared.column_names if kind is pa.table else list(compared.columns)
    assert names[:5] == ["method", "risk", "attacker", "disclosure", "loss"]
    assert names[-1] == "front"


def test_a_column_with_one_value_finds_nobody() -> None:
    table = pa.table({"age": list(range(20, 32)), "sex": ["f", "m"] * 6, "land": ["x"] * 12, "gap": [None] * 12})
    quasi = [tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in ("sex", "land", "gap")]
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous"), *quasi])
    released = tm.protect(table, schema, tm.RankSwapping(p=20, attributes=["age"]), seed=1)
    assert released.evaluate().headline["unchanged"] == "sex"
