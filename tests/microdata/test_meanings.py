"""Spellings of a value that differ only in case, outer spaces or Unicode form."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.microdata import CategoricalColumn
from taxomask.microdata.meanings import by_meaning, meaning

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def column(values: list[str | None], **options: object) -> CategoricalColumn:
    schema = tm.Schema([tm.Attribute("x", role="confidential", **{"kind": "nominal", **options})])  # type: ignore[arg-type]
    found = tm.Microdata.from_frame(pa.table({"x": pa.array(values, pa.string())}), schema).columns["x"]
    assert isinstance(found, CategoricalColumn)
    return found


def test_every_letter_meets_all_its_spellings() -> None:
    for place in range(sys.maxunicode + 1):
        letter = chr(place)
        if unicodedata.category(letter) == "Cs":
            continue
        ways = {letter, letter.upper(), letter.lower(), letter.title(), letter.swapcase(), f"\t{letter} "}
        ways |= {unicodedata.normalize(form, letter) for form in FORMS}
        ways |= {way.upper() for way in ways} | {way.lower() for way in ways}
        assert {meaning(way) for way in ways} == {meaning(letter)}


@pytest.mark.parametrize(
    ("one", "other"), [("hiv", "hiv 2"), ("a b", "ab"), ("é", "e"), ("1", "1.5"), ("0", "o"), ("", "?")]
)
def test_other_values_stay_apart(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)


def test_numbers_are_what_they_are_spelled() -> None:
    assert meaning(250) == meaning(250.0) == meaning("250")


def test_a_column_by_meaning() -> None:
    found = by_meaning(column(["hiv", "HIV", "hiv ", None, "flu"]))
    assert isinstance(found, CategoricalColumn)
    assert found.codes.tolist() == [0, 0, 0, -1, 1]
    assert len(found.categories) == 2


def test_a_marker_of_missing_values_has_spellings_too() -> None:
    found = by_meaning(column(["NA", "na ", " ", "hiv"], missing=["", "NA"]))
    np.testing.assert_array_equal(found.missing, [True, True, True, False])


def test_a_scale_keeps_its_order() -> None:
    found = by_meaning(column(["mid", "Low", "high", "low"], kind="ordinal", order=["low", "Low", "mid", "high"]))
    assert isinstance(found, CategoricalColumn)
    assert found.categories == ("low", "mid", "high")
    assert found.codes.tolist() == [1, 0, 2, 0]


def test_codes_of_a_taxonomy_stay_as_they_are() -> None:
    tree = tm.Taxonomy.from_edges([("a", "r"), ("A", "r")])
    concepts = column(["a", "A"], kind="taxonomic", taxonomy=tree)
    assert by_meaning(concepts) is concepts
