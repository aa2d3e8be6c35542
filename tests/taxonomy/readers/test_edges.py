"""Edge lists."""

from __future__ import annotations

import csv
import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask.errors import TaxonomyError
from taxomask.taxonomy import builtin
from taxomask.taxonomy.readers import read_listing


def edges(listing) -> list[tuple[str, str]]:
    return list(zip(listing.children, listing.parents, strict=True))


def test_wordnet(data):
    listing = read_listing(data / "wordnet30" / "wordnet30_noun_edges.csv.gz")
    assert (len(listing.ids), len(listing.children)) == (82_115, 84_427)
    assert len(set(edges(listing))) == 84_427
    assert set(listing.ids) - set(listing.children) == {"00001740"}
    assert sum(count > 1 for count in Counter(listing.children).values()) == 2_213
    assert (listing.ids[0], listing.labels[0]) == ("00001740", "entity")


@pytest.mark.parametrize(
    ("name", "concepts", "root"),
    [
        ("icd9cm", 17_731, "ICD9CM"),
        ("icd9cm_procedures", 4_670, "ICD9PROC"),
        ("nace2", 997, "NACE"),
        ("isco08", 620, "ISCO08"),
    ],
)
def test_builtin(name, concepts, root):
    listing = read_listing(builtin.path(name))
    assert (len(listing.ids), len(listing.children)) == (concepts, concepts - 1)
    assert set(listing.ids) - set(listing.children) == {root}
    assert set(listing.parents) <= set(listing.ids)
    assert all(listing.labels)


def test_icd_has_dotted_codes():
    listing = read_listing(builtin.path("icd9cm"))
    at = listing.ids.index("25001")
    assert listing.codes[at] == "250.01"
    assert listing.labels[at].startswith("Diabetes mellitus without mention of complication, type I ")
    assert ("25001", "2500") in edges(listing)
    with gzip.open(builtin.path("icd9cm"), "rt", encoding="utf-8") as file:
        assert file.readlines()[listing.lines[at] - 1].startswith("25001,250.01,2500,")


@pytest.mark.parametrize(("name", "concepts"), [("isco08_tree.csv", 620), ("esco_occupations_tree.csv.gz", 3_562)])
def test_isco_and_esco(data, name, concepts):
    listing = read_listing(data / "isco08_esco" / name)
    assert (len(listing.ids), len(listing.children)) == (concepts, concepts - 1)
    assert dict(edges(listing))["0110"] == "011"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found_out(write, delimiter):
    listing = read_listing(write("code,parent,label\nA,,x\nB,A,y\n".replace(",", delimiter)))
    assert (listing.ids, listing.labels, edges(listing)) == (["A", "B"], ["x", "y"], [("B", "A")])


def test_delimiter_within_labels(write):
    listing = read_listing(write("code;parent;label\nA;;one, two, three\nB;A;four, five\n"))
    assert listing.labels == ["one, two, three", "four, five"]
    assert read_listing(write("code#parent\nA#\nB#A\n"), format="edges", delimiter="#").ids == ["A", "B"]


def test_quotes_and_line_breaks_keep_the_line_numbers(write):
    listing = read_listing(write('code,parent,label\nA,,"a ""long""\nlabel, indeed"\n\nB,A,b\n'))
    assert listing.labels == ['a "long"\nlabel, indeed', "b"]
    assert (listing.lines, listing.edge_lines) == ([2, 5], [5])


def test_columns_by_usual_names(write):
    listing = read_listing(write("Label,Broader,Notation,ID\nAll,,0.0,a\nSome,a,0.1,b\n"))
    assert (listing.ids, listing.labels, listing.codes) == (["a", "b"], ["All", "Some"], ["0.0", "0.1"])
    listing = read_listing(write("disease,parent\nX,\nY,X\n"))
    assert (listing.ids, edges(listing)) == (["X", "Y"], [("Y", "X")])


def test_columns_by_option(write):
    path = write("kind,up,word,sign\na,,All,0\nb,a,Some,1\n")
    listing = read_listing(path, format="edges", concept="kind", parent="up", label="word", code="sign")
    assert (listing.ids, listing.labels, listing.codes) == (["a", "b"], ["All", "Some"], ["0", "1"])
    assert edges(listing) == [("b", "a")]


def test_two_columns_without_header(write):
    listing = read_listing(write("dog,mammal\ncat,mammal\nmammal,animal\n"), format="edges")
    assert listing.ids == ["dog", "cat", "mammal", "animal"]
    assert edges(listing) == [("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal")]


def test_several_rows_are_several_parents(write):
    listing = read_listing(write("id,parent,label\nr,,\na,r,A\nb,r,\nc,a,C\nc,b,\n"))
    assert edges(listing) == [("a", "r"), ("b", "r"), ("c", "a"), ("c", "b")]
    assert (listing.ids, listing.labels) == (["r", "a", "b", "c"], ["", "A", "", "C"])


def test_root_without_row_is_added_but_not_parents_that_seem_to_be_missing(write):
    assert read_listing(write("id,parent,label\na,r,A\nb,a,B\n")).ids == ["a", "b", "r"]
    assert read_listing(write("id,parent,label\na,r,A\nb,s,B\n")).ids == ["a", "b"]
    assert read_listing(write("id,parent,label\nr,,R\na,r,A\nb,s,B\n")).ids == ["r", "a", "b"]
    assert read_listing(write("id,parent\na,r\nb,s\n")).ids == ["a", "b", "r", "s"]


def refused(path, line, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_repeated_row(write):
    refused(write("id,parent\nr,\na,r\nb,r\na,r\n"), 5, "'a'", "'r'", "first on line 3")
    refused(write("id,parent\nr,\na,r\nr,\n"), 4, "'r'", "as a root", "first on line 2")


def test_root_and_child_at_once(write):
    refused(write("id,parent\nr,\na,r\nr,a\n"), 4, "'r'", "'a'", "as a root")
    refused(write("id,parent\nr,\na,r\na,\n"), 4, "'a'", "'r'", "as a root")


def test_contradictory_labels(write):
    refused(write("id,parent,label\nr,,R\na,r,A\nb,r,B\na,b,Ah\n"), 5, "'a'", "'Ah'", "'A' on line 3")
    refused(write("id,code,parent\nr,0,\na,1,r\nb,2,r\na,3,b\n"), 5, "'a'", "code '3'", "'1' on line 3")


def test_row_of_wrong_length(write):
    refused(write("id,parent,label\nr,,R\na,r\n"), 3, "2 cells instead of 3", format="edges", delimiter=",")
    refused(write("id,parent,label\nr,,R\na,r,one, two\n"), 3, "4 cells instead of 3")


def test_row_without_concept(write):
    refused(write("id,parent,label\nr,,R\n,r,A\n"), 3, "no concept")


def test_open_quotation_mark(write):
    refused(write('id,parent,label\nr,,R\na,r,"A\nb,r,B\n'), 3, "quotation mark")


def test_unknown_column(write):
    refused(write("id,parent,label\nr,,R\n"), 1, "no column 'lable'", "Did you mean 'label'?", label="lable")
    refused(write("id,x,label\nr,,R\n"), 1, "no column of parents", "parent=", format="edges")
    refused(write("id,x,x\nr,,R\n"), 1, "two columns 'x'", format="edges", parent="x")


def test_delimiter_must_be_one_character(write):
    with pytest.raises(TaxonomyError, match="one character; got ', '"):
        read_listing(write("id,parent\nr,\n"), delimiter=", ")


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=6)


@given(
    names=st.lists(names, min_size=2, max_size=12, unique=True),
    ups=st.randoms(),
    delimiter=st.sampled_from(",;\t|"),
)
def test_any_tree_comes_back(tmp_path_factory, names, ups, delimiter):
    parents = [""] + [names[ups.randrange(i)] for i in range(1, len(names))]
    path = tmp_path_factory.mktemp("edges") / "tree.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(["id", "parent", "label"])
        table.writerows(zip(names, parents, names, strict=True))
    listing = read_listing(path, delimiter=delimiter)
    assert listing.ids == listing.labels == names
    assert edges(listing) == list(zip(names[1:], parents[1:], strict=True))
