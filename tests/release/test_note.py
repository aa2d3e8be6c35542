"""The public note: it says what was done, without seed, strength or figures of the original."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.release.note import methodology
from taxomask.release.subject import taxonomy_hash

TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(30)],
        "age": [20 + i % 11 for i in range(30)],
        "pay": [61000 + 7 * (i // 2) for i in range(30)],
        "dx": ["25001", "25002", "4019"] * 10,
        "ward": ["a", "b"] * 15,
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("pay", role="confidential", kind="continuous"),
        tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        tm.Attribute("ward", role="other"),
    ]
)
SEED = 987654321


def note(method: tm.methods.Method) -> str:
    return methodology(tm.protect(TABLE, SCHEMA, method, seed=SEED))


def test_it_names_method_columns_and_promises() -> None:
    text = note(tm.Microaggregation(3))
    assert "The table describes 30 records." in text
    assert tm.Microaggregation.about in text
    assert tm.Microaggregation.reference in text
    assert "Protected columns, in which the method may have left values as they were: age, dx.\n" in text
    assert "Columns released as they were collected: pay, ward.\n" in text
    assert "Columns that identify people were removed (1)." in text
    assert "- at least k = 3 records share every combination of age, dx" in text


@pytest.mark.parametrize(
    "method",
    [
        tm.Microaggregation(3),
        tm.Noise(0.4321),
        tm.RankSwapping(p=43.21),
        tm.Shuffling(),
        tm.Pipeline((tm.Noise(0.4321), tm.Pram(keep=0.4321))),
        tm.ReverseMapping(tm.Noise(0.4321)),
    ],
    ids=str,
)
def test_it_has_no_seed_no_parameter_and_no_value(method: tm.methods.Method) -> None:
    text = note(method)
    assert str(SEED) not in text
    assert "4321" not in text
    assert "43.21" not in text
    assert "person" not in text.replace("the person whom", "")
    assert re.findall(r"[0-9a-f]{32,}", text) == [taxonomy_hash(tm.Taxonomy.builtin("icd9cm"))]  # no hash of values
    assert not set(re.findall(r"\b61\d{3}\b", text)) & {str(pay) for pay in TABLE["pay"].to_pylist()}


def test_every_step_of_a_pipeline_is_named() -> None:
    text = note(tm.Pipeline((tm.Noise(0.1), tm.ReverseMapping(tm.Microaggregation(3)))))
    assert all(one.about in text for one in (tm.Noise, tm.Microaggregation, tm.ReverseMapping))
