"""OWL ontologies in RDF/XML or Turtle."""

from __future__ import annotations

from ..listing import Listing
from ._base import Reader, Source, unambiguous
from ._rdf import OWL, RDF, RDFS, Graph, identifiers, kind_of_rdf, local_name

__all__ = ["READER"]

OBO = "http://www.geneontology.org/formats/oboInOwl#"
_TOP = {OWL + "Thing", RDFS + "Resource"}


def recognises(source: Source) -> bool:
    """Whether the text is RDF; SKOS is tried before."""
    return kind_of_rdf(source) is not None


def read(
    source: Source,
    *,
    parent: str = RDFS + "subClassOf",
    individuals: bool = True,
    label: str | None = None,
    language: str = "en",
) -> Listing:
    """Read the named classes that are not deprecated, and the individuals below the classes they are of.

    The identifier is the ``oboInOwl:id`` if there is one, else the last part of the IRI if it is unique in
    the file, else the IRI. The IRI and alternative ids become aliases. Class expressions (restrictions,
    unions) are left out, and so are individuals of no class. A class below a deprecated one is an error.

    Parameters
    ----------
    parent
        The property that leads to a parent, by IRI or local name.
    individuals
        Whether individuals count as concepts.
    label
        The property that gives the label, instead of ``rdfs:label``.
    language
        The language of the labels, where there is a choice.
    """
    if individuals not in (True, False):
        hint = "False leaves out the individuals, True takes them as concepts."
        raise source.error(f"individuals must be True or False; got {individuals!r}", hint=hint)
    graph = Graph(source)
    above = graph.property(parent) if parent != RDFS + "subClassOf" else parent
    classes = _classes(graph)
    edges = _edges(graph, above, classes if individuals else {})
    found = dict.fromkeys([*classes, *(child for child, _ in edges)])
    if above != RDFS + "subClassOf":
        found |= dict.fromkeys(target for _, target in edges)
    deprecated = graph.deprecated()
    ids = identifiers((iri for iri in found if iri not in deprecated), graph.texts([OBO + "id"], language))
    labels = graph.texts([graph.property(label)] if label else [RDFS + "label"], language)
    listing = graph.listing(ids, edges, labels, codes={})
    others = [(local_name(iri), name) for iri, name in ids.items()]
    others += [(value.text, ids[iri]) for iri, value in graph.about(OBO + "hasAlternativeId") if iri in ids]
    listing.aliases |= unambiguous(others, [*listing.ids, *listing.aliases])
    return listing


def _classes(graph: Graph) -> dict[str, None]:
    types = {OWL + "Class", RDFS + "Class"}
    declared = {iri: None for iri, type in graph.links(RDF + "type") if type in types and iri not in _TOP}
    if not declared:  # bare statements of subclasses
        declared = {iri: None for edge in graph.links(RDFS + "subClassOf") for iri in edge if iri not in _TOP}
    return declared


def _edges(graph: Graph, above: str, classes: dict[str, None]) -> list[tuple[str, str]]:
    """The edges by the parent property; individuals that have none lie below their classes."""
    edges = dict.fromkeys((child, target) for child, target in graph.links(above) if target not in _TOP)
    placed = {child for child, _ in edges}
    for child, type in graph.links(RDF + "type"):
        if type in classes and child not in classes and child not in placed:
            edges[child, type] = None
    return list(edges)


READER = Reader("owl", "OWL ontology in RDF/XML or Turtle", recognises, read, fragile=True)
