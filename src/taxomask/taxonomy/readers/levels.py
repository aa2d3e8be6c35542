"""Level files, as ARX writes them: each row a value and its ancestors up to the root."""

from __future__ import annotations

import re
from itertools import pairwise

from ..listing import Listing
from ._base import Reader, Source
from ._table import PARENT, first_rows, has_column, rows

__all__ = ["READER"]

_HEADER = re.compile(r"values?|leaf|level[ _-]?0", re.IGNORECASE)


def recognises(source: Source) -> bool:
    """Whether the rows have the same number of cells and end in the same root."""
    table = first_rows(source)
    if not table or len(table[0]) < 2 or has_column(table[0], PARENT):
        return False
    if _HEADER.fullmatch(table[0][0]):
        return True
    roots = {next((cell for cell in reversed(cells) if cell), "") for cells in table}
    return len({len(cells) for cells in table}) == 1 and len(roots) == 1 and (len(table) > 1 or roots == {"*"})


def read(source: Source, *, delimiter: str | None = None) -> Listing:
    """Read rows ``value;level1;…;root``, with or without a header.

    A name that is repeated on the next level counts once, and empty cells are left out, so that values may
    lie at different depths. A name has one parent throughout the file.

    Parameters
    ----------
    delimiter
        The character between the cells, if it is not to be found out.
    """
    listing = Listing(source.name)
    parents: dict[str, tuple[str, int]] = {}
    declared: set[str] = set()
    values: dict[str, int] = {}
    width = 0
    for line, cells in rows(source, delimiter):
        if not width:
            width = _width(source, line, cells)
            if _HEADER.fullmatch(cells[0]):
                continue
        if len(cells) != width:
            hint = "Give every row the same number of cells; a cell may be empty."
            raise source.error(f"the row has {len(cells)} cells instead of {width}", line=line, hint=hint)
        chain = _chain(cells)
        if cells[0] and values.setdefault(cells[0], line) != line:
            message = f"concept {cells[0]!r} stands first in a row a second time (first on line {values[cells[0]]})"
            raise source.error(message, line=line, hint="Drop one of the two rows.")
        for concept in chain:
            if concept not in declared:
                declared.add(concept)
                listing.add(concept, line=line)
        for child, parent in pairwise(chain):
            before, at = parents.setdefault(child, (parent, line))
            if before != parent:
                message = f"concept {child!r} has two parents: {before!r} on line {at} and {parent!r} here"
                hint = "In a levels file a name has one parent: rename one of the two, or correct the row."
                raise source.error(message, line=line, hint=hint)
            if at == line:
                listing.link(child, parent, line=line)
    return listing


def _width(source: Source, line: int, cells: list[str]) -> int:
    if len(cells) < 2:
        hint = "A levels file has the value and at least its root in each row; or name the delimiter."
        raise source.error("the row has one cell only", line=line, hint=hint)
    return len(cells)


def _chain(cells: list[str]) -> list[str]:
    """The value and its ancestors, without empty cells and repetitions of the cell before.

    >>> _chain(["Oslo", "", "Norway", "Norway", "*"])
    ['Oslo', 'Norway', '*']
    """
    filled = [cell for cell in cells if cell]
    return [cell for i, cell in enumerate(filled) if i == 0 or cell != filled[i - 1]]


READER = Reader("levels", "ARX hierarchy: value;level1;…;root", recognises, read)
