"""The claims of the marginality papers on real discharges: neoplasms of NHDS 2010; age, days of care, diagnosis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import taxomask as tm
from taxomask.measures import squared_error
from taxomask.microdata import read_table

PATH = Path(__file__).parents[1] / "data" / "nhds2010" / "neoplasm.csv.gz"
NUMBERS = [tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("age_years", "care_days")]
SEMANTIC = tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")
FLAT = tm.Attribute("dx01", role="quasi_identifier", kind="nominal")


@pytest.fixture(scope="module")
def neoplasms() -> Any:
    return read_table(PATH).set_column(2, "dx01", read_table(PATH, ["dx01"], text=True)["dx01"])


def error(table: Any, attribute: tm.Attribute, k: int, scale: Any) -> float:
    """The semantic error of the diagnosis, however it was treated."""
    release = tm.protect(table, tm.Schema([*NUMBERS, attribute]), tm.Microaggregation(k, scale=scale))
    diagnosis: Any = tm.Microdata.from_frame(table, tm.Schema([*NUMBERS, SEMANTIC])).columns["dx01"]
    number = {category: i for i, category in enumerate(diagnosis.categories)}
    codes = [number[value] for value in release.data["dx01"].to_pylist()]
    return squared_error(diagnosis, diagnosis.with_codes(codes)).sse


@pytest.mark.parametrize("k", [2, 4, 10, 20])
def test_meaning_beats_equality_at_the_same_scale(neoplasms: Any, k: int) -> None:
    assert error(neoplasms, SEMANTIC, k, "balanced") < 0.8 * error(neoplasms, FLAT, k, "balanced")
    assert error(neoplasms, SEMANTIC, k, "paper") <= error(neoplasms, FLAT, k, "paper")


@pytest.mark.parametrize("k", [2, 10])
def test_the_balanced_scale_lets_the_diagnosis_count(neoplasms: Any, k: int) -> None:
    assert error(neoplasms, SEMANTIC, k, "balanced") < 0.3 * error(neoplasms, SEMANTIC, k, "paper")
