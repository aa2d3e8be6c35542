"""SKOS concept schemes, and other RDF with a property that leads to the broader concept."""

from __future__ import annotations

import re

from ..listing import Listing
from ._base import Reader, Source
from ._rdf import RDF, RDFS, Graph, identifiers, kind_of_rdf, local_name

__all__ = ["READER"]

SKOS = "http://www.w3.org/2004/02/skos/core#"
_BROADER = re.compile(rb"\b(?:broader|narrower)\b")
_SUBCLASS = re.compile(rb"\bsubClassOf\b")
_CONCEPT = re.compile(rb"\bskos:Concept\b|core#Concept\b")


def recognises(source: Source) -> bool:
    """Whether the text is RDF that speaks of broader concepts more often than of subclasses."""
    if kind_of_rdf(source) is None:
        return False
    broader, subclass = (len(word.findall(source.data)) for word in (_BROADER, _SUBCLASS))
    return broader > subclass or (not subclass and _CONCEPT.search(source.data) is not None)


def read(
    source: Source,
    *,
    parent: str | None = None,
    label: str | None = None,
    code: str | None = None,
    language: str = "en",
) -> Listing:
    """Read the concepts that are not deprecated, with their broader concepts.

    The identifier is the last part of the IRI if it is unique in the file, else the IRI, which becomes an
    alias otherwise. ``skos:narrower`` counts as ``skos:broader`` the other way round. A file without SKOS
    properties may have its own; the one called ``broader`` is found by itself.

    Parameters
    ----------
    parent
        The property that leads to the parent, by IRI or local name, if it is not ``skos:broader``.
    label, code
        The properties that give label and notation, if not ``skos:prefLabel`` and ``skos:notation``.
    language
        The language of the labels, where there is a choice.
    """
    graph = Graph(source)
    edges = _edges(graph, parent)
    concepts = {iri: None for iri, type in graph.links(RDF + "type") if type == SKOS + "Concept"}
    if concepts:
        concepts |= dict.fromkeys(child for child, _ in edges)
    else:
        typed = dict.fromkeys(iri for iri, _ in graph.links(RDF + "type"))
        ends = dict.fromkeys(iri for edge in edges for iri in edge)
        concepts = {iri: None for iri in (*typed, *ends) if iri in ends}
    if not edges and len(concepts) > 1:
        names = sorted({local_name(property) for property in graph.statements})
        hint = f"Name the property that leads to the parent by parent=, one of: {', '.join(names)}."
        raise source.error("no concept has a broader one", hint=hint)
    deprecated = graph.deprecated()
    ids = identifiers((iri for iri in concepts if iri not in deprecated), {})
    labels = [graph.property(label)] if label else [SKOS + "prefLabel", *_called(graph, "name"), RDFS + "label"]
    codes = [graph.property(code)] if code else [SKOS + "notation", *_called(graph, "notation", "code")]
    return graph.listing(ids, edges, graph.texts(labels, language), graph.texts(codes, language))


def _edges(graph: Graph, parent: str | None) -> list[tuple[str, str]]:
    narrower = SKOS + "narrower"
    if parent is not None and parent not in (SKOS + "broader", "skos:broader"):
        property = graph.property(parent)
    elif SKOS + "broader" in graph.statements or narrower in graph.statements:
        property = SKOS + "broader"
    elif _called(graph, "broader"):
        property = graph.property("broader")
    else:
        return []
    edges = dict.fromkeys(graph.links(property))
    if property == SKOS + "broader":
        edges |= dict.fromkeys((child, above) for above, child in graph.links(narrower))
    return list(edges)


def _called(graph: Graph, *names: str) -> list[str]:
    return [property for name in names for property in graph.statements if local_name(property) == name]


READER = Reader("skos", "SKOS concept scheme in RDF/XML or Turtle", recognises, read, fragile=True)
