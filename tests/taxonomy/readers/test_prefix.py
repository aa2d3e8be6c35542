"""Code lists without parents."""

from __future__ import annotations

import csv

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import Source, prefix, read_listing


def without_parents(data, write, name, keep):
    """A file with its column of parents dropped, and the true parents."""
    with (data / name).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if keep(row)]
    path = write("", "codes.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [column for column in rows[0] if column != "parent"], extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    return path, {row["code"]: row["parent"] for row in rows}


def test_isco_parents_follow_from_the_codes(data, write):
    path, true = without_parents(data, write, "isco08_esco/isco08_tree.csv", lambda row: row["parent"])
    listing = read_listing(path)
    assert prefix.recognises(Source(path))
    assert len(listing.ids) == 619
    found = dict(zip(listing.children, listing.parents, strict=True))
    assert found == {code: parent for code, parent in true.items() if parent != "ISCO08"}
    assert found["0110"] == "011"
    assert listing.labels[listing.ids.index("0110")] == "Commissioned armed forces officers"


def test_nace_parents_follow_from_the_codes(data, write):
    path, true = without_parents(data, write, "nace_rev2/nace_rev2_tree.csv", lambda row: row["parent"])
    listing = read_listing(path)
    assert prefix.recognises(Source(path))
    found = dict(zip(listing.children, listing.parents, strict=True))
    # Divisions (two digits) lie below lettered sections, which the codes do not tell.
    assert found == {code: parent for code, parent in true.items() if len(code) > 2}
    assert (len(listing.ids), len(found)) == (996, 272 + 615)
    assert (found["01.11"], found["01.1"]) == ("01.1", "01")


def test_dots_and_spaces_do_not_count(write):
    listing = read_listing(write("code,label\n1,a\n1.2,b\n1 23,c\n124,d\n"))
    assert dict(zip(listing.children, listing.parents, strict=True)) == {
        "1.2": "1",
        "1 23": "1.2",
        "124": "1.2",
    }
    assert listing.edge_lines == [3, 4, 5]


def test_without_header(write):
    listing = read_listing(write("0;zero\n01;one\n011;two\n"), format="prefix")
    assert (listing.ids, listing.labels, listing.parents) == (
        ["0", "01", "011"],
        ["zero", "one", "two"],
        ["0", "01"],
    )
    assert read_listing(write("0\n01\n"), format="prefix").parents == ["0"]


def test_columns_by_option(write):
    path = write("sign,word\n0,zero\n01,one\n")
    listing = read_listing(path, format="prefix", concept="sign", label="word")
    assert (listing.ids, listing.labels) == (["0", "01"], ["zero", "one"])


def refused(path, line, *parts) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, format="prefix")
    assert str(error.value).startswith(f"{path}, line {line}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_codes_that_cannot_be_told_apart(write):
    refused(write("code,label\n1,a\n1.1,b\n11,c\n"), 4, "'11'", "'1.1'", "dots and spaces")


def test_repeated_code(write):
    refused(write("code,label\n1,a\n11,b\n1,a\n"), 4, "'1'", "second time", "first on line 2")


def test_broken_rows(write):
    refused(write("code,label\n1,a\n,b\n"), 3, "no concept")
    refused(write("code,label\n1,a\n11,b,c\n"), 3, "3 cells instead of 2")
