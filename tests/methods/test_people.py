"""People, not rows: what methods promise where a person may have several records."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import Masked
from taxomask.methods.promises import KAnonymity, TCloseness
from taxomask.microdata.frames import Frame
from taxomask.microdata.people import class_owners


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
    assert households.found == "the smallest of 2 classes has 1 household"


def test_closeness_counts_everybody_once() -> None:
    """People: age 30 has pay 1 and 2 by half of a, and 2 by b; that is (1/4, 3/4), at 40 (1/2, 1/2), all (3/8, 5/8)."""
    found = checked(TCloseness(0.125, "pay", ("age",)), person="who")
    assert found.found == "the largest earth mover's distance is 0.1250"
    assert found.promise.endswith("in every class, everybody counted once")
    assert checked(TCloseness(0.125, "pay", ("age",))).found == "the largest earth mover's distance is 0.0000"


def test_sixty_people_with_five_equal_rows_are_never_released_alone() -> None:
    who = np.repeat(np.arange(60), 5)
    table = pa.table({"who": who, "age": 20.0 + who})
    for method in METHODS:
        release = tm.protect(table, AGES, method, seed=2**70)
        assert fewest_people(release.data, ["age"], who) >= 5, method
        assert found(release, "at least k = 5 different people share every combination of age").endswith("people")


AGES = tm.Schema(
    [tm.Attribute("who", role="identifier"), tm.Attribute("age", role="quasi_identifier", kind="continuous")],
    person="who",
)
METHODS = (
    tm.Microaggregation(k=5),
    tm.Microaggregation(k=5, algorithm="refined", steps=2000),
    tm.Microaggregation(k=5, block_size=40),
    tm.Suppression(k=5),
    tm.Generalisation(k=5),
    tm.Generalisation(k=5, suppression=0.0),
)


def found(release: tm.Release, promise: str) -> str:
    """What was found of a promise, which holds."""
    (check,) = (one for one in release.promise if one.promise.startswith(promise))
    assert check.holds
    return check.found


def fewest_people(released: Any, names: list[str], who: Any) -> int:
    """The fewest different people in a class of a released table, counted row by row."""
    classes: dict[Any, set[Any]] = {}
    for row, person in zip(released.select(names).to_pylist(), who, strict=True):
        classes.setdefault(tuple(row.values()), set()).add(person)
    return min(map(len, classes.values()))


MIXED = (
    tm.Attribute("who", role="identifier"),
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    tm.Attribute("pay", role="confidential", kind="continuous"),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, int]:
    """People with any number of rows each, some of them equal, and some rows without a person."""
    k = draw(st.integers(2, 4))
    different = draw(st.integers(k, 12))
    rows = draw(st.lists(st.integers(1, 6), min_size=different, max_size=different))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    who = rng.permutation(np.repeat(np.arange(different), rows))
    own = draw(st.booleans())  # everybody's rows are equal
    seeds = who if own else np.arange(len(who))
    age, sex, dx = rng.integers(20, 60, len(who)), rng.integers(0, 3, len(who)), rng.integers(0, 4, len(who))
    table = pa.table({
        "who": pa.array([None if one == 0 and draw(st.booleans()) else f"p{one}" for one in who.tolist()]),
        "age": age[seeds],
        "sex": [["f", "m", None][one] for one in sex[seeds]],
        "dx": [["25001", "25002", "4019", None][one] for one in dx[seeds]],
        "pay": rng.integers(0, 3, len(who)),
    })  # fmt: skip
    return table, k


@settings(max_examples=12)
@given(case=tables(), every=st.sampled_from(["together", "each"]))
def test_every_class_has_k_people_whatever_number_of_rows_they_have(case: tuple[pa.Table, int], every: Any) -> None:
    table, k = case
    schema = tm.Schema(MIXED, person="who", missing_person=every)
    named = table["who"].to_pylist()
    who = [row if one is None and every == "each" else one for row, one in enumerate(named)]
    for one in METHODS:
        method = dataclasses.replace(one, k=k)
        if len(set(who)) < k:
            with pytest.raises(tm.DataError, match=f"too few for a (group|class) of k = {k}"):
                tm.protect(table, schema, method, seed=1)
            continue
        try:
            release = tm.protect(table, schema, method, seed=1)
        except tm.PromiseError as error:  # nothing had to change, or a column tells another
            broken = str(error)
        else:
            broken = ""
            assert fewest_people(release.data, ["age", "sex", "dx"], who) >= k, method
        assert "different people" not in broken


@settings(max_examples=15)
@given(case=tables())
def test_groups_of_micro_hybrid_have_k_people(case: tuple[pa.Table, int]) -> None:
    table, k = case
    data = tm.Microdata.from_frame(table, tm.Schema(MIXED, person="who"))
    assert data.people is not None
    if len(set(data.people)) < k:
        return
    masked = tm.MicroHybrid(k).mask(data, np.random.default_rng(1))
    assert masked.groups is not None
    assert class_owners(masked.groups.numbers, data.people).min() >= k


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_people_of_one_row_each_change_nothing(method: tm.Method) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"who": rng.permutation(200), "age": rng.integers(20, 60, 200).astype(float)})
    with_people = tm.protect(table, AGES, method, seed=9).data
    assert with_people.equals(tm.protect(table, AGES.of(AGES.values(), person=None), method, seed=9).data)


def test_k_counts_households() -> None:
    rng = np.random.default_rng(4)
    home = rng.integers(0, 40, 200)
    schema = tm.Schema(
        [
            tm.Attribute("home", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        ],
        household="home",
    )
    table = pa.table({"home": home, "age": 20.0 + home + rng.integers(0, 3, 200)})
    for method in METHODS:
        release = tm.protect(table, schema, method, seed=2**70)
        assert fewest_people(release.data, ["age"], home) >= 5
        assert found(release, "at least k = 5 different households").endswith("households")


def test_t_and_l_of_people() -> None:
    rng = np.random.default_rng(6)
    who = rng.integers(0, 60, 200)
    table = pa.table({
        "who": who, "age": rng.integers(20, 60, 200), "sex": rng.choice(["f", "m"], 200), "dx": ["4019"] * 200,
        "pay": rng.integers(0, 9, 200),
    })  # fmt: skip
    release = tm.protect(table, tm.Schema(MIXED, person="who"), tm.Microaggregation(k=4, t=0.3, l=3), seed=5)
    assert fewest_people(release.data, ["age", "sex", "dx"], who) >= 4
    assert found(release, "pay is within t = 0.3 of its distribution in the table in every class, everybody counted")
    assert found(release, "at least l = 3 different values of pay")


def test_what_was_written_is_counted_by_people_too(tmp_path: Path) -> None:
    """The file has neither the people nor the order of the table."""
    who = np.repeat(np.arange(60), 5)
    table = pa.table({"who": who, "age": 20.0 + who})
    release = tm.protect(table, AGES, tm.Microaggregation(k=5))
    written = release.write(tmp_path / "protected.csv").release
    assert found(written, "at least k = 5 different people").endswith("has 5 people")
    classes = set(release.data["age"].to_pylist())
    alone = release.data.set_column(0, "age", pa.array(np.where(who == 7, 1e3, release.data["age"].to_numpy())))
    with pytest.raises(tm.PromiseError, match=f"the smallest of {len(classes) + 1} classes has 1 person"):
        release.verify(alone)


def test_people_alone_by_what_is_released_as_it_is() -> None:
    """Everybody has five rows of one office, and 20 of the 40 offices have one person: no record is alone."""
    who = np.repeat(np.arange(60), 5)
    ages = np.random.default_rng(8).integers(20, 80, 300)
    table = pa.table({"who": who, "age": ages, "office": pa.array([f"o{one % 40}" for one in who])})
    schema = tm.Schema([*AGES.values(), tm.Attribute("office", role="other")], person="who")
    accept = [{"columns": ["office"], "reason": "made up"}]
    release = tm.protect(table, schema, tm.Microaggregation(k=5), accept=accept)
    rows = tm.protect(table, schema.of(schema.values(), person=None), tm.Microaggregation(k=5), accept=accept)
    assert "alone by what is released as it is (1 column): 33.3 % of the people" in found(release, "who stands alone")
    assert "alone by what is released as it is (1 column): 0.0 % of the records" in found(rows, "who stands alone")


def test_a_random_order_says_how_much_of_a_class_one_person_has() -> None:
    """Everybody has five equal rows: of the rows of a class nobody has more than five."""
    who = np.repeat(np.arange(60), 5)
    table = pa.table({"who": who, "age": (37.0 * who) % 101})
    method = tm.ReverseMapping(tm.Microaggregation(k=5))
    release = tm.protect(table, AGES, method, seed=2**70)
    assert "people" in found(release, "probabilistic 5-anonymity")
    (said,) = (one.promise for one in release.promise if one.promise.startswith("probabilistic"))
    groups = release.groups
    assert groups is not None
    share = max(np.bincount(who[groups == one]).max() / (groups == one).sum() for one in set(groups.tolist()))
    assert f"nobody owns more than {np.ceil(1000 * share) / 10:.1f} % of the records of a class" in said
    accept = [{"columns": ["age"], "reason": "groups of five rows are of one person"}]
    rows = tm.protect(table, AGES.of(AGES.values(), person=None), method, seed=2**70, accept=accept)
    assert not any("nobody owns" in one.promise for one in rows.promise)
    twice = pa.concat_tables([table, table.slice(0, 5)])  # who owns more than a fifth of a class
    said = found(tm.protect(twice, AGES, method, seed=2**70), "age in random order among at least k = 5 people; nobody")
    assert "people" in said
