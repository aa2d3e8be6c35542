"""Edge lists: a table with one row per concept and parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from ..listing import Listing
from ._base import Reader, Source
from ._table import PARENT, Columns, Row, columns, first_rows, has_column, rows

__all__ = ["READER"]


def recognises(source: Source) -> bool:
    """Whether the first row names a column of parents."""
    table = first_rows(source)
    return bool(table) and len(table[0]) > 1 and has_column(table[0], PARENT)


def names_columns(source: Source, options: Mapping[str, object]) -> bool:
    """Whether columns of the first row are named by the options of this format."""
    asked = {options[name] for name in ("concept", "parent", "label", "code") if options.get(name) is not None}
    table = first_rows(source) if asked else []
    return bool(table) and asked <= set(table[0])


def read(
    source: Source,
    *,
    concept: str | None = None,
    parent: str | None = None,
    label: str | None = None,
    code: str | None = None,
    delimiter: str | None = None,
) -> Listing:
    """Read a table of concepts and parents.

    A concept with several parents has several rows; a root has an empty parent. In a table without an empty
    parent, the name that occurs as a parent only is the root. A table of two columns without header is read
    as child and parent.

    Parameters
    ----------
    concept, parent, label, code
        The names of the columns, if not the usual ones; ``code`` is the notation (such as a dotted ICD code).
    delimiter
        The character between the cells, if it is not to be found out.
    """
    table = rows(source, delimiter)
    asked = {"concept": concept, "parent": parent, "label": label, "code": code}
    given = {name: column for name, column in asked.items() if column is not None}
    line, first = next(table)
    if not given and not has_column(first, PARENT) and len(first) == 2:
        return _Edges(source, Columns(0, 1, None, None, 2), 1).read(chain([(line, first)], table))
    where = columns(source, first, line, **given)
    if where.parent is None:
        hint = f"Give its name by parent=. The columns are {', '.join(map(repr, first[:12]))}."
        raise source.error("there is no column of parents", line=line, hint=hint)
    return _Edges(source, where, where.parent).read(table)


class _Edges:
    """The listing in the making, and what is needed to notice rows that contradict each other."""

    def __init__(self, source: Source, columns: Columns, parent: int) -> None:
        self.source = source
        self.columns = columns
        self.parent = parent
        self.listing = Listing(source.name)
        self.position: dict[str, int] = {}  # of each concept in the listing
        self.seen: dict[tuple[str, str], int] = {}  # the line of each edge
        self.first_parent: dict[str, str] = {}  # of each concept; empty for a root
        self.rooted = False

    def read(self, table: Iterable[Row]) -> Listing:
        for line, cells in table:
            if len(cells) != self.columns.width:
                raise self.source.error(
                    f"the row has {len(cells)} cells instead of {self.columns.width}",
                    line=line,
                    hint="Put text that holds the delimiter in quotation marks, or name the delimiter.",
                )
            self._declare(line, cells)
            self._place(line, cells)
        if not self.rooted:
            self._add_roots()
        return self.listing

    def _declare(self, line: int, cells: list[str]) -> None:
        columns, listing = self.columns, self.listing
        concept = cells[columns.concept]
        label = "" if columns.label is None else cells[columns.label]
        code = "" if columns.code is None else cells[columns.code]
        if not concept:
            raise self.source.error("the row names no concept", line=line, hint="Fill it in or drop the row.")
        at = self.position.setdefault(concept, len(listing.ids))
        if at == len(listing.ids):
            listing.add(concept, label=label, code=code, line=line)
            return
        for name, values, value in (("label", listing.labels, label), ("code", listing.codes, code)):
            if value and values[at] and value != values[at]:
                before = f"{values[at]!r} on line {listing.lines[at]}"
                hint = "A concept has one label and one code; correct one of the rows."
                message = f"concept {concept!r} has the {name} {value!r}, but {before}"
                raise self.source.error(message, line=line, hint=hint)
            values[at] = values[at] or value

    def _place(self, line: int, cells: list[str]) -> None:
        concept, parent = cells[self.columns.concept], cells[self.parent]
        before = self.seen.setdefault((concept, parent), line)
        if before != line:
            below = f"below {parent!r}" if parent else "as a root"
            message = f"concept {concept!r} stands {below} a second time (first on line {before})"
            raise self.source.error(message, line=line, hint="Drop one of the two rows.")
        first = self.first_parent.setdefault(concept, parent)
        if (not first) != (not parent):
            message = f"concept {concept!r} stands as a root on one row and below {first or parent!r} on another"
            raise self.source.error(message, line=line, hint="Drop the row without parent, or the other.")
        if parent:
            self.listing.link(concept, parent, line=line)
        else:
            self.rooted = True

    def _add_roots(self) -> None:
        """Without a row for a root, a name that is a parent only is one.

        Several such names in a table that describes its concepts are more likely parents that are missing;
        they are left for the taxonomy to refuse.
        """
        edges = zip(self.listing.parents, self.listing.edge_lines, strict=True)
        roots = {parent: line for parent, line in edges if parent not in self.position}
        bare = self.columns.label is None and self.columns.code is None
        if bare or len(roots) == 1:
            for parent, line in roots.items():
                self.listing.add(parent, line=line)


READER = Reader("edges", "CSV or TSV with a column of parents", recognises, read)
