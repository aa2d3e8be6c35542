"""OWL ontologies."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import read_listing


def edges(listing) -> list[tuple[str, str]]:
    return list(zip(listing.children, listing.parents, strict=True))


def roots(listing) -> set[str]:
    return set(listing.ids) - set(listing.children)


def test_cancer_slim(data):
    # 730 classes and 76 roots in the file; one of them is deprecated and stands alone.
    listing = read_listing(data / "doid" / "DO_cancer_slim.owl.gz")
    assert (len(listing.ids), len(listing.children), len(roots(listing))) == (729, 657, 75)
    assert sum(count > 1 for count in Counter(listing.children).values()) == 3
    assert "DOID:0080191" not in listing.ids
    assert "DOID:0080191" not in listing.aliases
    at = listing.ids.index("DOID:0050458")
    assert listing.labels[at] == "juvenile myelomonocytic leukemia"
    assert listing.aliases["http://purl.obolibrary.org/obo/DOID_0050458"] == "DOID:0050458"
    assert listing.aliases["DOID_0050458"] == "DOID:0050458"
    with gzip.open(data / "doid" / "DO_cancer_slim.owl.gz", "rt", encoding="utf-8") as file:
        line = file.readlines()[listing.lines[at] - 1]
    assert '<owl:Class rdf:about="http://purl.obolibrary.org/obo/DOID_0050458">' in line


def test_infectious_disease_slim(data):
    listing = read_listing(data / "doid" / "DO_infectious_disease_slim.owl.gz")
    assert (len(listing.ids), len(listing.children), len(roots(listing))) == (536, 498, 38)
    alternatives = {alias for alias in listing.aliases if alias.startswith("DOID:")}
    assert len(alternatives) > 200
    assert alternatives.isdisjoint(listing.ids)


def test_slim_agrees_with_rdflib(data):
    from rdflib import OWL, RDF, RDFS, Graph, Literal, Namespace, URIRef

    graph = Graph()
    with gzip.open(data / "doid" / "DO_cancer_slim.owl.gz") as file:
        graph.parse(data=file.read(), format="xml")
    obo = Namespace("http://www.geneontology.org/formats/oboInOwl#")
    dead = set(graph.subjects(OWL.deprecated, Literal(True)))
    classes = {c for c in graph.subjects(RDF.type, OWL.Class) if isinstance(c, URIRef)} - dead
    ids = {c: str(graph.value(c, obo.id)) for c in classes}
    listing = read_listing(data / "doid" / "DO_cancer_slim.owl.gz")
    assert set(listing.ids) == set(ids.values())
    assert set(edges(listing)) == {(ids[a], ids[b]) for a, b in graph.subject_objects(RDFS.subClassOf) if b in ids}
    labels = dict(zip(listing.ids, listing.labels, strict=True))
    assert labels == {ids[c]: str(graph.value(c, RDFS.label)) for c in classes}


ADULT = {  # classes, individuals, edges between classes
    "age": (31, 101, 30),
    "education": (8, 16, 7),
    "marital-status": (11, 0, 10),
    "native-country": (18, 42, 17),
    "occupation": (24, 16, 23),
    "race": (8, 0, 7),
    "relationship": (9, 0, 9),
    "sex": (3, 2, 2),
    "workclass": (10, 0, 9),
}


@pytest.mark.parametrize("name", ADULT)
def test_adult_individuals_are_concepts(data, name):
    classes, individuals, between = ADULT[name]
    path = data / "adult-owl" / f"{name}-ontology.owl"
    listing = read_listing(path)
    assert (len(listing.ids), len(listing.children)) == (classes + individuals, between + individuals)
    assert len(roots(listing)) == 1
    assert all(listing.lines)
    bare = read_listing(path, individuals=False)
    assert (len(bare.ids), len(bare.children)) == (classes, between)


EDUCATION = (
    "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate HS-grad Masters Preschool "
    "Prof-school Some-college"
)
COUNTRIES = (
    "Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France Germany Greece "
    "Guatemala Haiti Honduras Hong-kong Hong-kong-kong Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico "
    "Netherlands Nicaragua Peru Philippines Poland Portugal Puerto-Rico Scotland Taiwan Thailand Trinadad&Tobago "
    "United-States Vietnam Yugoslavia south-africa united-states"
)


def test_adult_values_are_found(data):
    education = read_listing(data / "adult-owl" / "education-ontology.owl")
    assert set(EDUCATION.split()) <= set(education.ids)
    country = read_listing(data / "adult-owl" / "native-country-ontology.owl")
    found = [value for value in COUNTRIES.split() if value in country.ids]
    assert (len(COUNTRIES.split()), len(found)) == (42, 37)
    sex = read_listing(data / "adult-owl" / "sex-ontology.owl")
    assert set(edges(sex)) >= {("man", "Male"), ("woman", "Female"), ("Male", "Gender")}


def test_adult_relationship_has_two_parents(data):
    listing = read_listing(data / "adult-owl" / "relationship-ontology.owl")
    assert {parent for child, parent in edges(listing) if child == "Own-child"} == {"Husband", "Wife"}


PREFIXES = """@prefix : <http://x.org/a#> .
@prefix other: <http://x.org/b/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .

"""
TURTLE = (
    PREFIXES
    + """:Animal a owl:Class ; rdfs:subClassOf owl:Thing ; rdfs:label "Tier"@de, "animal"@en-GB , "bête"@fr .
:Dog a owl:Class ;
  rdfs:subClassOf :Animal, [ a owl:Restriction ; owl:onProperty :eats ; owl:someValuesFrom :Dog ] ;
  rdfs:label "dog", "Hund"@de .
other:Dog a owl:Class ; rdfs:subClassOf :Animal .
:Rex a owl:NamedIndividual, :Dog, other:Dog ; :owner :Ann .
:Ann a owl:NamedIndividual ; :likes :Rex .
:Gone a owl:Class ; owl:deprecated true ; rdfs:subClassOf :Animal .
"""
)


def test_turtle(write):
    listing = read_listing(write(TURTLE))
    dogs = ["http://x.org/a#Dog", "http://x.org/b/Dog"]
    assert listing.ids == ["Animal", *dogs, "Rex"]
    assert edges(listing) == [(dogs[0], "Animal"), (dogs[1], "Animal"), ("Rex", dogs[0]), ("Rex", dogs[1])]
    assert listing.labels == ["animal", "dog", "", ""]
    assert listing.lines == [7, 8, 11, 12]
    assert listing.aliases == {"http://x.org/a#Animal": "Animal", "http://x.org/a#Rex": "Rex"}


def test_language_of_the_labels(write):
    assert read_listing(write(TURTLE), language="de").labels[:2] == ["Tier", "Hund"]
    assert read_listing(write(TURTLE), language="fr").labels[:2] == ["bête", "dog"]


def test_parent_property_by_name_or_iri(write):
    for parent in ("owner", "http://x.org/a#owner"):
        listing = read_listing(write(TURTLE), format="owl", parent=parent, individuals=False)
        assert edges(listing) == [("Rex", "Ann")]


def test_bare_statements_of_subclasses(write):
    listing = read_listing(write(PREFIXES + ":B rdfs:subClassOf :A .\n:C rdfs:subClassOf :B ."))
    assert (set(listing.ids), edges(listing)) == ({"A", "B", "C"}, [("B", "A"), ("C", "B")])


def test_missing_parents_are_left_for_the_taxonomy_to_refuse(write):
    listing = read_listing(write(PREFIXES + ":B a owl:Class ; rdfs:subClassOf :A ."))
    assert (listing.ids, edges(listing)) == (["B"], [("B", "http://x.org/a#A")])


def refused(path, line, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    assert str(error.value).startswith(f"{path}, line {line}: " if line else f"{path}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_class_below_a_deprecated_one(write):
    path = write(PREFIXES + ":A a owl:Class ; owl:deprecated true .\n:B a owl:Class ;\n rdfs:subClassOf :A .")
    refused(path, 8, "'B'", "'http://x.org/a#A', which is deprecated")


def test_unknown_property(write):
    refused(write(TURTLE), 0, "no property 'subclassof'", "Did you mean 'subClassOf'?", parent="subclassof")


def test_ambiguous_property(write):
    path = write(PREFIXES + ":B a owl:Class ; :up :A ; other:up :A .")
    refused(path, 0, "several properties are called 'up'", "http://x.org/b/up", parent="up")


def test_option_of_wrong_type(write):
    refused(write(TURTLE), 0, "individuals must be True or False; got 'no'", individuals="no")


def test_turtle_syntax_error(write):
    refused(write(PREFIXES + ":A a owl:Class .\n:B a owl:Class\n:C a owl:Class ."), 9, "RDF cannot be read")


def test_no_class_at_all(write):
    refused(write(PREFIXES + ':A rdfs:label "a" .'), 0, "holds no concept")
    refused(write("name,age\nAnn,3\n"), 0, "not RDF", format="owl")


def test_a_bad_iri_in_a_file_of_one_long_line(write):
    # The parser asks for some bytes at a time and breaks down if it is given more.
    head = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#" '
    )
    head += 'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">'
    classes = "".join(f'<owl:Class rdf:about="http://x.org/a#C{i}"/>' for i in range(1000))
    bad = '<owl:Class rdf:about="http://x.org/a b"/>'
    for text, line in ((f"{head}{classes}{bad}</rdf:RDF>", 1), (f"{head}\n{classes}\n{bad}\n{classes}</rdf:RDF>", 3)):
        refused(write(text, "minified.owl"), line, "RDF cannot be read", "IRI")
