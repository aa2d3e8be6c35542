"""Drafts for real tables of others: the right columns are protected, and the draft can be carried out."""

from __future__ import annotations

from pathlib import Path

import pytest

import taxomask as tm
from taxomask import examples
from taxomask.microdata import Schema, read_table
from taxomask.plan.draft import draft_schema

DATA = Path(__file__).parents[1] / "data"
TABLES = {
    "discharges": examples.path(),
    "adult": DATA / "adult" / "adult.csv.gz",
    "census": DATA / "casc" / "CASCrefmicrodata.csv",
    "eia": DATA / "casc" / "EIA.csv",
    "tarragona": DATA / "casc" / "Tarragona.csv",
    **{path.name.partition(".")[0]: path for path in sorted((DATA / "drafts").glob("*.csv.gz"))},
}


def drafted(name: str, rows: int = 1000) -> tuple[object, Schema]:
    table = read_table(TABLES[name], text=True).slice(0, rows)
    return table, draft_schema(table)


TWINS = ("census", "free1", "nhds2010")  # taxable for gross income, status for status, diagnoses of newborns


@pytest.mark.parametrize("name", TABLES)
def test_a_draft_can_be_carried_out(name: str) -> None:
    table, schema = drafted(name)
    assert not schema.by_role("other")
    if schema.undecided:
        with pytest.raises(tm.SchemaError, match="undecided"):
            tm.protect(table, schema, tm.Microaggregation(k=5))
    known = schema.quasi_identifiers or schema.confidential
    decided = schema.decide({"*": "other" if known else "quasi_identifier"})  # of francdat nothing is recognised
    method, told = tm.Microaggregation(k=5, attributes=known or None), name in TWINS
    if told:  # what is released as it is tells of what is protected: somebody must look at it
        with pytest.raises(tm.PromiseError, match="found to tell a protected or removed one"):
            tm.protect(table, decided, method)
    as_they_are = [one for one in decided if one not in decided.identifiers and one not in (known or decided)]
    accept = [{"columns": as_they_are, "reason": "looked at, for this test"}] if told else ()
    release = tm.protect(table, decided, method, accept=accept)
    assert release.promise
    assert all(check.holds for check in release.promise)


def test_what_names_people_is_left_out() -> None:
    found = {name: drafted(name)[1].identifiers for name in TABLES}
    assert {name: names for name, names in found.items() if names} == {
        "discharges": ("id",),
        "diabetes130": ("encounter_id", "patient_nbr"),
        "nhds2010": ("id",),
        "testdata": ("ori_hid",),
        "testdata2": ("ori_hid",),
        "uranium_pathology": ("case",),
    }


def test_what_a_person_has_to_decide() -> None:
    found = {name: (drafted(name)[1].undecided, len(drafted(name)[1])) for name in TABLES}
    assert {name: f"{len(undecided)} of {columns}" for name, (undecided, columns) in found.items()} == {
        "discharges": "0 of 9",
        "adult": "0 of 9",
        "census": "11 of 13",  # abbreviations such as PTOTVAL
        "eia": "10 of 15",
        "tarragona": "1 of 13",
        "adult-owl": "2 of 15",
        "diabetes130": "24 of 50",  # 22 of them are named after drugs
        "francdat": "8 of 8",
        "free1": "21 of 34",
        "nhds2010": "1 of 45",
        "testdata": "2 of 15",
        "testdata2": "3 of 19",
        "uranium_pathology": "0 of 2",
    }
    assert found["nhds2010"][0] == ("weighting",)
    assert found["adult-owl"][0] == ("fnlwgt", "prediction")
