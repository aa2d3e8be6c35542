"""SKOS, and other RDF with a property for the broader concept."""

from __future__ import annotations

import csv
import gzip

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import read_listing

OWN = "http://ec.europa.eu/eurostat/ramon/ontologies/nace.rdf#broader"


def edges(listing) -> list[tuple[str, str]]:
    return list(zip(listing.children, listing.parents, strict=True))


@pytest.fixture(scope="module")
def tree(data):
    with (data / "nace_rev2" / "nace_rev2_tree.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["parent"]]


@pytest.mark.parametrize("name", ["nace_rev2_skos.ttl.gz", "nace_rev2_eurostat.rdf.gz"])
def test_both_nace_files_are_the_same_tree(data, tree, name):
    listing = read_listing(data / "nace_rev2" / name)
    assert (len(listing.ids), len(listing.children)) == (996, 975)
    assert set(listing.ids) == {row["code"] for row in tree}
    assert set(edges(listing)) == {(row["code"], row["parent"]) for row in tree if row["parent"] != "NACE"}
    assert listing.codes == listing.ids
    assert ("01.11", "01.1") in edges(listing)
    at = listing.ids.index("01.11")
    assert listing.labels[at] == "Growing of cereals (except rice), leguminous crops and oil seeds"
    assert sorted(listing.aliases.values()) == sorted(listing.ids)
    with gzip.open(data / "nace_rev2" / name, "rt", encoding="utf-8") as file:
        line = file.readlines()[listing.lines[at] - 1]
    assert (
        line.startswith("nace:01.11 ") or 'rdf:about="http://ec.europa.eu/eurostat/ramon/rdfdata/nace_r2/01.11"' in line
    )


@pytest.mark.parametrize("parent", ["broader", OWN])
def test_parent_property_can_be_named(data, parent):
    path = data / "nace_rev2" / "nace_rev2_eurostat.rdf.gz"
    assert edges(read_listing(path, format="skos", parent=parent)) == edges(read_listing(path))


def test_other_properties_can_be_named(data):
    path = data / "nace_rev2" / "nace_rev2_eurostat.rdf.gz"
    listing = read_listing(path, format="skos", parent="inSection", code="iSIC4Code", label="label")
    at = listing.ids.index("01.11")
    assert (listing.codes[at], listing.labels[at][:18]) == ("0111", "01.11 - Growing of")
    assert ("01.11", "A") in edges(listing)


def test_nace_agrees_with_rdflib(data):
    from rdflib import SKOS, Graph

    graph = Graph()
    with gzip.open(data / "nace_rev2" / "nace_rev2_skos.ttl.gz") as file:
        graph.parse(data=file.read(), format="turtle")
    listing = read_listing(data / "nace_rev2" / "nace_rev2_skos.ttl.gz")
    code = {concept: str(notation) for concept, notation in graph.subject_objects(SKOS.notation)}
    assert set(edges(listing)) == {(code[a], code[b]) for a, b in graph.subject_objects(SKOS.broader)}
    labels = {code[concept]: str(label).strip() for concept, label in graph.subject_objects(SKOS.prefLabel)}
    assert dict(zip(listing.ids, listing.labels, strict=True)) == labels


PREFIXES = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://x.org/> .
"""


def test_narrower_counts_the_other_way_round(write):
    listing = read_listing(
        write(
            PREFIXES
            + ':a a skos:Concept ; skos:prefLabel "A"@fr, "ay"@en ; skos:notation "1" ; skos:narrower :b, :c .\n'
            + ":b a skos:Concept ; skos:broader :a .\n:c a skos:Concept .\n"
            + ":d a skos:Concept ; skos:broader :a ; owl:deprecated true .\n"
        )
    )
    assert (listing.ids, listing.labels, listing.codes) == (["a", "b", "c"], ["ay", "", ""], ["1", "", ""])
    assert edges(listing) == [("b", "a"), ("c", "a")]
    assert listing.lines == [4, 5, 6]


def test_missing_parents_are_left_for_the_taxonomy_to_refuse(write):
    listing = read_listing(write(PREFIXES + ":b a skos:Concept ; skos:broader :a ."))
    assert (listing.ids, edges(listing)) == (["b"], [("b", "http://x.org/a")])


def test_no_broader_concept(write):
    path = write(PREFIXES + ":a a skos:Concept .\n:b a skos:Concept ; :within :a .")
    with pytest.raises(TaxonomyError, match=r"no concept has a broader one.\n.*parent=, one of: type, within"):
        read_listing(path)
    assert edges(read_listing(path, parent="within")) == [("b", "a")]


def test_unknown_parent_property(data):
    path = data / "nace_rev2" / "nace_rev2_skos.ttl.gz"
    with pytest.raises(TaxonomyError, match=r"no property 'broder'.\nDid you mean 'broader'?"):
        read_listing(path, parent="broder")
