"""Opening, recognising and refusing files, whatever their format."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy import builtin
from taxomask.taxonomy.readers import READERS, Source, read_listing

TREE = "code,parent,label\nA,,All\nB,A,Bé\n"

REAL = {
    "adult-arx/adult_hierarchy_age.csv": "levels",
    "adult-arx/adult_hierarchy_education.csv": "levels",
    "adult-arx/adult_hierarchy_marital-status.csv": "levels",
    "adult-arx/adult_hierarchy_native-country.csv": "levels",
    "adult-arx/adult_hierarchy_occupation.csv": "levels",
    "adult-arx/adult_hierarchy_race.csv": "levels",
    "adult-arx/adult_hierarchy_salary-class.csv": "levels",
    "adult-arx/adult_hierarchy_sex.csv": "levels",
    "adult-arx/adult_hierarchy_workclass.csv": "levels",
    "adult-owl/age-ontology.owl": "owl",
    "adult-owl/education-ontology.owl": "owl",
    "adult-owl/marital-status-ontology.owl": "owl",
    "adult-owl/native-country-ontology.owl": "owl",
    "adult-owl/occupation-ontology.owl": "owl",
    "adult-owl/race-ontology.owl": "owl",
    "adult-owl/relationship-ontology.owl": "owl",
    "adult-owl/sex-ontology.owl": "owl",
    "adult-owl/workclass-ontology.owl": "owl",
    "doid/DO_cancer_slim.owl.gz": "owl",
    "doid/DO_infectious_disease_slim.owl.gz": "owl",
    "doid/doid.obo.gz": "obo",
    "go/go-basic.obo.gz": "obo",
    "isco08_esco/esco_occupations_tree.csv.gz": "edges",
    "isco08_esco/isco08_tree.csv": "edges",
    "nace_rev2/nace_rev2_eurostat.rdf.gz": "skos",
    "nace_rev2/nace_rev2_skos.ttl.gz": "skos",
    "nace_rev2/nace_rev2_tree.csv": "edges",
    "rf2_sample": "rf2",
    "wordnet30/wordnet30_noun_edges.csv.gz": "edges",
}


def recognised(path) -> str:
    source = Source(path)
    return next(name for name, reader in READERS.items() if reader.recognises(source))


@pytest.mark.parametrize(("name", "format"), REAL.items())
def test_format_is_recognised_from_content(data, name, format):
    assert recognised(data / name) == format


def test_every_real_file_is_in_the_table(data):
    found = {
        str(path.relative_to(data).as_posix())
        for folder in {name.split("/")[0] for name in REAL} - {"rf2_sample"}
        for path in (data / folder).iterdir()
        if path.suffix not in (".md", ".txt")
    }
    assert found == set(REAL) - {"rf2_sample"}


@pytest.mark.parametrize("name", builtin.names())
def test_builtin_taxonomies_are_edge_lists(name):
    assert recognised(builtin.path(name)) == "edges"


def test_format_does_not_depend_on_the_name_of_the_file(data, write):
    path = write((data / "doid" / "doid.obo.gz").read_bytes(), "table.csv")
    assert recognised(path) == "obo"
    assert len(read_listing(path).ids) == 11_501


def test_gzip_is_told_by_its_first_bytes(write):
    plain = read_listing(write(TREE, "plain.csv"))
    packed = read_listing(write(gzip.compress(TREE.encode()), "packed.csv"))
    assert packed.ids == plain.ids == ["A", "B"]
    assert packed.labels == plain.labels == ["All", "Bé"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(write, encoding):
    listing = read_listing(write(TREE.encode(encoding)))
    assert listing.ids == ["A", "B"]
    assert listing.labels[1] == "Bé"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter(write, end):
    listing = read_listing(write(TREE.replace("\n", end)))
    assert (listing.ids, listing.lines) == (["A", "B"], [2, 3])


def test_encoding_can_be_named(write):
    path = write(TREE.encode("latin-1"))
    assert read_listing(path, encoding="latin-1").labels[1] == "Bé"


def refused(path, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    for part in (str(path), *parts):
        assert part in str(error.value)
    assert error.value.hint


def test_undecodable_bytes(write):
    path = write(TREE.encode("latin-1"), "latin.csv")
    refused(path, "latin.csv, line 3", "0xe9", 'encoding="latin-1"')


def test_unknown_encoding(write):
    refused(write(TREE), "'klingon'", encoding="klingon")


def test_truncated_gzip(write):
    packed = gzip.compress((TREE + "".join(f"C{i},A,{i * 7919}\n" for i in range(5000))).encode())
    for cut in (len(packed) // 2, len(packed) - 4, 5):
        refused(write(packed[:cut], "cut.csv.gz"), "cut off before its end")


def test_damaged_gzip(write):
    packed = bytearray(gzip.compress(TREE.encode()))
    packed[-6] ^= 0xFF  # the checksum
    refused(write(bytes(packed), "bad.csv.gz"), "damaged")
    packed = bytearray(gzip.compress(TREE.encode()))
    packed[12:20] = b"\xff" * 8
    refused(write(bytes(packed), "bad.csv.gz"), "damaged")


def test_missing_file(tmp_path, write):
    refused(tmp_path / "nowhere.csv", "no such file", "Check its name and folder")
    write(TREE, "diseases.csv")
    refused(tmp_path / "disease.csv", "Did you mean 'diseases.csv'?")
    refused(tmp_path / "no" / "folder.csv", "There is no folder")


def test_missing_file_with_the_name_of_a_builtin_taxonomy():
    refused("icd9cm", "no such file", "Taxonomy.builtin('icd9cm')")


def test_folder_that_is_no_release(tmp_path):
    refused(tmp_path, "no relationship snapshot", "sct2_Relationship_Snapshot")
    refused(tmp_path, "no relationship snapshot", format="rf2")
    refused(tmp_path, "is a folder", format="obo")


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0)], ids=["nothing", "blanks", "packed"])
@pytest.mark.parametrize("format", [None, "edges", "levels", "prefix", "obo", "owl", "skos"])
def test_empty_file(write, content, format):
    refused(write(content), "the file is empty", format=format)


@pytest.mark.parametrize("format", [None, "edges", "levels", "prefix", "obo", "owl", "skos"])
def test_binary_file(write, format):
    refused(write(bytes(range(256)) * 4), "binary", format=format)


def test_archives_are_to_be_unpacked(write):
    refused(write(b"PK\x03\x04rest of an archive"), "zip", "Unpack it first")


def test_header_without_rows(write):
    refused(write("code,parent,label\n"), "holds no concept", "'edges'")


def test_unknown_format(write):
    path = write(TREE)
    with pytest.raises(TaxonomyError, match=r"no taxonomy format 'ob0'.\nDid you mean 'obo'"):
        read_listing(path, format="ob0")


@pytest.mark.parametrize(
    "content",
    [
        "hello, world\n",
        "name,age\nAnn,3\nBob,4\n",
        "{}",
        "Just one line",
        "id,age,code\n1,30,A\n2,31,B\n3,32,C\n",
    ],
)
def test_unrecognised_content_lists_the_formats(write, content):
    refused(write(content), "not recognised", "format=", *(f"{name} (" for name in READERS))


def test_unknown_option_names_those_of_the_format(write):
    refused(
        write(TREE),
        "'edges' has no option 'parents'",
        "it takes concept, parent",
        "Did you mean 'parent'?",
        parents="x",
    )
    refused(write("[Term]\nid: A\n"), "'obo' has no option 'delimiter'", delimiter=",")


def test_every_reader_declares_itself():
    assert all(name == reader.name and reader.about for name, reader in READERS.items())
    assert READERS["edges"].options == ("concept", "parent", "label", "code", "delimiter")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_without_pyoxigraph_the_message_says_what_to_install(data):
    path = data / "adult-owl" / "sex-ontology.owl"
    code = f"""
import os, sys
os.environ["TAXOMASK_TRUST_FILES"] = "1"  # in a child it would be there
sys.modules["pyoxigraph"] = None  # what Python does when a package cannot be imported
from taxomask.taxonomy.readers import read_listing
try:
    read_listing({str(path)!r})
except Exception as error:
    print(type(error).__name__, error)
"""
    assert "TaxonomyError" in run(code)
    assert "pip install 'taxomask[ontology]'" in run(code)


def test_pyoxigraph_is_imported_only_for_rdf(data):
    code = f"""
import os, sys
from taxomask.taxonomy.readers import read_listing
read_listing({str(data / "isco08_esco" / "isco08_tree.csv")!r})
print("pyoxigraph" in sys.modules)
read_listing({str(data / "adult-owl" / "sex-ontology.owl")!r})
print("pyoxigraph" in sys.modules)
os.environ["TAXOMASK_TRUST_FILES"] = "1"
read_listing({str(data / "adult-owl" / "sex-ontology.owl")!r})
print("pyoxigraph" in sys.modules)
"""
    assert run(code).split() == ["False", "False", "True"]
