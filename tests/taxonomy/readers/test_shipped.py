"""The taxonomies and the table that come with the package."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import taxomask
from taxomask import examples
from taxomask.errors import DataError, TaxonomyError
from taxomask.taxonomy import builtin
from taxomask.taxonomy.readers import read_listing


@pytest.mark.parametrize("name", builtin.names())
def test_files_are_there_and_reproducible(name):
    content = builtin.path(name).read_bytes()
    assert content[4:8] == b"\0\0\0\0"  # no time stamp
    assert content[3] == 0  # no file name
    with builtin.open_path(name) as path:
        assert path.read_bytes() == content


def test_unknown_names():
    with pytest.raises(TaxonomyError, match=r"built-in taxonomy 'icd9'.\nDid you mean 'icd9cm'?"):
        builtin.path("icd9")
    with pytest.raises(DataError, match=r"example table 'discharge'.\nDid you mean 'discharges'?"):
        examples.path("discharge")


def test_sources_are_stated():
    for package in (builtin, examples):
        text = Path(package.__file__).with_name("PROVENANCE.md").read_text(encoding="utf-8")
        assert "Terms" in text or "terms" in text
        for name in package.names():
            assert f"`{name}.csv.gz`" in text


def test_builtin_nace_and_isco_are_the_originals(data):
    for name, original in (
        ("nace2", "nace_rev2/nace_rev2_tree.csv"),
        ("isco08", "isco08_esco/isco08_tree.csv"),
    ):
        shipped, source = read_listing(builtin.path(name)), read_listing(data / original)
        shipped.origin = source.origin
        assert shipped == source


def test_discharges():
    with gzip.open(examples.path(), "rt", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["id", "age", "sex", "race", "region", "n_beds", "care_days", "dx01", "pc01"]
    assert len(table) == len({row["id"] for row in table}) == 2_000
    diagnoses = set(read_listing(builtin.path("icd9cm")).ids)
    procedures = set(read_listing(builtin.path("icd9cm_procedures")).ids)
    assert {row["dx01"] for row in table} <= diagnoses
    assert {row["pc01"] for row in table} - {""} <= procedures
    assert {row["n_beds"] for row in table} == {"6-99", "100-199", "200-299", "300-499", "500+"}
    assert all(1 <= int(row["age"]) <= 90 and int(row["care_days"]) >= 1 for row in table)


def test_no_table_lies_among_the_taxonomies():
    folder = Path(taxomask.__file__).parent / "taxonomy" / "builtin"
    assert {path.name for path in folder.glob("*.gz")} == {f"{name}.csv.gz" for name in builtin.names()}
