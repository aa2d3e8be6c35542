"""Measures of classes where a person may have several records: a table solved by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.measures.risk import class_sizes, inference, l_diversity, reidentification, t_closeness

# Released ages: a is in both classes; class 30 has a, b (three records), class 40 has a, c, d (four records), 50 has e.
TABLE: dict[str, list[Any]] = {
    "who": ["a", "a", "b", "a", "c", "d", "d", "e", "e"],
    "home": [1, 1, 2, 1, 3, 3, 3, 4, 4],
    "age": [30, 30, 30, 40, 40, 40, 40, 50, 50],
    "pay": [1, 1, 2, 1, 2, 2, 2, 1, 2],
}
ATTRIBUTES = (
    tm.Attribute("who", role="identifier"),
    tm.Attribute("home", role="identifier"),
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    tm.Attribute("pay", role="confidential", kind="nominal"),
)


def data(**people: Any) -> tm.Microdata:
    return tm.Microdata.from_frame(pa.table(TABLE), tm.Schema(ATTRIBUTES, **people))


def test_classes_of_people() -> None:
    rows, people = class_sizes(data(), data()), class_sizes(data(person="who"), data(person="who"))
    assert (rows.k, rows.uniques, rows.sizes, rows.unit, rows.units) == (2, 0, ((2, 1), (3, 1), (4, 1)), "records", 9)
    assert (people.k, people.uniques, people.sizes) == (1, 1, ((1, 1), (2, 1), (3, 1)))
    assert (people.original_k, people.original_uniques) == (1, 1)
    assert (people.unit, people.units, people.records) == ("people", 5, 9)


def test_classes_of_households() -> None:
    both = data(person="who", household="home")
    found = class_sizes(both, both)
    assert (found.k, found.uniques, found.sizes, found.unit, found.units) == (1, 1, ((1, 1), (2, 2)), "households", 4)


def test_the_risk_of_a_person_is_that_of_the_record_that_is_found_most_easily() -> None:
    """a: 1/2 in class 30 and 1/3 in class 40; b 1/2; c and d 1/3; e 1."""
    both = data(person="who")
    found = reidentification(both, both)
    assert found.prosecutor.highest == 1
    assert found.prosecutor.mean.value == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 / 3 + 1) / 5)
    assert found.prosecutor.mean.baseline == pytest.approx(1 / 5)
    assert found.prosecutor.above.value == 1
    assert found.marketer == found.prosecutor.mean


def test_a_register_of_people() -> None:
    """In the register class 30 has four people, class 40 one with two rows, class 50 none."""
    register = tm.Microdata.from_frame(
        pa.table({
            "who": ["p", "q", "r", "s", "t", "t"], "home": [1] * 6,
            "age": [30, 30, 30, 30, 40, 40], "pay": [1] * 6,
        }),
        tm.Schema(ATTRIBUTES, person="who"),
    )  # fmt: skip
    both = data(person="who")
    found = reidentification(both, both, population=register)
    assert found.journalist is not None
    assert found.journalist.mean.value == pytest.approx((1 + 1 / 4 + 1 + 1 + 0) / 5)
    assert found.marketer.value == pytest.approx((1 / 3 + 1 / 4 + 1 / 3 + 1 / 3 + 0) / 5)
    assert found.unmatched == 2


def test_diversity_counts_everybody_once_per_value() -> None:
    """Class 30: a has 1, b has 2; class 40: a has 1, c and d have 2; class 50: e has both."""
    both = data(person="who")
    found = l_diversity(both, both, "pay")
    assert found.l == 2
    thirds = -(1 / 3 * np.log(1 / 3) + 2 / 3 * np.log(2 / 3))
    assert found.entropy_l == pytest.approx(np.exp(thirds))
    assert found.disclosed.value == 0


def test_closeness_of_people() -> None:
    """Everybody's own shares of pay 1: a 1, b 0, c 0, d 0, e 1/2; the classes have 1/2, 1/3 and 1/2, the table 3/10."""
    both = data(person="who")
    found = t_closeness(both, both, "pay")
    assert found.t == pytest.approx(1 / 2 - 3 / 10)
    sizes, distances = [2, 3, 1], [1 / 5, 1 / 3 - 3 / 10, 1 / 5]
    assert found.mean == pytest.approx(np.average(distances, weights=sizes))


def test_a_released_table_has_the_people_of_the_original() -> None:
    released = pa.table({name: TABLE[name] for name in ("age", "pay")})
    schema = tm.Schema(ATTRIBUTES, person="who")
    found = tm.evaluate(pa.table(TABLE), released, schema)
    assert (found.headline["k"], found.headline["uniques"]) == (1, 1)
    order = np.random.default_rng(1).permutation(9)
    mixed = tm.evaluate(pa.table(TABLE), released.take(pa.array(order)), schema, order=order)
    assert (mixed.headline["k"], mixed.headline["uniques"]) == (1, 1)
    assert "unique people" in found.page()
    unlinked = tm.evaluate(pa.table(TABLE), released, schema, linked=False)
    assert (unlinked.headline["k"], unlinked.risk.classes.unit) == (2, "records")


def test_what_is_learnt_of_values_counts_everybody_once() -> None:
    """Guessed from the class: a 2/3, 2/3 and 1/4; b 1/3; c 3/4; d 3/4 twice; e 1/2 twice. Of all, 4/9 have pay 1."""
    both = data(person="who")
    found = inference(both, both, "pay").levels["value"].targets
    assert found.n == 5
    assert found.value == pytest.approx(((2 / 3 + 2 / 3 + 1 / 4) / 3 + 1 / 3 + 3 / 4 + 3 / 4 + 1 / 2) / 5)
    assert found.baseline == pytest.approx((4 / 9 + 3 * 5 / 9 + 1 / 2) / 5)
    rows = inference(data(), data(), "pay").levels["value"].targets
    assert rows.value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 / 4 + 3 * 3 / 4 + 2 / 2) / 9)


def test_a_class_of_one_person_is_no_matter_of_homogeneity() -> None:
    """Class 30 is of a alone, all of class 40 (b and c) have pay 2, class 50 is d alone: two of four people."""
    table = pa.table({
        "who": ["a", "a", "b", "c", "d"], "home": [1, 1, 2, 3, 4], "age": [30, 30, 40, 40, 50], "pay": [1, 1, 2, 2, 1],
    })  # fmt: skip
    people, rows = (
        tm.evaluate(table, table, tm.Schema(ATTRIBUTES, person=who), attackers=["homogeneity"]).attackers.homogeneity
        for who in ("who", None)
    )
    assert (people.share.value, people.share.n) == (2 / 4, 4)
    assert (rows.share.value, rows.share.n) == (4 / 5, 5)


def test_attackers_on_values_find_the_same_where_everybody_has_one_record() -> None:
    rng = np.random.default_rng(3)
    table = pa.table({
        "who": np.arange(60), "home": np.arange(60), "age": rng.integers(20, 30, 60), "pay": rng.integers(0, 30, 60),
    })  # fmt: skip
    money = tm.Attribute("pay", role="confidential", kind="continuous")
    trying = ["inference", "homogeneity", "extremes"]
    people, rows = (
        tm.evaluate(table, table, tm.Schema([*ATTRIBUTES[:3], money], person=who), attackers=trying).attackers
        for who in ("who", None)
    )
    for name in trying:
        assert people[name].share.value == pytest.approx(rows[name].share.value)
        assert people[name].share.baseline == pytest.approx(rows[name].share.baseline)
        assert people[name].share.n == rows[name].share.n
