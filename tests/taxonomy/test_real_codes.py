"""Every code of two real tables is a concept of ICD-9-CM, given the right normalisation."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxomask import Taxonomy
from taxomask.microdata import read_table

CODES = Path(__file__).parents[1] / "data" / "codes" / "codes.csv.gz"


def codes(table: str, kind: str) -> dict[str, int]:
    rows = read_table(CODES, text=True).to_pylist()
    return {row["code"]: int(row["cells"]) for row in rows if (row["table"], row["kind"]) == (table, kind)}


@pytest.mark.parametrize(
    ("table", "kind", "taxonomy", "cells"),
    [
        ("diabetes130", "diagnosis", "icd9cm", 303_496),
        ("nhds2010", "diagnosis", "icd9cm", 1_227_661),
        ("nhds2010", "procedure", "icd9cm_procedures", 222_503),
    ],
)
def test_all_codes_map(table: str, kind: str, taxonomy: str, cells: int) -> None:
    counts = codes(table, kind)
    counts.pop("?", None)
    assert sum(counts.values()) == cells
    normalize = ["zeros:3", "dots"] if table == "diabetes130" else []
    assert (Taxonomy.builtin(taxonomy).lookup(list(counts), normalize=normalize) >= 0).all()


def test_without_normalisation_lost_zeros_and_dots_show() -> None:
    counts = codes("diabetes130", "diagnosis")
    counts.pop("?")
    icd = Taxonomy.builtin("icd9cm")
    unknown = [code for code, p in zip(counts, icd.lookup(list(counts)), strict=True) if p < 0]
    assert {"8", "38", "250.01"} <= set(unknown)
    # by code, dots are right; only the zeros are missing
    unknown = [code for code, p in zip(counts, icd.lookup(list(counts), match="code"), strict=True) if p < 0]
    assert all(code.partition(".")[0].isdigit() and len(code.partition(".")[0]) < 3 for code in unknown)
    assert (icd.lookup(list(counts), match="code", normalize="zeros:3") >= 0).all()
