from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import strategies as st

import taxomask as tm
from taxomask import examples
from taxomask.methods import Method
from taxomask.microdata import read_table

TREE = tm.Taxonomy.from_edges(
    [("a", "r"), ("b", "r"), ("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("b11", "b1"), ("b12", "b1")]
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("id", role="identifier"),
        tm.Attribute("number", role="quasi_identifier", kind="continuous"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "high", "top"]),
        tm.Attribute("plain", role="quasi_identifier", kind="nominal"),
        tm.Attribute("concept", role="quasi_identifier", kind="taxonomic", taxonomy=TREE),
        tm.Attribute("rest", role="other"),
    ]
)


@st.composite
def tables(draw: st.DrawFn, *, least: int = 2, most: int = 30, complete: bool = False) -> pa.Table:
    """Small tables of all kinds with many ties."""
    n = draw(st.integers(least, most))

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> pa.Array:
        cell = values if complete else st.one_of(st.none(), values, values, values)
        return pa.array(draw(st.lists(cell, min_size=n, max_size=n)), kind)

    return pa.table(
        {
            "id": pa.array([f"person {i}" for i in range(n)]),
            "number": column(st.integers(-5, 5), pa.int64()),
            "grade": column(st.sampled_from(["low", "mid", "high", "top"]), pa.string()),
            "plain": column(st.sampled_from("xyz"), pa.string()),
            "concept": column(st.sampled_from(sorted(TREE)), pa.string()),
            "rest": column(st.sampled_from(["", "p", "q"]), pa.string()),
        }
    )


def release_of(table: pa.Table, schema: tm.Schema, method: Method, seed: int | None = None) -> tm.Release | None:
    """What `protect` returns; None where it stops because not one cell would change."""
    try:
        return tm.protect(table, schema, method, seed=seed)
    except tm.PromiseError as error:
        _, *broken = error.message.splitlines()
        if len(broken) == 1 and "not all cells of the protected columns are as they were (no cell of " in broken[0]:
            return None  # all else holds
        raise


def released(table: pa.Table, schema: tm.Schema, method: Method, seed: int | None = None) -> pa.Table:
    """What a method makes of a table: the table itself where `protect` stops because nothing would change."""
    release = release_of(table, schema, method, seed)
    return table.drop_columns(list(schema.identifiers)) if release is None else release.data


@pytest.fixture(scope="session")
def discharges() -> pa.Table:
    """The shipped example: 2,000 real discharges, codes as text."""
    table = read_table(examples.path())
    for name in ("dx01", "pc01"):
        place = table.column_names.index(name)
        table = table.set_column(place, name, read_table(examples.path(), [name], text=True)[name])
    return table


@pytest.fixture(scope="session")
def discharge_schema() -> tm.Schema:
    beds = ["6-99", "100-199", "200-299", "300-499", "500+"]
    return tm.Schema(
        [
            tm.Attribute("id", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
            tm.Attribute("race", role="other"),
            tm.Attribute("region", role="quasi_identifier", kind="nominal"),
            tm.Attribute("n_beds", role="quasi_identifier", kind="ordinal", order=beds),
            tm.Attribute("care_days", role="quasi_identifier", kind="continuous"),
            tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
            tm.Attribute("pc01", role="other"),
        ]
    )
