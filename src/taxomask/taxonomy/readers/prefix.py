"""Code lists without parents: the parent of a code is the longest listed code that it begins with."""

from __future__ import annotations

from collections.abc import Container

from ..listing import Listing
from ._base import Reader, Source
from ._table import CONCEPT, PARENT, Columns, columns, first_rows, has_column, rows

__all__ = ["READER"]

_CODE = ("code", "codes", "notation", "concept_code", "code_dotted")
_IGNORED = str.maketrans("", "", ". ")
_FEW = 8  # more columns than that are a table of data


def recognises(source: Source) -> bool:
    """Whether the first row names a column of codes, half of which begin with another one."""
    table = first_rows(source)
    if len(table) < 3 or len(table[0]) > _FEW or has_column(table[0], PARENT):
        return False
    if not has_column(table[0], _CODE):
        return False
    at = columns(source, table[0], 1).concept
    codes = {_plain(cells[at]) for cells in table[1:] if len(cells) == len(table[0])}
    below = sum(_parent(code, codes) != "" for code in codes)
    return 2 * below >= len(codes)


def read(
    source: Source,
    *,
    concept: str | None = None,
    label: str | None = None,
    code: str | None = None,
    delimiter: str | None = None,
) -> Listing:
    """Read a list of codes such as NACE (01.11 → 01.1 → 01) or ISCO (0110 → 011 → 01 → 0).

    Dots and spaces in codes do not count. A code that begins with no other one is a root. Without a header,
    the first column is the code and the second, if any, the label.

    Parameters
    ----------
    concept, label, code
        The names of the columns, if not the usual ones; ``code`` is a second notation.
    delimiter
        The character between the cells, if it is not to be found out.
    """
    listing = Listing(source.name)
    asked = {"concept": concept, "label": label, "code": code}
    where: Columns | None = None
    for line, cells in rows(source, delimiter):
        if where is None:
            named = {name: column for name, column in asked.items() if column is not None}
            if named or has_column(cells, CONCEPT) or has_column(cells, _CODE):
                where = columns(source, cells, line, **named)
                continue
            where = Columns(0, None, 1 if len(cells) > 1 else None, None, len(cells))
        _declare(source, listing, where, line, cells)
    plain = _distinct(source, listing)
    for key, at in plain.items():
        parent = _parent(key, plain)
        if parent:
            listing.link(listing.ids[at], listing.ids[plain[parent]], line=listing.lines[at])
    return listing


def _distinct(source: Source, listing: Listing) -> dict[str, int]:
    """The position of each code in the listing, by the code without dots and spaces."""
    positions: dict[str, int] = {}
    for at, (code, line) in enumerate(zip(listing.ids, listing.lines, strict=True)):
        first = positions.setdefault(_plain(code), at)
        if first != at and listing.ids[first] == code:
            message = f"concept {code!r} stands there a second time (first on line {listing.lines[first]})"
            raise source.error(message, line=line, hint="Drop one of the two rows.")
        if first != at:
            message = f"concept {code!r} cannot be told from {listing.ids[first]!r}: dots and spaces do not count"
            raise source.error(message, line=line, hint="Rename one of the two, or add a column of parents.")
    return positions


def _declare(source: Source, listing: Listing, where: Columns, line: int, cells: list[str]) -> None:
    if len(cells) != where.width:
        raise source.error(
            f"the row has {len(cells)} cells instead of {where.width}",
            line=line,
            hint="Put text that holds the delimiter in quotation marks, or name the delimiter.",
        )
    if not cells[where.concept]:
        raise source.error("the row names no concept", line=line, hint="Fill it in or drop the row.")
    label = "" if where.label is None else cells[where.label]
    code = "" if where.code is None else cells[where.code]
    listing.add(cells[where.concept], label=label, code=code, line=line)


def _plain(code: str) -> str:
    return code.translate(_IGNORED)


def _parent(code: str, codes: Container[str]) -> str:
    """The longest proper beginning of a code that is itself a code, or nothing.

    >>> _parent("0111", {"01", "011", "0112"})
    '011'
    """
    return next((code[:cut] for cut in range(len(code) - 1, 0, -1) if code[:cut] in codes), "")


READER = Reader("prefix", "list of codes, each below the longest code that it begins with", recognises, read)
