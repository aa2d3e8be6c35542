"""XML that may be read: well formed, without entities that grow or that reach outside the file."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...errors import TaxonomyError
from ._base import Source

__all__ = ["safe_xml"]

_ROOT, _ABOUT, _ID = (f"http://www.w3.org/1999/02/22-rdf-syntax-ns# {name}" for name in ("RDF", "about", "ID"))
_PREDEFINED = {"lt", "gt", "amp", "quot", "apos"}
_LONGEST = 250  # characters of an entity; those in use stand for a namespace
_DEEPEST = 1000  # nested elements; the time to read them grows with the square


def safe_xml(source: Source, data: bytes) -> tuple[bytes, dict[str, int]]:
    """The document without its document type, entities written out, and the line of each resource described.

    XML that is not well formed, not safe or not RDF is refused. Internal entities that stand for a short text
    are fine, as Protégé writes them for namespaces. Entities that refer to other entities, to files or to the
    network, and external document types are refused before anything is expanded or opened. The RDF parser sees
    no declarations at all, so that it cannot understand them differently.
    """
    from xml.parsers import expat

    parser = expat.ParserCreate("utf-8", " ")
    check = _Check(source, lambda: parser.CurrentLineNumber)
    parser.StartDoctypeDeclHandler = check.doctype
    parser.EntityDeclHandler = check.entity
    parser.EndDoctypeDeclHandler = lambda: check.end_of_doctype(parser.CurrentByteIndex)
    parser.StartElementHandler = check.start
    parser.EndElementHandler = check.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"the XML is not well formed ({expat.ErrorString(error.code)})"
        hint = "Check that the file is complete; correct it or save it again."
        raise source.error(message, line=error.lineno, hint=hint) from None
    return _written_out(data, check.prolog, check.entities), check.lines


def _written_out(data: bytes, prolog: int, entities: dict[bytes, bytes]) -> bytes:
    if not prolog:
        return data
    start = data.index(b">", prolog) + 1
    body = data[start:]
    if entities:
        names = b"|".join(re.escape(name) for name in entities)
        body = re.sub(rb"&(%b);" % names, lambda found: entities[found[1]], body)
    return b"\n" * data.count(b"\n", 0, start) + body


class _Check:
    """What the XML parser calls."""

    def __init__(self, source: Source, line: Callable[[], int]) -> None:
        self.source = source
        self.line = line
        self.lines: dict[str, int] = {}
        self.depth = 0
        self.prolog = 0  # where the document type ends
        self.entities: dict[bytes, bytes] = {}

    def doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if system is not None or public is not None:
            raise self.refused(f"the document type {name!r} lies outside the file ({system or public})")

    def entity(
        self,
        name: str,
        is_parameter: bool,
        value: str | None,
        base: str | None,
        system: str | None,
        public: str | None,
        notation: str | None,
    ) -> None:
        if is_parameter:
            raise self.refused(f"{name!r} is a parameter entity")
        if name in _PREDEFINED:
            return
        if value is None:
            raise self.refused(f"the entity {name!r} lies outside the file ({system or public})")
        if "&" in value or "%" in value or "<" in value:
            raise self.refused(f"the entity {name!r} holds entities or elements, as an XML bomb does")
        if len(value) > _LONGEST:
            raise self.refused(f"the entity {name!r} is {len(value)} characters long, as in an XML bomb")
        self.entities.setdefault(name.encode(), value.replace('"', "&quot;").replace("'", "&apos;").encode())

    def end_of_doctype(self, at: int) -> None:
        self.prolog = at

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.depth == 0 and name != _ROOT:
            hint = "Save it as RDF/XML or Turtle; other ways to write OWL or RDF are not read."
            message = f"the file is not RDF: it begins with <{name.split()[-1]}>, not with <rdf:RDF>"
            raise self.source.error(message, line=self.line(), hint=hint)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.refused(f"elements are nested more than {_DEEPEST} deep")
        if _ABOUT in attributes:
            self.lines.setdefault(attributes[_ABOUT], self.line())
        elif _ID in attributes:
            self.lines.setdefault("ID " + attributes[_ID], self.line())

    def end(self, name: str) -> None:
        self.depth -= 1

    def refused(self, reason: str) -> TaxonomyError:
        hint = "If you trust the file, save it again without these declarations, for instance as Turtle."
        return self.source.error(f"refused: {reason}", line=self.line(), hint=hint)
