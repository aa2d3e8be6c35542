"""SNOMED CT releases: the snapshot folder in Release Format 2."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ...errors import did_you_mean
from ..listing import Listing
from ._base import Reader, Source

__all__ = ["READER"]

IS_A = "116680003"
_PREFERRED = b"900000000000548007"
_FULL_NAME = b"900000000000003001"
_SYNONYM = b"900000000000013009"
_UNPACK = "SNOMED CT releases are in UTF-8; unpack the release again."
_RANKS = {_FULL_NAME: 1, _SYNONYM: 2}

_HEADERS = {
    "Concept": b"id effectiveTime active moduleId definitionStatusId",
    "Relationship": b"id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId "
    b"characteristicTypeId modifierId",
    "Description": b"id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId",
    "Language": b"id effectiveTime active moduleId refsetId referencedComponentId acceptabilityId",
}
_PATTERNS = {
    "Concept": "*sct2_Concept_Snapshot*.txt*",
    "Relationship": "*sct2_Relationship_Snapshot*.txt*",
    "Description": "*sct2_Description_Snapshot*.txt*",
    "Language": "*der2_cRefset_Language*Snapshot*.txt*",
}
Row = tuple[Source, int, list[bytes]]  # the file, the line and the cells


def recognises(source: Source) -> bool:
    """Whether this is a folder (no other format is one), or a file of a release."""
    return source.path.is_dir() or source.head.startswith("id\teffectiveTime\tactive\tmoduleId\t")


def read(source: Source, *, parent: str = IS_A, language: str = "en", refset: str | None = None) -> Listing:
    """Read the active concepts and relationships of the snapshot found anywhere below the folder.

    Labels are the preferred terms of a language reference set, else the full names. Where several packages
    lie in the folder (the international edition and an extension), the latest row of each component counts.
    Lines are those of the relationship file.

    Parameters
    ----------
    parent
        The ``typeId`` of the relationship that leads to a parent; is-a if not given.
    language
        The language of the terms, where there are several.
    refset
        The language reference set that says which terms are preferred; the largest if not given.
    """
    files = _required(source, "Relationship")
    listing = Listing(files[0].name if len(files) == 1 else source.name)
    active = _concepts(source)
    labels = _labels(source, language, refset)
    for concept, is_active in active.items():
        if is_active:
            listing.add(concept.decode(), label=labels.get(concept, ""))
    type_id = str(parent).encode()
    for file, line, cells in _snapshot(files, "Relationship", b"\t%b\t" % type_id):
        child, above = cells[4], cells[5]
        if cells[2] != b"1" or cells[7] != type_id or active.get(child) is False:
            continue
        _check_edge(file, line, child, above, active)
        listing.link(child.decode(), above.decode(), line=line if len(files) == 1 else 0)
    if not listing.children and len(listing.ids) > 1:
        hint = f"parent= takes the typeId of a relationship; is-a is {IS_A}."
        raise source.error(f"there is no active relationship of the type {parent!r}", hint=hint)
    return listing


def _check_edge(file: Source, line: int, child: bytes, above: bytes, active: dict[bytes, bool]) -> None:
    if child not in active or active.get(above) is False:
        fault = "is not listed" if child not in active else f"lies below {above.decode()!r}, which is inactive"
        hint = "The files of the release do not fit together; unpack it again."
        raise file.error(f"concept {child.decode()!r} {fault}", line=line, hint=hint)


def _concepts(source: Source) -> dict[bytes, bool]:
    """Whether each concept is active."""
    files = _required(source, "Concept")
    active: dict[bytes, bool] = {}
    for file, line, cells in _snapshot(files, "Concept"):
        if cells[0] in active:
            hint = "A snapshot has one row per concept; was the full release taken instead?"
            raise file.error(f"concept {cells[0].decode()!r} has a second row", line=line, hint=hint)
        active[cells[0]] = cells[2] == b"1"
    return active


def _labels(source: Source, language: str, refset: str | None) -> dict[bytes, str]:
    """The best term of each concept: in the language, preferred rather than full name rather than synonym."""
    preferred = _preferred(source, refset)
    wanted = language.encode()
    ranks: dict[bytes, int] = {}
    labels: dict[bytes, str] = {}
    for file, line, cells in _snapshot(_files(source, "Description"), "Description"):
        if cells[2] != b"1":
            continue
        kind, concept = cells[6], cells[4]
        rank = 0 if kind == _SYNONYM and cells[0] in preferred else _RANKS.get(kind)
        if rank is None:
            continue
        if cells[5] != wanted:
            rank += 3
        if rank < ranks.get(concept, 6):
            ranks[concept] = rank
            labels[concept] = _term(file, line, cells)
    return labels


def _term(file: Source, line: int, cells: list[bytes]) -> str:
    try:
        return cells[7].decode()
    except UnicodeDecodeError:
        concept = cells[4].decode(errors="replace")
        raise file.error(f"the term of concept {concept!r} is not UTF-8", line=line, hint=_UNPACK) from None


def _is_utf8(line: bytes) -> bool:
    try:
        return line.isascii() or bool(line.decode())
    except UnicodeDecodeError:
        return False


def _preferred(source: Source, refset: str | None) -> set[bytes]:
    """The descriptions that a language reference set prefers."""
    sets: dict[bytes, set[bytes]] = {}
    for _, _, cells in _snapshot(_files(source, "Language"), "Language", _PREFERRED):
        if cells[2] == b"1" and cells[6] == _PREFERRED:
            sets.setdefault(cells[4], set()).add(cells[5])
    if refset is not None and str(refset).encode() not in sets:
        hint = did_you_mean(str(refset), sorted(name.decode() for name in sets)) if sets else "There is none."
        raise source.error(f"there is no language reference set {refset!r}", hint=hint)
    if refset is not None:
        return sets[str(refset).encode()]
    largest = sorted(sets, key=lambda name: (-len(sets[name]), name))
    return sets[largest[0]] if largest else set()


def _required(source: Source, kind: str) -> list[Source]:
    if not source.path.is_dir():
        hint = "Give the folder of the release, not a file."
        raise source.error("a SNOMED CT release is read from its folder", hint=hint)
    files = _files(source, kind)
    if not files:
        hint = f"Give the folder of a release, with a file sct2_{kind}_Snapshot….txt; other formats are one file."
        raise source.error(f"the folder holds no {kind.lower()} snapshot of SNOMED CT", hint=hint)
    return files


def _files(source: Source, kind: str) -> list[Source]:
    found = sorted(source.path.rglob(_PATTERNS[kind]))
    return [Source(path) for path in found if path.is_file() and path.name.endswith((".txt", ".gz"))]


def _snapshot(files: list[Source], kind: str, needle: bytes = b"") -> Iterator[Row]:
    """The rows that hold the needle; of several files, the latest row of each component."""
    rows = chain.from_iterable(_rows(file, kind, needle) for file in files)
    if len(files) < 2:
        return rows
    latest: dict[bytes, Row] = {}
    for row in rows:
        before = latest.setdefault(row[2][0], row)
        if before[2][1] < row[2][1]:
            latest[row[2][0]] = row
    return iter(latest.values())


def _rows(file: Source, kind: str, needle: bytes) -> Iterator[Row]:
    header = _HEADERS[kind].split()
    with file.opened() as lines:
        if next(lines, b"").removeprefix(b"\xef\xbb\xbf").split() != header:
            hint = f"The first line should name the columns {b', '.join(header).decode()}."
            raise file.error(f"the file is not a {kind.lower()} snapshot", line=1, hint=hint)
        for number, line in enumerate(lines, 2):
            if needle in line:
                if kind != "Description" and not _is_utf8(line):  # of those, only the term is looked at, later
                    raise file.error("the row is not UTF-8", line=number, hint=_UNPACK)
                cells = line.rstrip(b"\r\n").split(b"\t")
                if len(cells) != len(header):
                    message = f"the row has {len(cells)} cells instead of {len(header)}"
                    raise file.error(message, line=number, hint="Unpack the release again.")
                yield file, number, cells


READER = Reader("rf2", "SNOMED CT snapshot folder", recognises, read)
