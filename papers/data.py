"""The data that several pages read, from tests/data."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

import taxomask as tm
from papers.harness import HERE

DATA = HERE.parent / "tests" / "data"
NUMBERS = ("age_years", "care_days")


@cache
def discharges(name: str) -> pa.Table:
    """Age, days of care and diagnosis of the "neoplasm" or "digestive" discharges of NHDS 2010."""
    from taxomask.microdata import read_table

    return read_table(DATA / "nhds2010" / f"{name}.csv.gz", text=["dx01"])


@cache
def discharge_schema(flat: bool = False) -> tm.Schema:
    """All three attributes as quasi-identifiers; the diagnosis with its meaning, or flat as a plain category.

    Numbers are not rounded: the papers measure what a method makes.
    """
    numbers = [tm.Attribute(name, role="quasi_identifier", kind="continuous", decimals="exact") for name in NUMBERS]
    if flat:
        return tm.Schema([*numbers, tm.Attribute("dx01", role="quasi_identifier", kind="nominal")])
    icd = tm.Taxonomy.builtin("icd9cm")
    return tm.Schema([*numbers, tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy=icd)])
