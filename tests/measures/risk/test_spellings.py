"""l, t, homogeneity and inference look at what values mean; k, classes and linkage at how they are written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.risk import class_sizes, inference, l_diversity, t_closeness

SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("disease", role="confidential", kind="nominal"),
    ]
)
WAYS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.lower,
    str.title,
    str.swapcase,
    lambda text: f" {text}\t",
    *(lambda text, form=form: unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")),  # type: ignore[misc]
]


def data(ages: list[int], diseases: list[str | None]) -> tm.Microdata:
    table = pa.table({"age": ages, "disease": pa.array(diseases, pa.string())})
    return tm.Microdata.from_frame(table, SCHEMA)


def test_three_spellings_are_one_value() -> None:
    plain = data([20] * 3 + [70] * 3, ["hiv", "hiv", "hiv", "flu", "hiv", "flu"])
    spelled = data([20] * 3 + [70] * 3, ["hiv", "HIV", "hiv ", "flu", "Hiv", "ＦＬＵ"])
    found = l_diversity(spelled, spelled, "disease")
    assert (found.l, found.disclosed.value) == (1, 0.5)
    assert found == l_diversity(plain, plain, "disease")
    assert t_closeness(spelled, spelled, "disease") == t_closeness(plain, plain, "disease")
    assert inference(spelled, spelled, "disease") == inference(plain, plain, "disease")
    assert inference(plain, spelled, "disease") == inference(plain, plain, "disease")


def test_classes_keep_values_as_they_are_written() -> None:
    table = pa.table({"age": [1, 1, 1], "disease": ["hiv", "HIV", "hiv"]})
    known = SCHEMA.replace("disease", role="quasi_identifier")
    coded = tm.Microdata.from_frame(table, known)
    sizes = class_sizes(coded, coded)
    assert (sizes.k, sizes.uniques) == (1, 1)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.text(max_size=4)), min_size=1, max_size=12),
    st.lists(st.tuples(st.sampled_from(WAYS), st.sampled_from(WAYS)), min_size=12, max_size=12),
)
@settings(max_examples=150)
def test_no_spelling_makes_a_table_more_diverse(
    records: list[tuple[int, str | None]], ways: list[tuple[Callable[[str], str], Callable[[str], str]]]
) -> None:
    ages, diseases = [age for age, _ in records], [disease for _, disease in records]
    spelled = [
        None if disease is None else first(second(disease))
        for disease, (first, second) in zip(diseases, ways, strict=False)
    ]
    before, after = data(ages, diseases), data(ages, spelled)
    assert l_diversity(after, after, "disease").l <= l_diversity(before, before, "disease").l
    assert l_diversity(after, after, "disease") == l_diversity(before, before, "disease")
    assert t_closeness(after, after, "disease").t == pytest.approx(t_closeness(before, before, "disease").t)


def test_how_values_are_numbered_does_not_matter() -> None:
    """ " 2\\t" comes before "0" in the order of categories: the same sums, to the last bit."""
    ages, plain = [0, 0, 0, 1, 1, 2], [None, None, "0", "1", "1", "2"]
    before, after = data(ages, plain), data(ages, [*plain[:-1], " 2\t"])
    assert l_diversity(after, after, "disease") == l_diversity(before, before, "disease")


def test_spellings_do_not_bring_about_a_promise() -> None:
    """Three spellings in every group: without a second disease, l = 2 is refused; with one, groups are merged."""
    table = pa.table({"age": [20, 21, 22, 70, 71, 72], "disease": ["hiv", "HIV", "hiv ", "Hiv", "hiv", "HIV"]})
    with pytest.raises(tm.DataError, match="has only 1 different values, fewer than l = 2"):
        tm.protect(table, SCHEMA, tm.Microaggregation(3, l=2))
    two = table.set_column(1, "disease", pa.array(["hiv", "HIV", "hiv ", "Hiv", "flu", "HIV"]))
    release = tm.protect(two, SCHEMA, tm.Microaggregation(3, l=2))
    assert release.groups is not None
    assert len(np.unique(release.groups)) == 1
    assert "at least l = 2 different values of disease in every class (the least is 2)" in str(release.promise[-1])


def test_the_check_of_a_promise_counts_meanings() -> None:
    from taxomask.methods import Masked
    from taxomask.methods.promises import LDiversity, TCloseness
    from taxomask.microdata.frames import Frame

    table = pa.table({"age": [20, 20, 70, 70], "disease": ["hiv", "HIV ", "flu", "hiv"]})
    coded = tm.Microdata.from_frame(table, SCHEMA)
    check = LDiversity(2, "disease", ("age",)).check(coded, Frame(table), Masked(coded))
    assert (check.holds, check.found) == (False, "the least is 1")
    t = TCloseness(0.3, "disease", ("age",)).check(coded, Frame(table), Masked(coded))
    assert (t.holds, t.found) == (True, "the largest earth mover's distance is 0.2500")
