"""RDF/XML that is malformed, malicious or merely uses entities."""

from __future__ import annotations

import time

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import read_listing

HEAD = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:owl="http://www.w3.org/2002/07/owl#" xml:base="http://x.org/a">
"""
BODY = """<owl:Class rdf:about="#A"/>
<owl:Class rdf:ID="B">
  <rdfs:subClassOf rdf:resource="#A"/>
  <rdfs:label>%s</rdfs:label>
</owl:Class>
</rdf:RDF>
"""


def document(doctype: str = "", label: str = "b", body: str = BODY) -> str:
    return f'<?xml version="1.0"?>\n{doctype}{HEAD}{body % label}'


def refused(path, line, *parts, **options) -> None:
    start = time.process_time()
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    assert time.process_time() - start < 5
    assert str(error.value).startswith(f"{path}, line {line}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_plain_document(write):
    listing = read_listing(write(document()))
    assert (listing.ids, listing.labels, listing.lines) == (["A", "B"], ["", "b"], [5, 6])
    assert (listing.children, listing.parents, listing.edge_lines) == (["B"], ["A"], [6])


def test_entities_for_namespaces_are_fine(write):
    text = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY me "http://x.org/a#" >
    <!ENTITY rdfs "http://www.w3.org/2000/01/rdf-schema#" >
]>
<rdf:RDF xmlns:owl="&owl;" xmlns:rdfs="&rdfs;" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <owl:Class rdf:about="&me;A"/>
  <rdf:Description rdf:about="&me;B">
    <rdf:type rdf:resource="&owl;Class"/>
    <rdfs:subClassOf rdf:resource="&me;A"/>
  </rdf:Description>
</rdf:RDF>
"""
    listing = read_listing(write(text))
    assert (listing.ids, listing.parents, listing.lines) == (["A", "B"], ["A"], [8, 9])


def test_encoding_declared_in_the_document(write):
    text = document(label="Bär").replace('"1.0"', '"1.0" encoding="ISO-8859-1"')
    assert read_listing(write(text.encode("latin-1"))).labels == ["", "Bär"]
    text = document(label="Bär").replace('"1.0"', '"1.0" encoding="UTF-16"')
    assert read_listing(write(text.encode("utf-16"))).labels == ["", "Bär"]
    text = document().replace('"1.0"', '"1.0" encoding="klingon"')
    refused(write(text), 1, "unknown encoding", "'klingon'")


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">\n' for i in range(1, 10))


@pytest.mark.parametrize("format", [None, "owl", "skos"])
@pytest.mark.parametrize("root", ["rdf:RDF", "lolz"])
def test_billion_laughs(write, root, format):
    doctype = f'<!DOCTYPE {root} [\n<!ENTITY l0 "lol">\n{LAUGHS}]>\n'
    text = document(doctype, "&l9;") if root == "rdf:RDF" else f"{doctype}<lolz>&l9;</lolz>"
    refused(write(text, "bomb.owl"), 4 if root == "rdf:RDF" else 3, "refused", "'l1'", "XML bomb", format=format)


def test_one_long_entity(write):
    refused(
        write(document(f'<!DOCTYPE x [\n<!ENTITY a "{"a" * 100_000}">]>\n', "&a;" * 1000)),
        3,
        "refused",
        "'a'",
    )


def test_entity_that_holds_itself(write):
    refused(write(document('<!DOCTYPE x [\n<!ENTITY a "&a;">]>\n', "&a;")), 3, "refused", "'a'")


def test_references_hidden_as_character_codes(write):
    doctype = '<!DOCTYPE x [\n<!ENTITY a "aaaa">\n<!ENTITY b "&#38;a;&#38;a;">]>\n'
    refused(write(document(doctype, "&b;")), 4, "refused", "'b'")


@pytest.mark.parametrize("outside", ['SYSTEM "{}"', 'PUBLIC "x" "{}"'])
def test_external_entity(write, outside):
    secret = write("secret", "secret.txt")
    doctype = f"<!DOCTYPE rdf:RDF [\n<!ENTITY a {outside.format(secret.as_uri())}>]>\n"
    refused(write(document(doctype, "&a;")), 3, "refused", "'a'", "outside the file", "secret.txt")


@pytest.mark.parametrize("outside", ['SYSTEM "evil.dtd"', 'PUBLIC "x" "http://x.org/evil.dtd"'])
def test_external_document_type(write, outside):
    refused(write(document(f"<!DOCTYPE rdf:RDF {outside}>\n")), 2, "refused", "outside the file", "evil.dtd")


def test_parameter_entities(write):
    refused(write(document('<!DOCTYPE x [\n<!ENTITY % p SYSTEM "http://x.org/p">\n%p;]>\n')), 3, "refused", "'p'")
    doctype = '<!DOCTYPE x [\n%q;\n<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;">]>\n'
    refused(write(document(doctype, "&b;")), 12, "unrecognized entity")


def test_bomb_that_parsers_might_understand_differently(write):
    """Only what was checked is expanded: not a second declaration, nor one in a comment."""
    twice = '<!DOCTYPE x [\n<!ENTITY a "aaaa">\n<!ENTITY b "b">\n<!ENTITY b "&a;&a;">]>\n'
    assert read_listing(write(document(twice, "&b;"))).labels == ["", "b"]
    comment = '<!DOCTYPE x [\n<!ENTITY a "aaaa">\n<!-- <!ENTITY b "&a;&a;"> -->]>\n'
    refused(write(document(comment, "&b;")), 11, "undefined entity")
    hidden = f"<!-- <!DOCTYPE x [<!ENTITY a 'aaaa'>]> -->\n{BODY}"
    refused(write(document(body=hidden, label="&a;")), 9, "undefined entity")


def test_document_type_with_comments_and_quotation_marks(write):
    doctype = """<!-- > --><!DOCTYPE rdf:RDF [
<!-- <!ENTITY b "&a;"> ]> -->
<!ENTITY a 'say "ah"'><!ENTITY b "it's &#233;">
<!ENTITY lt "&#38;#60;">
]>
"""
    text = document(doctype, "&a; &lt; &b; &amp;a;").replace(
        "<owl:Class rdf:ID", '<owl:Class rdfs:comment="&b;" rdf:ID'
    )
    listing = read_listing(write(text))
    assert listing.labels == ["", 'say "ah" < it\'s é &a;']
    assert read_listing(write(text), label="comment").labels == ["", "it's é"]
    assert listing.lines == [10, 11]


@pytest.mark.parametrize("word", ["<!DOCTYPE", "<!doctype"])
def test_document_type_in_the_middle(write, word):
    late = f'{word} x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]>\n{BODY}'
    refused(write(document(body=late, label="&b;")), 5, "not well formed")


def test_deep_nesting(write):
    refused(write(document(body="<rdf:Description><owl:x>" * 20_000 + "%s")), 5, "refused", "nested")


def test_truncated_document(write):
    text = document()
    refused(write(text[: text.index("</owl:Class>")]), 9, "not well formed")


def test_malformed_xml(write):
    refused(write(document().replace("</rdfs:label>", "</rdfs:lable>")), 8, "not well formed")
    refused(write(document(label="&unknown;")), 8, "not well formed", "undefined entity")


def test_well_formed_xml_that_is_no_rdf(write):
    refused(write(document().replace('rdf:resource="#A"', 'rdf:resource="http://[#A"')), 7, "RDF cannot be read")
    refused(write("<?xml version='1.0'?>\n<html>\n</html>"), 2, "not RDF", "<html>", "RDF/XML or Turtle")
    ontology = '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>'
    refused(write(ontology), 2, "not RDF", "<Ontology>")
