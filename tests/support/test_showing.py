"""Every public object shows itself in a short line, and the important ones in a notebook: no data and no seed."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.methods import METHODS

SEED = 734512908761  # nothing else looks like it
CELL = "Zq7-a-cell"
EVIL = "<script>alert(1)</script>"
N = 40


@cache
def made() -> dict[str, Any]:
    """One of each; on a table of many columns with long names and values."""
    names = [f"quite_a_long_column_name_{i}" for i in range(60)]
    columns = {name: [f"{CELL} {i % 4}" for i in range(N)] for name in names}
    ages = [(37 * i + 11) % 83 for i in range(N)]
    table = pa.table({"who": [f"{CELL} {i}" for i in range(N)], "age": ages, EVIL: ["u"] * N, **columns})
    schema = tm.Schema(
        [
            tm.Attribute("who", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute(EVIL, role="other", kind="nominal"),
            *(
                tm.Attribute(name, role="confidential", kind="ordinal", order=[f"{CELL} {i}" for i in range(4)])
                for name in names
            ),
        ]
    )
    method = tm.Microaggregation(5)
    release = tm.protect(table, schema, method, seed=SEED)
    few = tm.Schema(schema[name] for name in ("who", "age", EVIL, names[0]))
    small = table.select(list(few))
    evaluation = tm.evaluate(small, release.data.select(["age", EVIL, names[0]]), few, method)
    taxonomy = tm.Taxonomy.from_edges([(f"{EVIL} {i} {'long ' * 99}", "root") for i in range(20)])
    grid = [method, tm.Noise(0.5), tm.Microaggregation(2, attributes=["age"])]
    compared = tm.compare(small, few, grid, seed=SEED, cache=False)
    plan = tm.Plan.from_dict({"seed": SEED, **schema.to_dict(), "compare": [{"name": "noise"}] * 50})
    return {
        "Attribute": tm.Attribute(names[0], role="other", kind="ordinal", order=[f"{CELL} {i}" for i in range(99)]),
        "Concept": next(iter(taxonomy.values())).children[0],
        "Evaluation": evaluation,
        "Kind": tm.Kind.NOMINAL,
        "Microdata": release.original,
        "Plan": plan,
        "RUMap": compared,
        "RecordDistance": tm.RecordDistance(release.original, ["age", *names]),
        "Release": release,
        "Role": tm.Role.OTHER,
        "Schema": schema,
        "Taxonomy": taxonomy,
        **{type(one).__name__: one for one in (*methods(names), *analyses(names))},
    }


def methods(names: list[str]) -> list[Any]:
    """Every method, with as many parameters as it takes."""
    inner = tm.Imputation(attributes=names, given=["age"], copies=3)
    long: dict[str, dict[str, Any]] = {
        "generalisation": {"k": 5},
        "microaggregation": {"k": 5, "attributes": names, "algorithm": "refined", "t": 0.3, "l": 2},
        "micro_hybrid": {"k": 5, "attributes": names},
        "individual_ranking": {"k": 5, "attributes": names},
        "group_permutation": {"k": 5, "attributes": names, "algorithm": "refined", "steps": 100},
        "suppression": {"k": 5, "importance": names},
        "semantic_noise": {"epsilon": dict.fromkeys(names, 8.0)},
        "recoding": {"level": dict.fromkeys(names, 3)},
        "rounding": {"base": dict.fromkeys(names, 3)},
        "top_bottom_coding": {"top": dict.fromkeys(names, 3)},
        "reverse_mapping": {"inner": tm.Pipeline([inner] * 9)},
        "pipeline": {"methods": [tm.ReverseMapping(inner)] * 9},
        "imputation": {"attributes": names, "given": ["age"] * 99},
    }
    return [kind(**long.get(name, {})) for name, kind in METHODS.items()]


def analyses(names: list[str]) -> list[Any]:
    """Every analysis, with as much as it takes."""
    where = " or ".join(f"{name} = 1" for name in names)
    return [
        tm.Count(EVIL * 9, where, where=where),
        tm.CrossTable("table", names, levels=dict.fromkeys(names, 3)),
        tm.LinearRegression("line", "age", names, dict.fromkeys(names, "a")),
        tm.LogisticRegression("odds", where, names, dict.fromkeys(names, "a")),
        tm.Mean("mean", "age", names, where=where),
        tm.Quantile("median", "age", names, where=where),
    ]


def parts() -> dict[str, Any]:
    """What public objects lead to."""
    found, compared = made()["Evaluation"], made()["RUMap"]
    utility, risk = found.utility, found.risk
    return {
        "utility": utility,
        "risk": risk,
        **{f"utility.{name}": getattr(utility, name) for name in vars(utility)},
        **{f"risk.{name}": getattr(risk, name) for name in ("classes", "reidentification", "linkage", "intervals")},
        "inference": next(iter(risk.inference.values())),
        "point": compared.points[0],
        "choice": compared.best(1.0),
        "column": made()["Microdata"].columns["age"],
    }


CLASSES = [
    name
    for name in tm.__all__
    if isinstance(getattr(tm, name), type) and not issubclass(getattr(tm, name), Exception)  # errors tell all they know
]


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_object_is_one_short_line_without_data_and_seed(name: str) -> None:
    check(made()[name])


def test_so_is_what_it_leads_to() -> None:
    for one in parts().values():
        check(one)


def check(one: Any) -> None:
    for text in (repr(one), str(one) if isinstance(one, tm.Plan) else ""):
        assert len(text) <= 300
        assert "\n" not in text
        assert CELL not in text
        assert str(SEED) not in text
        assert " object at 0x" not in text


def test_a_line_says_what_matters() -> None:
    assert repr(made()["Release"]) == "<Release of 40 records by microaggregation: age protected, 7 of 7 promises hold>"
    assert repr(made()["Evaluation"]).startswith("<Evaluation of 40 records: risk 0.2, attacker nearest, disclosure ")
    assert repr(tm.Microaggregation(5)) == "Microaggregation(k=5)"
    assert repr(tm.Noise()) == "Noise()"
    assert repr(made()["Attribute"]).endswith(": other, ordinal, 99 categories in order>")


VIEWS = ("Schema", "Taxonomy", "Release", "Evaluation", "RUMap")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_for_notebooks_is_complete_and_safe(name: str) -> None:
    text = made()[name]._repr_html_()
    assert text.startswith('<div class="taxomask-view">')
    assert text.count("<div") == text.count("</div>")
    assert "<script" not in text
    assert not re.search(r"\b(src|href)=|url\(|@import", text)  # nothing is fetched
    assert CELL not in text
    assert str(SEED) not in text
    rules = re.findall(r"^([^\n{}]+)\{", re.search("<style>(.*?)</style>", text, re.S)[1], re.M)  # type: ignore[index]
    assert all(one.strip().startswith(".taxomask-view") for rule in rules for one in rule.split(","))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "Schema",
            ["Schema of 63 attributes", "quite_a_long_column_name_59", "4 categories in order", "&lt;script&gt;"],
        ),
        ("Taxonomy", ["21 concepts", "first 12 of 20 branches", "&lt;script&gt;"]),
        ("Release", ["microaggregation", "at least k = 5 records", "holds"]),
        ("Evaluation", ["worst column", "The protected column that lost most.", "interval disclosure"]),
        ("RUMap", ["<svg", "microaggregation(k=5)", "noise(amount=0.5)", "Every loss is over age."]),
    ],
)
def test_a_view_shows_what_one_wants_to_see_first(name: str, words: list[str]) -> None:
    text = made()[name]._repr_html_()
    assert [word for word in words if word not in text] == []
