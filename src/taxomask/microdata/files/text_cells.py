"""Cells of a text file: how values are written, and how cells that a spreadsheet would run are disarmed."""

from __future__ import annotations

import re
from typing import Any

from ...errors import DataError
from .base import unlike
from .dialect import Dialect

__all__ = ["armed_names", "disarmed_names", "lines", "without_apostrophe", "written"]

# A leading = + - @ makes a spreadsheet take a cell for a formula; a number or a sign alone is none.
_FORMULA = r"^'*[=+\-@\t\r]"
_HARMLESS = (
    r"^[+\-]?([0-9]+([.,][0-9]+)?([eE][+\-]?[0-9]+)?)?$"
    "|^[+\\-]?[$€£¥]? ?[0-9]{1,3}([., '’\u00a0\u202f]?[0-9]{3})*([.,][0-9]+)?[ \u00a0]?[$€£¥%]?$"
)
_DISARMED = r"^'+[=+\-@\t\r]"


def written(array: Any, name: str, dialect: Dialect, safe_cells: bool) -> Any:
    """A column as the texts of its cells; null where it has no value."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = array.type
    if types.is_string(kind):
        return disarmed(array) if safe_cells else array
    try:
        texts = array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise unlike(name, kind, "a text file") from None
    if types.is_floating(kind):  # a whole one stays a fraction, or it would come back as an integer
        texts = pc.replace_substring_regex(texts, r"^([+-]?[0-9]+)$", r"\1.0")
    if (types.is_floating(kind) or types.is_decimal(kind)) and dialect.decimal != ".":
        return pc.replace_substring(texts, ".", dialect.decimal)
    if types.is_timestamp(kind) and dialect.time_sign != " ":
        return pc.replace_substring(texts, " ", dialect.time_sign)
    return texts


def lines(columns: list[Any], textual: list[bool], dialect: Dialect) -> bytes:
    """Rows of cells as they stand in the file."""
    import pyarrow.compute as pc

    cells = [_quoted(column, text, dialect) for column, text in zip(columns, textual, strict=True)]
    rows = pc.binary_join_element_wise(*cells, dialect.delimiter, null_handling="replace", null_replacement="")
    rows = pc.binary_join_element_wise(rows, "", dialect.line_end)
    length = pc.sum(pc.binary_length(rows)).as_py()
    text = rows.buffers()[2].slice(0, length or 0).to_pybytes()
    if dialect.codec == "utf-8":
        return text
    try:
        return text.decode().encode(dialect.codec)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{error.object[error.start : error.end]!r} cannot be written in {dialect.codec}, as the data are.",
            hint="Save the data in UTF-8 first.",
        ) from None


def _quoted(texts: Any, textual: bool, dialect: Dialect) -> Any:
    import pyarrow.compute as pc

    if dialect.quoting == "all" or (dialect.quoting == "text" and textual):
        doubled = pc.replace_substring(pc.fill_null(texts, ""), '"', '""')
        return pc.binary_join_element_wise('"', doubled, '"', "")
    needy = pc.match_substring_regex(texts, f'["\r\n{re.escape(dialect.delimiter)}]')
    if not pc.any(needy).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needy, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


# --------------------------------------------------------------------------------------- formulas


def disarmed(texts: Any) -> Any:
    """Texts that a spreadsheet takes for formulas, with an apostrophe in front; `without_apostrophe` undoes it."""
    import pyarrow.compute as pc

    formulas = pc.and_(pc.match_substring_regex(texts, _FORMULA), pc.invert(pc.match_substring_regex(texts, _HARMLESS)))
    if not pc.any(formulas).as_py():
        return texts
    return pc.if_else(formulas, pc.binary_join_element_wise("'", texts, ""), texts)


def without_apostrophe(texts: Any) -> Any:
    """What `disarmed` was given."""
    import pyarrow.compute as pc

    return pc.if_else(pc.match_substring_regex(texts, _DISARMED), pc.utf8_slice_codeunits(texts, 1), texts)


def disarmed_names(names: list[str]) -> list[str]:
    import pyarrow as pa

    return disarmed(pa.array(names, pa.string())).to_pylist()


def armed_names(names: list[str]) -> list[str]:
    import pyarrow as pa

    return without_apostrophe(pa.array(names, pa.string())).to_pylist()
