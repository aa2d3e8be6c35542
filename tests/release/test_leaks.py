"""What a release lets out by another door: every leak that was seen, twins, and who stands alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from release.planted import Case, clean, with_leak

N = 300
RNG = np.random.default_rng(5)
NUMBERS = RNG.choice(90_000, N, replace=False) + 10_000  # of patients
AGES = RNG.integers(18, 95, N)
FIRST = [
    tm.Attribute("patient", role="identifier"),
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
]
METHOD = tm.Microaggregation(3)


def protect(values: Any, ids: Any = None, **options: Any) -> tm.Release:
    """A table of patient numbers and ages, with one more column that is released as it is."""
    ids = NUMBERS if ids is None else ids
    table = pa.table({"patient": pa.array(ids), "age": AGES, "rest": pa.array(values)})
    return tm.protect(table, tm.Schema([*FIRST, tm.Attribute("rest", role="other")]), METHOD, seed=1, **options)


def with_one(values: Any, place: int, value: Any) -> list[Any]:
    changed = [one.item() if isinstance(one, np.generic) else one for one in values]
    changed[place] = value
    return changed


MASKED = [None if place % 10 == 3 else int(one) for place, one in enumerate(NUMBERS)]
LEAKS = {
    "299 of 300": with_one(NUMBERS, 7, 1),
    "one null": with_one(NUMBERS, 7, None),
    "10 % masked": MASKED,
    "whole numbers": NUMBERS.astype(float),
    "+ 0.5": NUMBERS + 0.5,
    "/ 100": NUMBERS / 100,
    "in a text": [f"Patient P-{one} came at {place % 24} o'clock" for place, one in enumerate(NUMBERS)],
    "in a list": [[1, int(one)] for one in NUMBERS],
    "in a structure": [{"ward": "a", "ref": str(one)} for one in NUMBERS],
    "one duplicate": with_one(NUMBERS, 7, int(NUMBERS[8])),
    "with zeros": [f"{one:012}" for one in NUMBERS],
    "deep inside": [{"stays": [{"of": [f"no {one}"]}]} for one in NUMBERS],
}


@pytest.mark.parametrize("values", LEAKS.values(), ids=LEAKS.keys())
@pytest.mark.parametrize("text", [False, True])
def test_an_identifier_in_another_column_stops_the_release(values: Any, text: bool) -> None:
    ids = [f"P-{one}" for one in NUMBERS] if text else NUMBERS
    with pytest.raises(tm.PromiseError, match="no value of an identifier was found in another column") as error:
        protect(values, ids)
    assert "rest" in str(error.value)
    assert "follows: …" in error.value.hint


def test_a_name_in_other_letters_and_another_order() -> None:
    names = [f"Anna{place} Müller-{place * 7}" for place in range(N)]
    with pytest.raises(tm.PromiseError, match="patient stands in rest"):
        protect([f"  {name.upper().replace('-', ' ')}; well" for name in names], names)
    with pytest.raises(tm.PromiseError, match="of the values of patient stand in rest"):
        protect([names[place - 17].lower() for place in range(N)], names)


def test_an_office_number_with_blanks_tells_the_name_that_was_removed() -> None:
    offices = RNG.integers(0, 40, N)
    number = [None if place % 25 == 1 else int(one) + 500 for place, one in enumerate(RNG.permutation(40)[offices])]
    names = [f"Office of {chr(65 + one % 26)}{chr(97 + one // 26)}stadt" for one in offices]
    with pytest.raises(tm.PromiseError, match=r"rest tells patient: of 288 records guessed .* 100\.0 % are right"):
        protect(number, names)


def test_a_number_that_hardly_repeats_tells_nothing() -> None:
    release = protect(RNG.integers(0, 10**7, N))
    (check,) = [one for one in release.promise if "found to tell" in one.promise]
    assert check.holds
    assert "looked at 1 column and 0 pairs for patient, age" in check.found


# --------------------------------------------------------------------------------------- twins

CODES = RNG.integers(0, 60, 1000)
TEXTS = [f"about {one}" for one in RNG.permutation(60)]


def coded(**more: Any) -> tuple[pa.Table, list[tm.Attribute]]:
    table = pa.table({"dx": [f"{one:03}" for one in CODES], "age": RNG.integers(18, 95, 1000), **more})
    first = [
        tm.Attribute("dx", role="quasi_identifier", kind="nominal"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ]
    return table, first


def test_a_description_released_beside_its_protected_code() -> None:
    table, first = coded(text=[TEXTS[one] for one in CODES])
    words = r"text tells dx: of 1,000 records guessed from the others, 100\.0 % are right, and \d\.\d % without"
    with pytest.raises(tm.PromiseError, match=words):
        tm.protect(table, tm.Schema([*first, tm.Attribute("text", role="other")]), tm.Microaggregation(5), seed=1)


def test_a_list_that_holds_the_description() -> None:
    table, first = coded(text=[[TEXTS[one], "x"] for one in CODES])
    with pytest.raises(tm.PromiseError, match="text tells dx"):
        tm.protect(table, tm.Schema([*first, tm.Attribute("text", role="other")]), METHOD, seed=1)


def test_an_office_that_lies_in_one_district() -> None:
    offices = RNG.integers(0, 80, 1000)
    table = pa.table({"district": [f"d{one % 12}" for one in offices], "office": offices})
    schema = tm.Schema(
        [tm.Attribute("district", role="quasi_identifier", kind="nominal"), tm.Attribute("office", role="other")]
    )
    with pytest.raises(tm.PromiseError, match="office tells district"):
        tm.protect(table, schema, tm.Pram(0.3), seed=1)


@pytest.mark.parametrize(
    "twin",
    [
        lambda days: (days / 365.25).astype(int),  # a year
        lambda days: np.round(days / 7, 2),  # weeks
        lambda days: days // 1000 * 1000,
        lambda days: [f"{one // 2000}" for one in days],
    ],
)
def test_a_number_in_another_unit_or_rounded(twin: Any) -> None:
    days = RNG.integers(0, 30_000, 500)
    table = pa.table({"days": days, "twin": twin(days)})
    schema = tm.Schema(
        [tm.Attribute("days", role="quasi_identifier", kind="continuous"), tm.Attribute("twin", role="other")]
    )
    with pytest.raises(tm.PromiseError, match=r"twin (tells|is) days"):
        tm.protect(table, schema, tm.RandomSwapping(), seed=1)


def test_what_the_release_tells_by_itself_is_no_leak() -> None:
    """Ages in tens tell the group of age; swapped ones and averages do not."""
    ages = RNG.integers(18, 95, 500)
    table = pa.table({"age": ages, "weight": RNG.normal(75, 9, 500), "group": [f"{one // 10 * 10}+" for one in ages]})
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("weight", role="quasi_identifier", kind="continuous"),
            tm.Attribute("group", role="other"),
        ]
    )
    tens = {f"{one}": [one, one + 10] for one in range(10, 100, 10)}
    assert tm.protect(table, schema, tm.Recoding(rules={"age": {int(ten) + 5: ends for ten, ends in tens.items()}}))
    for method in (tm.RandomSwapping(), tm.Microaggregation(10)):
        with pytest.raises(tm.PromiseError, match="group tells age"):
            tm.protect(table, schema, method, seed=1)


def test_columns_beside_one_that_the_release_tells_by_itself_are_no_leak() -> None:
    rng = np.random.default_rng(3)
    ages = rng.integers(18, 95, 1_500)
    others = {
        "group": [f"{one // 10}" for one in ages],
        "sex": rng.choice(["m", "f"], 1_500),
        "ward": rng.integers(0, 6, 1_500).astype(str),
        "wait": rng.integers(0, 60, 1_500),
    }
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            *(tm.Attribute(name, role="other") for name in others),
        ]
    )
    tens = {float(one + 5): [one, one + 10] for one in range(10, 100, 10)}
    tm.protect(pa.table({"age": ages, **others}), schema, tm.Recoding(rules={"age": tens}), seed=1)


def test_a_column_that_follows_is_looked_at_too() -> None:
    """A table with the true texts is not the one that was meant."""
    table, first = coded(text=[TEXTS[one] for one in CODES])
    schema = tm.Schema([*first, tm.Attribute("text", role="other", follows="dx")])
    release = tm.protect(table, schema, tm.Microaggregation(5), seed=1)
    assert release.verify(release.data) == release.promise
    with pytest.raises(tm.PromiseError, match=r"text holds what belongs to the released dx \(\d+ cells differ\)"):
        release.verify(release.data.set_column(2, "text", table["text"]))


def test_every_guilty_column_is_named() -> None:
    twins = {f"text{place}": [f"{place} {TEXTS[one]}" for one in CODES] for place in range(12)}
    table, first = coded(**twins)
    with pytest.raises(tm.PromiseError, match=r"text0 tells dx: of .*; and so do text8 of dx, text9 of dx") as error:
        tm.protect(table, tm.Schema([*first, *(tm.Attribute(name, role="other") for name in twins)]), METHOD, seed=1)
    assert all(name in error.value.message for name in twins)


# --------------------------------------------------------------------------------------- accepting


def test_what_is_accepted_is_released_and_said(tmp_path: Path) -> None:
    table, first = coded(text=[TEXTS[one] for one in CODES])
    schema = tm.Schema([*first, tm.Attribute("text", role="other")])
    accept = [{"columns": ["text"], "reason": "texts are\n public"}, {"columns": ["age"], "reason": "never needed"}]
    release = tm.protect(table, schema, tm.Microaggregation(5), seed=2**64, accept=accept)
    (check,) = [one for one in release.promise if "found to tell" in one.promise]
    assert check.holds
    assert check.promise.endswith(", but for what the custodian accepted")
    assert "text tells dx" in check.found
    assert "Accepted: text: texts are public." in check.found
    assert release.notes[-1] == "accept names age, about which nothing was found: the entry is not needed."
    done = release.write(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert json.loads(done.audit.read_text())["accept"][0] == {"columns": ["text"], "reason": "texts are public"}
    assert "- text: texts are public\n" in done.note.read_text()
    assert "never needed" not in done.note.read_text()
    page = (tmp_path / "report.html").read_text()
    assert page.index("text: texts are public") < page.index("What was done")


@pytest.mark.parametrize(
    ("accept", "message"),
    [
        ([{"columns": ["text"]}], "an entry has columns and a reason"),
        ([{"columns": ["text"], "reason": " "}], "text needs a reason"),
        ([{"columns": "text", "reason": "x"}], "columns must be a list of names"),
        ([{"columns": ["txt"], "reason": "x"}], "there is no column 'txt'"),
        ({"columns": ["text"], "reason": "x"}, "accept is a list"),
    ],
)
def test_entries_that_cannot_be(accept: Any, message: str) -> None:
    table, first = coded(text=[TEXTS[one] for one in CODES])
    with pytest.raises(tm.PlanError, match=message):
        tm.protect(table, tm.Schema([*first, tm.Attribute("text", role="other")]), METHOD, accept=accept)


# --------------------------------------------------------------------------------------- plans and engines

PLAN = """\
data: in.parquet
attributes:
  - {name: dx, role: quasi_identifier, kind: nominal}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: text, role: other}
  - {name: ward, role: other}
method: {name: microaggregation, k: 5}
seed: 3
practice: true
"""


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_plan_stops_and_accepts_on_every_engine(tmp_path: Path, engine: str) -> None:
    table, _ = coded(text=[TEXTS[one] for one in CODES], ward=RNG.choice(list("abc"), 1000))
    pq.write_table(table, tmp_path / "in.parquet")
    plan, target = tmp_path / "plan.yaml", str(tmp_path / "out.csv")
    plan.write_text(f"{PLAN}engine: {engine}\n")
    with pytest.raises(tm.PromiseError, match="text tells dx"):
        tm.run(plan, output=target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "plan.yaml"]
    plan.write_text(f"{PLAN}engine: {engine}\naccept: [{{columns: [text], reason: public}}]\n")
    done = tm.run(plan, output=target)
    assert [str(one) for one in done.release.accepted] == ["text: public"]
    expected = tm.protect(table, done.release.original.schema, tm.Microaggregation(5), seed=3,
                          accept=[{"columns": ["text"], "reason": "public"}])  # fmt: skip
    assert done.release.promise[:-1] == expected.promise  # and what the file holds beside its cells


def test_a_limit_on_who_stands_alone(tmp_path: Path) -> None:
    table, _ = coded(text=np.arange(1000) // 5, ward=RNG.choice(list("abc"), 1000))
    pq.write_table(table, tmp_path / "in.parquet")
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"{PLAN}limits: {{singled_out: 0.01}}\n")
    with pytest.raises(
        tm.PromiseError, match=r"at most 0\.01 of the records are alone .*alone by what is released as it is"
    ):
        tm.run(plan, output=str(tmp_path / "out.csv"))
    plan.write_text(f"{PLAN}limits: {{singled_out: 0.9}}\n")
    assert tm.run(plan, output=str(tmp_path / "out.csv")).evaluation is None


def test_who_stands_alone_by_hand() -> None:
    """By a: the 7 once; by a and b: four of six; by all columns as many, as ages are grouped by three."""
    table = pa.table({"age": [20, 21, 22, 70, 71, 72], "a": [1, 1, 2, 2, 2, 7], "b": ["x", "x", "x", "y", "y", None]})
    schema = tm.Schema([FIRST[1], tm.Attribute("a", role="other"), tm.Attribute("b", role="other")])
    (check,) = [one for one in tm.protect(table, schema, METHOD, seed=1).promise if "alone" in one.promise]
    assert check.found == (
        "alone by what is released as it is (2 columns): 33.3 % of the records; by the worst two columns of it, a "
        "and b, 33.3 %, of 1 pair looked at; by that and the protected columns: 33.3 %"
    )


def test_one_column_that_sets_as_many_apart_as_any_pair_is_named_alone() -> None:
    table = pa.table({"age": [20, 21, 22, 70, 71, 72], "zone": ["x"] * 6, "bill": [1, 2, 3, 4, 5, 5], "b": [0, 1] * 3})
    schema = tm.Schema([FIRST[1], *(tm.Attribute(name, role="other") for name in ("zone", "bill", "b"))])
    (check,) = [one for one in tm.protect(table, schema, METHOD, seed=1).promise if "alone" in one.promise]
    assert check.found.startswith(
        "alone by what is released as it is (3 columns): 100.0 % of the records; by the worst two columns of it, "
    )
    table = table.set_column(2, "bill", [[1, 2, 3, 4, 5, 6]])
    (check,) = [one for one in tm.protect(table, schema, METHOD, seed=1).promise if "alone" in one.promise]
    assert "; by one column of it 100.0 % (bill), and by no pair more, of 3 pairs looked at; " in check.found


def test_a_few_of_many_are_not_told_as_none() -> None:
    table = pa.table({"age": [20 + i % 40 for i in range(4_000)], "a": [7, 9, *[1] * 3_998]})
    schema = tm.Schema([FIRST[1], tm.Attribute("a", role="other")])
    (check,) = [one for one in tm.protect(table, schema, METHOD, seed=1).promise if "alone" in one.promise]
    assert ": fewer than 0.1 % of the records; by one column of it fewer than 0.1 % (a)" in check.found


def test_what_was_looked_at_reads_as_a_sentence() -> None:
    rows = range(60)
    names = {"a": [i % 3 for i in rows], "b": [i % 4 for i in rows], "c": [i % 5 for i in rows]}
    table = pa.table({"age": [20 + 7 * i % 40 for i in rows], **names, "pay": [i * 1.5 for i in rows], "tax": [*rows]})
    schema = tm.Schema([FIRST[1], *(tm.Attribute(name, role="other") for name in table.column_names[1:])])
    (check,) = [one for one in tm.protect(table, schema, METHOD, seed=1).promise if "found to tell" in one.promise]
    assert "few values; for numbers also at sums, differences, products" in check.found
    assert ",," not in check.found


# --------------------------------------------------------------------------------------- random tables


def stopped(case: Case) -> str | None:
    """What the leak check says about a table, if it stops it."""
    try:
        tm.protect(case.table, case.schema, case.method, seed=1)
    except tm.PromiseError as error:
        return error.message
    return None


def missed(numbers: range) -> list[tuple[int, str]]:
    found = [(number, with_leak(number)) for number in numbers]
    return [
        (number, case.kind)
        for number, case in found
        if (message := stopped(case)) is None or not all(name in message for name in (*case.guilty, case.of))
    ]


def false_alarms(numbers: range) -> list[tuple[int, str]]:
    found = [(number, stopped(clean(number))) for number in numbers]
    return [(number, message) for number, message in found if message is not None]


def test_planted_leaks_are_found() -> None:
    assert missed(range(32)) == []


def test_clean_tables_pass() -> None:
    assert false_alarms(range(30)) == []


@pytest.mark.slow
def test_many_planted_leaks_are_found() -> None:
    assert len(missed(range(2100))) <= 0.01 * 2100


@pytest.mark.slow
def test_many_clean_tables_pass() -> None:
    assert len(false_alarms(range(2000))) < 0.02 * 2000
