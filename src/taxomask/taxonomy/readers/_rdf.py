"""RDF documents (RDF/XML and Turtle): their statements, read by pyoxigraph, and where they stand."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...errors import TaxonomyError, did_you_mean
from ..listing import Listing
from ._base import Source
from ._xml import safe_xml

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["OWL", "RDF", "RDFS", "Graph", "Value", "identifiers", "kind_of_rdf", "local_name"]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"

_XML = re.compile(r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|(?:\w+:)?RDF\b)")
_TURTLE = re.compile(r"(?:\s|#.*\n)*(?:@prefix\b|@base\b|PREFIX\s+[\w.-]*:|BASE\s*<|<[^>\s]*>\s+<)", re.IGNORECASE)
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)""")
_PREFIX = re.compile(r"^[ \t]*(?:@prefix|PREFIX)\s+([\w.-]*):\s*<([^>]*)>", re.IGNORECASE | re.MULTILINE)
_SUBJECT = re.compile(r"^(?:<([^>\s]*)>|([\w.-]*):([^\s;,]*))", re.MULTILINE)


class Value(NamedTuple):
    """The object of a statement: a resource, or a literal with its language."""

    text: str
    is_resource: bool
    language: str = ""


def kind_of_rdf(source: Source) -> Literal["xml", "turtle"] | None:
    """The kind of RDF that the text begins like, if any."""
    if _XML.match(source.head):
        return "xml"
    return "turtle" if _TURTLE.match(source.head) else None


def local_name(iri: str) -> str:
    """The part of an IRI that names the thing.

    >>> local_name("http://example.org/country#Italy"), local_name("http://example.org/nace/01.11")
    ('Italy', '01.11')
    """
    return re.split(r"[#/]", iri.rstrip("#/"))[-1] or iri


class Graph:
    """The statements about named things, by property, in the order of the document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines: dict[str, int] = {}
        self.statements: dict[str, list[tuple[str, Value]]] = {}
        rdf = _pyoxigraph()
        kind = kind_of_rdf(source)
        if kind is None:
            hint = "Save it as RDF/XML or Turtle; other ways to write OWL or RDF are not read."
            raise source.error("the file is not RDF", hint=hint)
        data = self._safe_xml() if kind == "xml" else self._numbered_turtle()
        syntax = rdf.RdfFormat.RDF_XML if kind == "xml" else rdf.RdfFormat.TURTLE
        for subject, property, value in _parsed(rdf, source, data, syntax):
            self.statements.setdefault(property, []).append((subject, value))

    def about(self, property: str) -> list[tuple[str, Value]]:
        """The statements with a property: subject and value."""
        return self.statements.get(property, [])

    def links(self, property: str) -> Iterator[tuple[str, str]]:
        """The statements whose value is a resource."""
        return ((subject, value.text) for subject, value in self.about(property) if value.is_resource)

    def property(self, asked: str) -> str:
        """The property with an IRI or a local name, or an error with the nearest one."""
        if asked in self.statements:
            return asked
        found = [iri for iri in self.statements if local_name(iri) == asked]
        if len(found) == 1:
            return found[0]
        if found:
            hint = f"Give one in full: {', '.join(found)}."
            raise self.source.error(f"several properties are called {asked!r}", hint=hint)
        names = sorted({local_name(iri) for iri in self.statements})
        raise self.source.error(f"there is no property {asked!r}", hint=did_you_mean(str(asked), names))

    def texts(self, properties: Iterable[str], language: str) -> dict[str, str]:
        """A text for each thing: from the first property that it has, in the language if possible."""
        best: dict[str, tuple[tuple[int, int], str]] = {}
        for order, property in enumerate(properties):
            for subject, value in self.about(property):
                rank = (order, _language_rank(value.language, language))
                if not value.is_resource and (subject not in best or rank < best[subject][0]):
                    best[subject] = rank, " ".join(value.text.split())
        return {subject: text for subject, (_, text) in best.items()}

    def deprecated(self) -> set[str]:
        """The things that are out of use."""
        return {subject for subject, value in self.about(OWL + "deprecated") if value.text in ("true", "1")}

    def listing(
        self,
        ids: dict[str, str],
        edges: Iterable[tuple[str, str]],
        labels: dict[str, str],
        codes: dict[str, str],
    ) -> Listing:
        """The listing of the things that have an identifier; their IRIs become aliases."""
        listing = Listing(self.source.name)
        deprecated = self.deprecated()
        for iri, name in ids.items():
            listing.add(name, label=labels.get(iri, ""), code=codes.get(iri, ""), line=self.line(iri))
        for child, parent in edges:
            if child not in ids:
                continue
            if parent in deprecated:
                hint = "Correct the file: what is in use cannot lie below what is not."
                message = f"concept {ids[child]!r} lies below {parent!r}, which is deprecated"
                raise self.source.error(message, line=self.line(child), hint=hint)
            listing.link(ids[child], ids.get(parent, parent), line=self.line(child))
        listing.aliases = {iri: name for iri, name in ids.items() if iri != name}
        return listing

    def line(self, iri: str) -> int:
        """The line that introduces a thing, as far as it can be told."""
        fragment = iri.rpartition("#")[2]
        return self.lines.get(iri) or self.lines.get("#" + fragment) or self.lines.get("ID " + fragment) or 0

    def _safe_xml(self) -> bytes:
        declared = _ENCODING.match(self.source.data)
        named = self.source.encoding or (declared and declared[1].decode("ascii")) or ""
        text = self.source.decoded(None if named.lower().startswith("utf-16") else named)
        # The text is handed on as UTF-8, whatever it was: both parsers must see the same.
        data = re.sub(r"^\s*<\?xml[^>]*\?>", lambda found: "\n" * found[0].count("\n"), text, count=1).encode()
        data, self.lines = safe_xml(self.source, data)
        return data

    def _numbered_turtle(self) -> bytes:
        text = self.source.text
        prefixes = dict(_PREFIX.findall(text))
        line = 1
        at = 0
        for found in _SUBJECT.finditer(text):
            line += text.count("\n", at, found.start())
            at = found.start()
            iri = found[1] if found[1] is not None else prefixes.get(found[2], "") + found[3]
            self.lines.setdefault(iri, line)
        return text.encode()


def identifiers(iris: Iterable[str], given: dict[str, str]) -> dict[str, str]:
    """A short identifier for each IRI: the one given or the local name if no other has it, else the IRI.

    >>> identifiers(["x:a#Italy", "x:b#Italy", "x:a#Rome"], {})
    {'x:a#Italy': 'x:a#Italy', 'x:b#Italy': 'x:b#Italy', 'x:a#Rome': 'Rome'}
    """
    short = {iri: given.get(iri) or local_name(iri) for iri in iris}
    times = Counter(short.values())
    return {iri: name if times[name] == 1 else iri for iri, name in short.items()}


def _language_rank(language: str, wanted: str) -> int:
    if language == wanted or language.startswith(wanted + "-"):
        return 0 if language == wanted else 1
    return 3 if language else 2


def _parsed(rdf: Any, source: Source, data: bytes, syntax: Any) -> Iterator[tuple[str, str, Value]]:
    base = f"file:///{re.sub(r'[^A-Za-z0-9._~-]', '_', source.path.name)}"
    try:
        for quad in rdf.parse(data, format=syntax, base_iri=base):
            if isinstance(quad.subject, rdf.NamedNode):
                value = quad.object
                if isinstance(value, rdf.Literal):
                    yield (
                        quad.subject.value,
                        quad.predicate.value,
                        Value(value.value, False, value.language or ""),
                    )
                elif isinstance(value, rdf.NamedNode):
                    yield quad.subject.value, quad.predicate.value, Value(value.value, True)
    except SyntaxError as error:
        line = error.lineno or _line_of_error(rdf, data, syntax, base)
        hint = "Correct the file, or save it again with the program that wrote it."
        raise source.error(f"the RDF cannot be read ({error.msg})", line=line, hint=hint) from None


class _LineByLine(io.RawIOBase):
    """Hands out one line at a time, so that the number of lines read tells where the parser stopped."""

    def __init__(self, data: bytes) -> None:
        self.lines = iter(data.splitlines(keepends=True))
        self.line = b""  # what is left of it
        self.count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self.line:
            self.count += 1
            self.line = next(self.lines, b"")
        size = len(self.line) if size < 0 else size  # the parser breaks down if it is given more than it asked for
        piece, self.line = self.line[:size], self.line[size:]
        return piece


def _line_of_error(rdf: Any, data: bytes, syntax: Any, base: str) -> int:
    reader = _LineByLine(data)
    try:
        for _ in rdf.parse(reader, format=syntax, base_iri=base):
            pass
    except SyntaxError:
        return reader.count
    return 0


def _pyoxigraph() -> ModuleType:
    try:
        import pyoxigraph
    except ImportError:
        raise TaxonomyError(
            "Reading OWL, SKOS and other RDF needs the package pyoxigraph, which is not installed.",
            hint="Install it with: pip install 'taxomask[ontology]'",
        ) from None
    return pyoxigraph
