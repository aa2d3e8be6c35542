"""People, not rows: what methods promise where a person may have several records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from taxomask.methods import Masked
from taxomask.methods.promises import KAnonymity, TCloseness
from taxomask.microdata.frames import Frame


def described(**people: str) -> tm.Schema:
    return tm.Schema(
        [
            tm.Attribute("who", role="identifier"),
            tm.Attribute("home", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("pay", role="confidential", kind="continuous"),
        ],
        **people,  # type: ignore[arg-type]
    )


TABLE: dict[str, list[Any]] = {
    "who": ["a", "a", "b", "c", "d", "d"],
    "home": [1, 1, 2, 3, 3, 3],
    "age": [30, 30, 30, 40, 40, 40],
    "pay": [1, 2, 2, 1, 2, 2],
}


def checked(promise: Any, **people: str) -> Any:
    data = tm.Microdata.from_frame(pa.table(TABLE), described(**people))
    released = Frame(pa.table({name: TABLE[name] for name in ("age", "pay")}))
    return promise.check(data, released, Masked(data))


def test_classes_count_records_people_or_households() -> None:
    rows, people = checked(KAnonymity(3, ("age",))), checked(KAnonymity(3, ("age",)), person="who")
    assert str(rows) == (
        "holds: at least k = 3 records share every combination of age (the smallest of 2 classes has 3 records)"
    )
    assert str(people) == (
        "DOES NOT HOLD: at least k = 3 different people share every combination of age "
        "(the smallest of 2 classes has 2 people)"
    )
    assert checked(KAnonymity(2, ("age",)), person="who").holds
    households = checked(KAnonymity(2, ("age",)), person="who", household="home")
    assert not households.holds
    assert households.found == "the smallest of 2 classes has 1 households"


def test_closeness_counts_everybody_once() -> None:
    """People: age 30 has pay 1 and 2 by half of a, and 2 by b; that is (1/4, 3/4), at 40 (1/2, 1/2), all (3/8, 5/8)."""
    found = checked(TCloseness(0.125, "pay", ("age",)), person="who")
    assert found.found == "the largest earth mover's distance is 0.1250"
    assert found.promise.endswith("in every class, everybody counted once")
    assert checked(TCloseness(0.125, "pay", ("age",))).found == "the largest earth mover's distance is 0.0000"


def test_sixty_people_with_five_equal_rows_are_never_released_alone() -> None:
    who = np.repeat(np.arange(60), 5)
    schema = tm.Schema(
        [
            tm.Attribute("who", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        ],
        person="who",
    )
    table = pa.table({"who": who, "age": 20.0 + who})
    try:
        release = tm.protect(table, schema, tm.Microaggregation(k=5), seed=2**70)
    except tm.PromiseError:
        return
    ages = release.data["age"].to_numpy()
    assert min(len(set(who[ages == age])) for age in set(ages)) >= 5
