"""Evaluations and the risk-utility map: worked by hand and on the shipped example."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

import taxomask as tm
from taxomask.comparison import Point, RUMap, comparison, search_weights, stored
from taxomask.comparison.map import with_front
from taxomask.evaluation.page import page
from taxomask.microdata import microdata
from taxomask.plan import vary
from taxomask.plan.draft import draft_plan
from taxomask.taxonomy.distances.equality import Equality

TABLE = pa.table(
    {
        "name": [f"p{i}" for i in range(12)],
        "age": [20, 21, 22, 40, 41, 42, 60, 61, 62, 80, 81, 82],
        "dx": ["25001"] * 12,
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm"),
    ]
)


def point(label: str, risk: float, loss: float) -> Point:
    return Point(label, tm.Microaggregation(2), risk, loss, {"risk": risk, "loss": loss})


def test_an_evaluation_by_hand() -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Microaggregation(3))
    found = tm.evaluate(TABLE, release.data, SCHEMA)
    assert found.headline["risk"] == pytest.approx(1 / 3)  # the nearest of three is always the middle one
    assert found.headline["loss"] == pytest.approx(8 / 6008)  # of age, the only column that is protected
    assert (found.headline["worst_column"], found.headline["worst_loss"]) == ("age", found.headline["loss"])
    assert (found.headline["k"], found.headline["uniques"]) == (3, 0)
    assert found.headline["score"] == pytest.approx(
        50 * (found.headline["loss"] + (1 / 3 + found.headline["interval_disclosure"]) / 2)
    )


def test_what_is_compared_where_no_methods_are_named() -> None:
    """The same as a draft of a plan lists."""
    found = tm.compare(TABLE, SCHEMA, cache=False)
    tried = {point.method for point in found.points}
    drafted = yaml.safe_load(draft_plan(SCHEMA, "people.csv"))["compare"]
    methods = [method for entry in drafted for method in vary(entry)]
    assert {type(one) for one in methods} == {
        *(tm.Microaggregation, tm.MicroHybrid, tm.GroupPermutation, tm.Generalisation),
        *(tm.RankSwapping, tm.Shuffling),
    }
    assert len(found.points) + len(found.failed) == len(methods)
    assert tried <= set(methods)
    assert tm.Microaggregation(5, algorithm="refined", steps=100_000) in tried
    only = tm.Schema([tm.Attribute("age", role="other")])
    with pytest.raises(tm.PlanError, match="there is no method to compare"):
        tm.compare(TABLE.select(["age"]), only)


def numbers_of_people() -> tuple[pa.Table, tm.Schema]:
    rng = np.random.default_rng(1)
    numbers = {"age": rng.integers(20, 90, 300), **{name: rng.normal(0, 1, 300).round(2) for name in "xyz"}}
    schema = [tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in numbers]
    return pa.table({**numbers, "sex": rng.choice(["f", "m"], 300)}), tm.Schema(
        [*schema, tm.Attribute("sex", role="other", kind="nominal")]
    )


def test_weights_that_keep_more_of_an_analysis_are_searched() -> None:
    table, schema = numbers_of_people()
    ages = tm.Mean("ages", of="age", by=["sex"])
    (point,) = tm.compare(table, schema, [tm.Microaggregation(5)], analyses=[ages], cache=False).points
    found = search_weights(table, schema, point, ages, cache=False, max_risk=0.5)
    assert found.tried == ("age",)
    again = [
        tm.compare(table, schema.replace("age", weight=w), [tm.Microaggregation(5)], analyses=[ages], cache=False)
        for w in (2, 4, 8)
    ]
    best = max(one.points[0].numbers["overlap of ages"] for one in again)
    assert best > found.before == point.numbers["overlap of ages"]
    assert found.point is not None
    assert found.point.numbers["overlap of ages"] == best
    assert found.weights["age"] in (2, 4, 8)
    assert f"with age: {found.weights['age']:g} the overlap of 'ages' is" in str(found)


def test_weights_beyond_the_risk_are_not_taken() -> None:
    table, schema = numbers_of_people()
    ages = tm.Mean("ages", of="age")
    (point,) = tm.compare(table, schema, [tm.Microaggregation(5)], analyses=[ages], cache=False).points
    found = search_weights(table, schema, point, ages, cache=False, max_risk=0.001)
    assert (found.point, found.weights) == (None, {})
    assert "age with 2, 4, 8 times their weights keep no more of 'ages' at this risk" in str(found)
    only = tm.Schema([schema["age"], *(tm.Attribute(name, role="other") for name in ("x", "y", "z", "sex"))])
    assert "none to search" in str(search_weights(table, only, point, ages, cache=False))


def test_rows_in_another_order_are_put_back() -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Noise(0.1), seed=3)
    order = np.random.default_rng(0).permutation(12)
    straight = tm.evaluate(TABLE, release.data, SCHEMA)
    shuffled = tm.evaluate(TABLE, release.data.take(order), SCHEMA, order=order)
    assert straight.to_dict() == shuffled.to_dict()
    with pytest.raises(tm.DataError, match="order is not an order of the 12 rows"):
        tm.evaluate(TABLE, release.data, SCHEMA, order=[0] * 12)


def test_identical_tables_lose_nothing_and_risk_all() -> None:
    found = tm.evaluate(TABLE, TABLE.drop_columns(["name"]), SCHEMA)
    assert (found.headline["loss"], found.headline["risk"]) == (0.0, 1.0)


def test_tables_of_different_length_are_not_taken_for_unlinked_ones() -> None:
    message = r"the original table has 12 records and the protected one 7, .*one by one\.\n.*linked=False"
    with pytest.raises(tm.DataError, match=message):
        tm.evaluate(TABLE, TABLE.drop_columns(["name"]).slice(0, 7), SCHEMA)


def test_unlinked_tables_have_no_risk_by_record() -> None:
    found = tm.evaluate(TABLE, TABLE.drop_columns(["name"]).slice(0, 7), SCHEMA, linked=False)
    assert found.risk.linkage is None
    assert math.isnan(found.headline["risk"])
    assert found.to_dict()["headline"]["risk"] is None


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(tm.SchemaError, match="the protected table has no column 'dx'"):
        tm.evaluate(TABLE, TABLE.select(["age"]), SCHEMA)


def test_survey_weights_and_a_control_sample() -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Microaggregation(3))
    found = tm.evaluate(TABLE, release.data, SCHEMA, weights=[1.0] * 12, control=TABLE.drop_columns(["name"]))
    assert found.risk.individual is not None
    assert found.risk.individual.expected == pytest.approx(4.0)  # everybody is in the sample: 1/3 for each of twelve
    assert found.risk.inference["dx"].levels["value"].control is not None


def test_everything_is_plain_and_complete(tmp_path: Path) -> None:
    release = tm.protect(TABLE, SCHEMA, tm.MicroHybrid(3), seed=1)
    found = tm.evaluate(TABLE, release.data, SCHEMA)
    assert set(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == {
        "headline",
        "utility",
        "risk",
        "attackers",
        "records_at_risk",
        "papers",
    }
    assert found.to_frame().num_rows > 50
    found.to_html(tmp_path / "report.html", release=release)
    page = (tmp_path / "report.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")  # nothing is fetched
    assert page.count("<svg") >= 3


def test_hostile_names_and_values_do_not_run(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    table = pa.table({"age": [1, 2, 3, 4], evil: [evil, "b", "b", evil]})
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute(evil, role="quasi_identifier", kind="nominal"),
        ]
    )
    release = tm.protect(table, schema, tm.Microaggregation(2))
    tm.evaluate(table, release.data, schema).to_html(tmp_path / "a.html", release=release)
    assert evil not in (tmp_path / "a.html").read_text()


def test_the_front_and_the_best() -> None:
    found = RUMap(tuple(with_front([point("a", 0.5, 0.1), point("b", 0.2, 0.3), point("c", 0.4, 0.4)])))
    assert [one.front for one in found.points] == [True, True, False]
    best = found.best(0.4)
    assert best.point.label == "b"
    assert best.reason == (
        "Of the 3 methods 2 have a risk of at most 0.4; of these it has the smallest loss, 0.3, at a risk of 0.2. "
        "The next best is c with a loss of 0.4, 0.1 more."
    )
    with pytest.raises(
        tm.PlanError, match=r"no method has a risk of at most 0\.1; nearest to it is b, with a risk of 0\.2\."
    ):
        found.best(0.1)


METHODS = [tm.Microaggregation(2), tm.Microaggregation(3), tm.Noise(0.5), tm.Microaggregation(13)]


def test_a_grid_with_a_method_that_cannot_run(tmp_path: Path) -> None:
    found = tm.compare(TABLE, SCHEMA, METHODS, cache=tmp_path, workers=2)
    assert [one.label for one in found.points] == [
        "microaggregation(k=2)",
        "microaggregation(k=3)",
        "noise(amount=0.5)",
    ]
    ((label, reason),) = found.failed
    assert label == "microaggregation(k=13)"
    assert "12 records" in reason
    assert found.to_frame().column_names[:5] == ["method", "risk", "attacker", "disclosure", "loss"]
    found.to_html(tmp_path / "map.html", max_risk=0.5)
    page = (tmp_path / "map.html").read_text()
    assert page.count('class="point') == 3
    assert page.count("data-row") >= 3


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that were run."""
    ran: list[str] = []
    protect = comparison.protect_on

    def counted(engine: Any, data: Any, method: Any, **options: Any) -> Any:
        ran.append(str(method))
        return protect(engine, data, method, **options)

    monkeypatch.setattr(comparison, "protect_on", counted)
    return ran


def test_a_second_run_computes_only_what_is_new(tmp_path: Path, ran: list[str]) -> None:
    first = tm.compare(TABLE, SCHEMA, METHODS[:2], cache=tmp_path)
    second = tm.compare(TABLE, SCHEMA, METHODS[:3], cache=tmp_path)
    assert sorted(ran) == ["microaggregation(k=2)", "microaggregation(k=3)", "noise(amount=0.5)"]
    assert first.points[0].numbers == second.points[0].numbers
    tm.compare(TABLE.set_column(1, "age", pa.array(range(12))), SCHEMA, METHODS[:1], cache=tmp_path)
    tm.compare(TABLE, SCHEMA, METHODS[2:3], cache=tmp_path, seed=1)
    tm.compare(TABLE, SCHEMA.replace("age", weight=2.0), METHODS[:1], cache=tmp_path)
    assert len(ran) == 6  # other data, another seed and another schema are something new


def test_other_code_computes_everything_anew(tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(tm.__file__).parent, package, ignore=shutil.ignore_patterns("builtin", "__pycache__"))
    before = stored.fingerprint_of_code(package)
    assert before == stored.fingerprint_of_code(Path(shutil.copytree(package, tmp_path / "copy")))
    with (package / "measures" / "utility" / "sse.py").open("a") as file:
        file.write("# another way to compute it\n")
    after = stored.fingerprint_of_code(package)
    assert before != after
    for code in (before, before, after):
        monkeypatch.setattr(stored, "_CODE", code)
        tm.compare(TABLE, SCHEMA, METHODS[:1], cache=tmp_path / "cache")
    assert len(ran) == 2


@dataclass(frozen=True)
class Own(tm.Microaggregation):
    """A method of somebody else: what it does may change while its name and parameters stay."""


class OwnDistance(Equality):
    name = "own"


@pytest.mark.parametrize(
    ("schema", "method"),
    [
        (SCHEMA, Own(2)),
        (SCHEMA, tm.ReverseMapping(Own(2))),
        (SCHEMA, tm.Pipeline((tm.Microaggregation(2), Own(2)))),
        (SCHEMA.replace("dx", distance=OwnDistance()), tm.Microaggregation(2)),
    ],
)
def test_what_others_wrote_is_computed_each_time(
    tmp_path: Path, ran: list[str], schema: tm.Schema, method: tm.methods.Method
) -> None:
    for _ in range(2):
        tm.compare(TABLE, schema, [method], cache=tmp_path)
    assert len(ran) == 2


def test_common_marginals() -> None:
    found = tm.compare(TABLE, SCHEMA, [tm.Noise(0.5)], common_marginals=True, cache=False)
    assert found.points[0].method == tm.ReverseMapping(tm.Noise(0.5))


def test_unlinked_methods_are_listed_with_the_reason() -> None:
    found = tm.compare(TABLE, SCHEMA, [tm.Imputation(synthesis="full")], cache=False)
    assert not found.points
    assert "not linked" in found.failed[0][1]


def test_a_report_shows_what_was_compared_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    release = tm.protect(TABLE, SCHEMA, METHODS[0])
    own = release.audit["sha256"]["original"]
    assert not comparison.compared_before(own, SCHEMA, METHODS).points
    made = tm.compare(TABLE, SCHEMA, METHODS[:2])
    found = comparison.compared_before(own, SCHEMA, METHODS)
    assert found.points == made.points
    evaluation = tm.evaluate(TABLE, release.data, SCHEMA)
    evaluation.to_html(tmp_path / "report.html", release=release, compared=found.page(0.5))
    page = (tmp_path / "report.html").read_text()
    assert page.count('class="point') == 2
    assert "Risk and utility of the methods" in page


def rising(told: list[float]) -> bool:
    """Whether a progress rises to 1; rounding may take back the last digit."""
    return told[-1] == 1.0 and all(b >= a - 1e-12 for a, b in pairwise(told)) and told[0] < 0.5


@pytest.mark.parametrize("linked", [True, False])
def test_an_evaluation_tells_how_far_it_is(linked: bool) -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Microaggregation(3))
    told: list[float] = []
    found = tm.evaluate(TABLE, release.data, SCHEMA, linked=linked, progress=told.append)
    assert rising(told)
    assert len(told) > 100  # samples and pairs are told one by one
    assert max(b - a for a, b in pairwise([0.0, *told])) < 0.5
    assert found.to_dict() == tm.evaluate(TABLE, release.data, SCHEMA, linked=linked).to_dict()
    told.clear()
    release.evaluate(progress=told.append)
    assert rising(told)


def test_methods_tell_together_how_far_they_are(tmp_path: Path) -> None:
    methods = [tm.Microaggregation(2), tm.Microaggregation(3), tm.Recoding(level=1)]  # of these the last cannot run
    for _ in range(2):  # the second time from the cache
        told: list[float] = []
        found = tm.compare(TABLE, SCHEMA, methods, cache=tmp_path, workers=2, progress=told.append)
        assert (len(found.points), len(found.failed)) == (2, 1)
        assert told == sorted(told)
        assert told[-1] == pytest.approx(1.0)
        assert len(told) >= 3


def test_what_is_known_so_far_is_told_each_time_that_a_method_is_done(tmp_path: Path) -> None:
    methods = [tm.Microaggregation(2), tm.Recoding(level=1), tm.Microaggregation(3)]  # of these the second cannot run
    for _ in range(2):  # the second time from the cache
        maps: list[RUMap] = []
        found = tm.compare(TABLE, SCHEMA, methods, cache=tmp_path, workers=1, so_far=maps.append)
        assert [len(one.points) + len(one.failed) for one in maps] == [1, 2, 3]
        assert maps[-1] == found
        assert {point.label for one in maps for point in one.points} == {str(methods[0]), str(methods[2])}
        for one in maps:
            assert [point.label for point in one.points] == sorted(point.label for point in one.points)


def test_a_table_that_was_coded_before(tmp_path: Path) -> None:
    coded, methods = tm.Microdata.from_frame(TABLE, SCHEMA), [tm.Microaggregation(2), tm.Noise(0.1)]
    assert tm.compare(coded, SCHEMA, methods, cache=False) == tm.compare(TABLE, SCHEMA, methods, cache=False)
    for method in methods:
        first, second = (tm.protect(one, SCHEMA, method, seed=1) for one in (coded, TABLE))
        assert first.data.equals(second.data)
        assert (first.promise, first.notes) == (second.promise, second.notes)
        assert first.audit["sha256"] == second.audit["sha256"]
        assert first.original is coded
    assert coded.to_frame().equals(TABLE.drop_columns(["name"]))  # as it was
    other = tm.Schema(list(SCHEMA.values()))
    for call in (lambda: tm.protect(coded, other, methods[0]), lambda: tm.compare(coded, other, methods)):
        with pytest.raises(tm.SchemaError, match=r"coded with another schema.\nPass the schema"):
            call()


def test_a_comparison_codes_the_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    coded: list[str] = []
    code = microdata.code
    monkeypatch.setattr(microdata, "code", lambda frame, one: coded.append(one.name) or code(frame, one))
    methods = [tm.Microaggregation(2), tm.Microaggregation(3), tm.Noise(0.1)]
    assert len(tm.compare(TABLE, SCHEMA, methods, cache=False).points) == 3
    assert coded == ["age", "dx"]


def test_a_report_of_many_columns_shows_what_changed() -> None:
    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(20)]
    table = pa.table({name: pa.array(rng.integers(0, 3, 60).astype(str), mask=np.arange(60) < 5) for name in names})
    roles = {"c7": "quasi_identifier", "c9": "quasi_identifier"}
    schema = tm.Schema([tm.Attribute(name, role=roles.get(name, "confidential"), kind="nominal") for name in names])
    release = tm.protect(table, schema, tm.Microaggregation(15))
    values = page(release.evaluate(), release.facts())
    changed = [name for name in names if release.data[name] != table[name]]
    assert [column["name"] for column in values["columns"] if not column["same"]] == changed
    assert set(changed) <= {"c7", "c9"}
    assert set(changed) <= set(values["correlations"]["names"])
    assert (len(values["correlations"]["names"]), values["correlations"]["left_out"]) == (12, 8)
    (moments,) = (one for one in values["sections"] if one["title"] == "Means and variances")
    assert [row["name"] for row in moments["rows"]] == changed
    assert values["done"]["notes"][0].startswith("Cells of 20 columns had no value: c0 (5), c1 (5), ")
    assert len(values["done"]["notes"]) == 1 + len(release.notes) - 20


def test_few_notes_are_told_one_by_one() -> None:
    table = pa.table({"age": [20, 21, 70, 72, None, None]})
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    release = tm.protect(table, schema, tm.Microaggregation(2))
    assert release.to_know() == list(release.notes)
    assert "age: 2 cells had no value." in release.to_know()
