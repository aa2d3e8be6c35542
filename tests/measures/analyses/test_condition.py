"""Conditions: parsed, with three truths, and never run."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask import Attribute, Microdata, Schema, Taxonomy
from taxomask.engines import Memory
from taxomask.errors import PlanError
from taxomask.measures import Tables
from taxomask.measures.analyses.condition import DEEPEST, parse
from taxomask.measures.analyses.records import sides
from taxomask.measures.analyses.side import Side

TAXONOMY = Taxonomy.from_edges([("heart", "all"), ("lung", "all"), ("valve", "heart"), ("asthma", "lung")])


def side_of(tables: Tables) -> Side:
    """The whole original table."""
    found: list[Side] = sides(tables, Memory())[0].fold(lambda one: [one], list.__add__)
    return found[0]


def side(table: dict[str, Any], **kinds: Attribute) -> Side:
    known = {
        "age": Attribute("age", role="other", kind="continuous"),
        "stage": Attribute("stage", role="other", kind="ordinal", order=("low", "mid", "high")),
        "job": Attribute("job", role="other", kind="nominal"),
        "dx": Attribute("dx", role="other", kind="taxonomic", taxonomy=TAXONOMY),
        "seen": Attribute("seen", role="other", kind="continuous"),
        "days of care": Attribute("days of care", role="other", kind="continuous"),
    }
    data = Microdata.from_frame(pa.table(table), Schema([known[name] for name in table]))
    return side_of(Tables(data, data, {name: (one, one) for name, one in data.columns.items()}))


PEOPLE = side(
    {
        "age": [20, 66, 70, None, 81],
        "stage": ["low", "mid", "high", "low", None],
        "job": ["cook", "nurse", "or", "cook", "it's"],
        "dx": ["valve", "heart", "asthma", "valve", "all"],
        "days of care": [1, 2, 3, 4, 5],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age > 65", [1, 2, 4]),
        ("age>=66 AND age <= 70", [1, 2]),
        ("not age > 65", [0]),  # of the fourth nothing is known
        ("age > 65 or dx under heart", [0, 1, 2, 3, 4]),
        ("age > 65 and dx under heart", [1]),
        ("dx under (asthma, valve)", [0, 2, 3]),
        ("dx not under heart", [2, 4]),
        ("dx = heart", [1]),
        ("dx under all", [0, 1, 2, 3, 4]),
        ("stage < high", [0, 1, 3]),
        ("stage >= mid", [1, 2]),
        ("stage != low", [1, 2]),
        ("job in (cook, nurse)", [0, 1, 3]),
        ("job not in (cook, nurse)", [2, 4]),
        ("job = 'or'", [2]),
        ("job = \"it's\" or job = 'it''s'", [4]),
        ("age is missing", [3]),
        ("age is not missing and stage is missing", [4]),
        ("'days of care' == 3", [2]),
        ("(age > 65 or job = cook) and not (stage = low)", [1, 2]),
        ("age <> 20", [1, 2, 4]),
        ("age in (20, 81)", [0, 4]),
    ],
)
def test_what_is_true(text: str, rows: list[int]) -> None:
    found = parse(text).on(PEOPLE)
    assert np.flatnonzero(found.true & found.known).tolist() == rows
    assert not (found.true & ~found.known).any()


def test_three_truths() -> None:
    """Unknown and false is false, unknown or true is true: what is missing does not matter then."""
    unknown = parse("age > 0").on(PEOPLE)
    assert unknown.known.tolist() == [True, True, True, False, True]
    assert parse("age > 0 and job = nurse").on(PEOPLE).known[3]
    assert parse("age > 0 or job = cook").on(PEOPLE).true[3]
    assert not parse("age > 0 or job = nurse").on(PEOPLE).known[3]


def test_chapters_by_the_end_of_their_name_or_their_label() -> None:
    codes = Attribute("icd", role="other", kind="taxonomic", taxonomy="icd9cm")
    data = Microdata.from_frame(pa.table({"icd": ["4019", "25001", "410", None]}), Schema([codes]))
    icd = side_of(Tables(data, data, {"icd": (data.columns["icd"],) * 2}))
    for text in ("icd under 390-459", "icd under 'CH 390-459'", "icd under 'diseases of the circulatory system'"):
        found = parse(text).on(icd)
        assert (found.true.tolist(), found.known.tolist()) == ([True, False, True, False], [True, True, True, False])
    with pytest.raises(PlanError, match="does not know '999-1000'"):
        parse("icd under 999-1000").on(icd)


def test_dates() -> None:
    import datetime

    table = side({"seen": [datetime.date(2009, 12, 31), datetime.date(2010, 1, 1)]})
    assert parse("seen >= 2010-01-01").on(table).true.tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no column"),
        ("age", "nothing is said about 'age'"),
        ("age >", "there is no value after '>'"),
        ("age > 65 and", "there is no column"),
        ("(age > 65", "not closed"),
        ("job in (cook", "not closed"),
        ("age > 65 65", "was not expected"),
        ("age is 5", "after 'is'"),
        ("age is", "after 'is'"),
        ("age not > 5", "after 'age' comes"),
        ("__import__('os').system('ls')", "after '__import__' comes"),
        ("age > 65; drop", "was not expected"),
        ("age ! 5", "cannot be read"),
        ("age > 'open", "cannot be read"),
        ("(" * 100 + "age > 1" + ")" * 100, f"nested more than {DEEPEST}"),
        ("not " * 200 + "age > 1", f"nested more than {DEEPEST}"),
        ("age > 1" + " or age > 1" * 500, "at most 2,000 characters"),
    ],
)
def test_what_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job = cok", "has no value 'cok'"),
        ("job < nurse", "has no order"),
        ("dx < heart", "has no order"),
        ("dx under hart", "does not know 'hart'"),
        ("job under cook", "has no taxonomy"),
        ("age under 5", "holds numbers"),
        ("age = old", "'old' is none"),
        ("hight > 5", "no column 'hight'"),
        ("stage = top", "has no value 'top'"),
    ],
)
def test_what_means_nothing_here(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        parse(text).on(PEOPLE)


@given(st.text(alphabet="age>65 andor()'\"=!<,notinunder1.", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(PlanError):
        parse(text).on(PEOPLE)
