"""OBO files, as the OBO Foundry publishes ontologies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import did_you_mean
from ..listing import Listing
from ._base import Reader, Source, unambiguous

__all__ = ["READER"]

_START = re.compile(r"(?:\s|!.*\n)*(?:format-version\s*:|\[(?:Term|Typedef|Instance)\b)")
_STANZA = re.compile(r"\[(\w+)\]\s*(?:!.*)?")
_COMMENT = re.compile(r"(?<!\\)!.*")
_MODIFIERS = re.compile(r"(?<!\\)\{\s*[\w:.\-]+\s*=")
_END_OF_MODIFIERS = re.compile(r"\}\s*(?:!.*)?$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "W": " ", "t": "\t"}
_USED = frozenset({"id", "name", "is_a", "relationship", "alt_id", "is_obsolete"})


@dataclass
class _Terms:
    """The [Term] stanzas in columns: many small objects would keep the garbage collector busy."""

    lines: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    obsolete: set[int] = field(default_factory=set)  # positions of terms
    other_ids: list[tuple[str, int]] = field(default_factory=list)  # with the position of the term
    children: list[int] = field(default_factory=list)  # positions of terms, one per edge
    relations: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    edge_lines: list[int] = field(default_factory=list)

    def start(self, line: int) -> None:
        self.lines.append(line)
        self.ids.append("")
        self.names.append("")

    def link(self, relation: str, parent: str, line: int) -> None:
        self.children.append(len(self.ids) - 1)
        self.relations.append(relation)
        self.parents.append(parent)
        self.edge_lines.append(line)


def recognises(source: Source) -> bool:
    """Whether the text begins like an OBO document."""
    return _START.match(source.head) is not None


def read(source: Source, *, parent: str | Iterable[str] = "is_a") -> Listing:
    """Read the terms that are not obsolete; alternative ids become aliases.

    A term that lies below an obsolete one is an error. An alternative id that belongs to two terms, or that
    is a term itself, is left out.

    Parameters
    ----------
    parent
        The relations that lead to a parent, such as ``["is_a", "part_of"]``.
    """
    wanted = {parent} if isinstance(parent, str) else set(parent)
    terms = _terms(source)
    known = {"is_a", *terms.relations}
    for relation in sorted(wanted - known):
        hint = did_you_mean(relation, sorted(known))
        raise source.error(f"there is no relation {relation!r}", hint=hint)
    _check_identifiers(source, terms)
    listing = Listing(source.name)
    for at, concept in enumerate(terms.ids):
        if at not in terms.obsolete:
            listing.add(concept, label=terms.names[at], line=terms.lines[at])
    _link(source, terms, wanted, listing)
    aliases = ((other, terms.ids[at]) for other, at in terms.other_ids if at not in terms.obsolete)
    listing.aliases = unambiguous(aliases, listing.ids)
    return listing


def _link(source: Source, terms: _Terms, wanted: set[str], listing: Listing) -> None:
    obsolete = {terms.ids[at] for at in terms.obsolete}
    current, seen = -1, set[str]()
    for at, relation, parent, line in zip(
        terms.children, terms.relations, terms.parents, terms.edge_lines, strict=True
    ):
        if at != current:
            current, seen = at, set()
        if relation not in wanted or at in terms.obsolete or parent in seen:
            continue
        if parent in obsolete:
            message = f"concept {terms.ids[at]!r} lies below {parent!r}, which is obsolete"
            hint = "Correct the file: a term in use cannot lie below one that is not."
            raise source.error(message, line=line, hint=hint)
        seen.add(parent)
        listing.link(terms.ids[at], parent, line=line)


def _terms(source: Source) -> _Terms:
    terms = _Terms()
    inside = False
    for line, text in enumerate(_joined(source.text).split("\n"), 1):
        if not text or text[0] == "!":
            continue
        if text[0] == "[":
            stanza = _STANZA.fullmatch(text)
            if stanza is None:
                hint = "A stanza begins with a name in brackets, such as [Term]."
                raise source.error(f"the stanza {text[:60]!r} is broken", line=line, hint=hint)
            inside = stanza[1] == "Term"
            if inside:
                terms.start(line)
            continue
        colon = text.find(":")
        if colon < 0 and text.strip():
            of = f" of concept {terms.ids[-1]!r}" if inside else ""
            hint = "A line reads 'tag: value'."
            raise source.error(f"the line {text[:60]!r}{of} has no colon", line=line, hint=hint)
        if inside and text[:colon] in _USED:
            _add(source, terms, text[:colon], text[colon + 1 :], line)
    return terms


def _add(source: Source, terms: _Terms, tag: str, value: str, line: int) -> None:
    if tag == "name":
        terms.names[-1] = _text(value)
        return
    words = _text(value).split()
    concept = terms.ids[-1]
    if not words or (tag == "relationship" and len(words) < 2):
        hint = "Complete the line or remove it."
        raise source.error(f"the line {tag!r} of concept {concept!r} is incomplete", line=line, hint=hint)
    if tag == "is_a":
        terms.link("is_a", words[0], line)
    elif tag == "relationship":
        terms.link(words[0], words[1], line)
    elif tag == "alt_id":
        terms.other_ids.append((words[0], len(terms.ids) - 1))
    elif tag == "is_obsolete":
        if words[0] == "true":
            terms.obsolete.add(len(terms.ids) - 1)
    elif concept:
        hint = "Begin each term with [Term] on a line of its own."
        raise source.error(f"concept {concept!r} has a second id, {words[0]!r}", line=line, hint=hint)
    else:
        terms.ids[-1] = words[0]


def _check_identifiers(source: Source, terms: _Terms) -> None:
    lines: dict[str, int] = {}
    for concept, line in zip(terms.ids, terms.lines, strict=True):
        if not concept:
            raise source.error("the [Term] has no id", line=line, hint="Add a line 'id: …' to it.")
        first = lines.setdefault(concept, line)
        if first != line:
            message = f"concept {concept!r} is declared a second time (first on line {first})"
            raise source.error(message, line=line, hint="Keep one of the two stanzas.")


def _text(value: str) -> str:
    r"""A value without comment, trailing modifiers and escapes.

    >>> _text(' DOID:4 {source="x"} ! disease')
    'DOID:4'
    >>> _text(r" wow\! \{not a modifier\}")
    'wow! {not a modifier}'
    """
    modifiers = _MODIFIERS.search(value) if "}" in value else None
    if modifiers and _END_OF_MODIFIERS.search(value, modifiers.end()):
        value = value[: modifiers.start()].rstrip()
    if "\\" not in value:
        return value.partition("!")[0].strip()
    value = _COMMENT.sub("", value)
    return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), value).strip()


def _joined(text: str) -> str:
    """Join lines that go on after a backslash; empty lines keep the count."""
    if "\\\n" not in text:
        return text
    lines, begun = list[str](), list[str]()
    *others, last = text.split("\n")
    for line in others:
        if line.endswith("\\") and not line.endswith("\\\\"):
            begun.append(line[:-1])
        else:
            lines += ["".join([*begun, line]), *[""] * len(begun)]
            begun.clear()
    return "\n".join([*lines, "".join([*begun, last]), *[""] * len(begun)])


READER = Reader("obo", "OBO ontology", recognises, read)
