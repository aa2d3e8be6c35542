"""Tables in text files: the delimiter, the rows with their lines, the columns by name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ...errors import did_you_mean
from ._base import Source

__all__ = ["Columns", "Row", "columns", "first_rows", "has_column", "rows"]

Row = tuple[int, list[str]]

DELIMITERS = (",", ";", "\t", "|")
CONCEPT = ("id", "code", "concept", "concept_id", "concept_code", "synset", "child", "node", "notation")
PARENT = (
    *("parent", "parent_id", "parent_code", "parent_concept", "parentid", "broader", "broader_id"),
    *("broader_code", "is_a", "isa", "subclass_of", "subclassof", "hypernym", "superclass"),
)
CODE = ("code_dotted", "notation", "code")
LABEL = ("label", "name", "title", "description", "preflabel", "preferred_label", "term", "text")


@dataclass(frozen=True)
class Columns:
    """Where to find what in a row; None for what the table does not have."""

    concept: int
    parent: int | None
    label: int | None
    code: int | None
    width: int


def rows(source: Source, delimiter: str | None = None) -> Iterator[Row]:
    """The rows that are not blank, their cells stripped, with the line on which each begins."""
    if delimiter is None:
        delimiter = _sniffed(source)
    elif not isinstance(delimiter, str) or len(delimiter) != 1:
        hint = "Give a comma, a semicolon, a tab or the like."
        raise source.error(f"delimiter must be one character; got {delimiter!r}", hint=hint)
    table = csv.reader(io.StringIO(source.text), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in table:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield line, stripped
            line = table.line_num + 1
    except csv.Error as error:
        hint = "Look for a quotation mark that is not closed or not doubled."
        raise source.error(f"the row cannot be read ({error})", line=line, hint=hint) from None


def first_rows(source: Source, delimiter: str | None = None) -> list[list[str]]:
    """The rows at the beginning of the file, to recognise its format."""
    parsed = _parsed_head(source, _sniffed(source) if delimiter is None else delimiter)
    return [[cell.strip() for cell in cells] for cells in parsed]


def has_column(header: Sequence[str], known: Sequence[str]) -> bool:
    """Whether one of the known names is in the header."""
    return any(_plain(name) in known for name in header)


def columns(
    source: Source,
    header: list[str],
    line: int,
    *,
    concept: str | None = None,
    parent: str | None = None,
    label: str | None = None,
    code: str | None = None,
) -> Columns:
    """The columns asked for by name, or else those that have a known name.

    Without a known name for the concept, it is the first column that is not the parent.
    """
    taken: list[int] = []

    def find(asked: str | None, known: Sequence[str]) -> int | None:
        found = _asked(source, header, line, asked) if asked is not None else _known(header, known, taken)
        if found is not None:
            taken.append(found)
        return found

    parents = find(parent, PARENT)
    concepts = find(concept, CONCEPT)
    if concepts is None:
        concepts = next((i for i in range(len(header)) if i not in taken), None)
    if concepts is None:
        hint = "Give the name of the column by concept=."
        raise source.error("there is no column of concepts", line=line, hint=hint)
    taken.append(concepts)
    return Columns(concepts, parents, find(label, LABEL), find(code, CODE), len(header))


def _asked(source: Source, header: list[str], line: int, name: str) -> int:
    for names, wanted in ((header, name), ([_plain(cell) for cell in header], _plain(str(name)))):
        if names.count(wanted) > 1:
            raise source.error(f"there are two columns {name!r}", line=line, hint="Rename one of them.")
        if wanted in names:
            return names.index(wanted)
    raise source.error(f"there is no column {name!r}", line=line, hint=did_you_mean(str(name), header))


def _known(header: list[str], known: Sequence[str], taken: Sequence[int]) -> int | None:
    free = {_plain(cell): i for i, cell in reversed(list(enumerate(header))) if i not in taken}
    return next((free[name] for name in known if name in free), None)


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _parsed_head(source: Source, delimiter: str) -> list[list[str]]:
    try:
        table = csv.reader(io.StringIO(source.head), delimiter=delimiter)
        return [cells for cells in islice(table, 1000) if any(cells)]
    except csv.Error:
        return []


def _sniffed(source: Source) -> str:
    """The delimiter that cuts the first rows into most columns of equal number."""
    best, most = "", 1
    for delimiter in DELIMITERS:
        widths = {len(cells) for cells in _parsed_head(source, delimiter)}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    first = source.head.lstrip().split("\n", 1)[0]
    return best or max(DELIMITERS, key=first.count)
