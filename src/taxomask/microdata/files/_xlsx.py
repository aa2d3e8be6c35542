"""The smallest workbook that Excel opens: one sheet, cells as they come, the same bytes every time."""

from __future__ import annotations

import datetime as dt
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

from ...errors import DataError
from .base import Extra, texts_in, unlike

__all__ = ["SHEET", "formulas_without_values", "layout_of", "workbook_extras", "write_workbook"]

_ROWS, _COLUMNS, _LENGTH = 1_048_576, 16_384, 32_767  # what Excel can hold
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_DOCUMENT}/styles" Target="styles.xml"/></Relationships>',
    # Styles 1, 2 and 3: dates, dates with times, times.
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><numFmts count="2">'
    '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/>'
    '<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/>'
    '<xf numFmtId="21" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
_BOOK, _SHEET = "xl/workbook.xml", "xl/worksheets/sheet1.xml"
_CELL = re.compile(
    '</?row>|<c/>|<c( [st]="[a-zA-Z0-9]+")*>(<is><t( xml:space="preserve")?>[^<]*</t></is>|<v>[^<]*</v>)</c>'
)
_WORKSHEET = f'<worksheet xmlns="{_MAIN}">'
_WORKBOOK = (
    f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets><sheet name="{{}}" sheetId="1" r:id="rId1"/></sheets>'
    "</workbook>"
)
_IN_BOOK = re.compile(re.escape(_HEAD + _WORKBOOK).replace(re.escape("{}"), '([^"]*)'))
SHEET = "data"  # the name of a sheet that has none
_YES = ("1", "true")
_EPOCH = dt.datetime(1899, 12, 30)
_OLDEST = dt.datetime(1900, 3, 1)  # Excel counts a 29 February 1900
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def write_workbook(path: Path, sheet: str, names: Sequence[str], batches: Iterable[Any]) -> None:
    """Write batches of a table as the only sheet of a workbook."""
    if len(names) > _COLUMNS:
        raise DataError(f"Excel holds at most {_COLUMNS:,} columns; these are {len(names):,}.", hint="Write CSV.")
    book = _WORKBOOK.format(escape(sheet))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for part, text in (*_PARTS.items(), (_BOOK, book)):
            package.writestr(_member(part), _HEAD + text)
        with package.open(_member(_SHEET), "w", force_zip64=True) as file:
            file.write(f"{_HEAD}{_WORKSHEET}<sheetData>".encode())
            file.write(_row(_text(name) for name in names))
            rows = 1
            for batch in batches:
                rows += batch.num_rows
                if rows > _ROWS:
                    raise DataError(f"Excel holds at most {_ROWS - 1:,} rows of data.", hint="Write CSV or Parquet.")
                columns = [_cells(array, name) for array, name in zip(batch.columns, names, strict=True)]
                file.write(b"".join(map(_row, zip(*columns, strict=True))))
            file.write(b"</sheetData></worksheet>")


def workbook_extras(path: Path) -> Iterator[Extra]:
    """All that stands in a workbook and is not a cell of its sheet; not what every workbook of ours says."""
    with zipfile.ZipFile(path) as package:
        yield from texts_in(package.comment, "the comment of the file")
        for member in package.infolist():
            name, where = member.filename, f"{member.filename} of the workbook"
            yield from texts_in(member.comment + member.extra, where)
            content = package.read(member).decode("utf-8", "replace")
            if name == _BOOK and (found := _IN_BOOK.fullmatch(content)):
                content = "" if found[1] == SHEET else found[1]
            elif name == _SHEET:
                before, _, rest = content.partition("<sheetData>")
                cells, _, after = rest.rpartition("</sheetData>")
                content = before.removeprefix(_HEAD + _WORKSHEET) + _CELL.sub("", cells)
                content += after.removesuffix("</worksheet>")
            elif content == _HEAD + _PARTS.get(name, ""):
                content = ""
            if name not in (*_PARTS, _BOOK, _SHEET):
                yield Extra("the parts of the workbook", name)
            for piece in re.split('<[/?]?[A-Za-z:]+|[<>"]', content):
                if piece.strip(" =/?"):
                    yield Extra(where, unescape(piece).strip(), "said")


def formulas_without_values(path: Path, sheet: str) -> set[int]:
    """The columns of a sheet, counted from 0, in which a formula stands whose value was not saved with it."""
    with zipfile.ZipFile(path) as package:
        content = package.read(_part_of(package, sheet)).decode("utf-8", "replace")
    cells = re.finditer(
        r'<c [^>]*?r="([A-Z]+)[0-9]+"[^>]*>\s*<f(?:/>|[\s>][^<]*(?:</f>)?)\s*(?:<v>([^<]*)</v>)?', content
    )
    return {_place(cell[1]) for cell in cells if not cell[2]}


@dataclass(frozen=True)
class Layout:
    """What a sheet shows otherwise than its cells tell, in columns and rows counted from 0.

    ``columns`` and ``rows`` that a person or a filter has hidden, and ``merged`` cells by column: their last row.
    """

    columns: set[int]
    rows: set[int]
    merged: dict[int, int]


def layout_of(path: Path, sheet: str) -> Layout:
    """How a sheet is laid out."""
    with zipfile.ZipFile(path) as package:
        content = package.read(_part_of(package, sheet))
    columns: set[int] = set()
    for tag in re.findall(rb"<(?:\w+:)?col\b[^>]*>", content.partition(b"sheetData")[0]):
        said = _said(tag)
        if said.get("hidden") in _YES:
            columns |= set(range(int(said["min"]) - 1, min(int(said["max"]), _COLUMNS)))
    rows, at = set(), -1
    for tag in re.findall(rb"<(?:\w+:)?row\b[^>]*>", content):
        said = _said(tag)
        at = int(said["r"]) - 1 if "r" in said else at + 1
        if said.get("hidden") in _YES:
            rows.add(at)
    merged: dict[int, int] = {}
    for first, last, row in re.findall(rb"<(?:\w+:)?mergeCell\b[^>]*?\bref=.([A-Z]+)[0-9]+:([A-Z]+)([0-9]+)", content):
        for place in range(_place(first.decode()), min(_place(last.decode()) + 1, _COLUMNS)):
            merged[place] = max(merged.get(place, 0), int(row) - 1)
    return Layout(columns, rows, merged)


def _said(tag: bytes) -> dict[str, str]:
    """The attributes of a tag."""
    return dict(re.findall(r"""([\w:]+)\s*=\s*["']([^"']*)""", tag.decode("utf-8", "replace")))


def _part_of(package: zipfile.ZipFile, sheet: str) -> str:
    """The part of a workbook that holds a sheet."""
    parts = {}
    for one in re.findall(
        "<Relationship [^>]*>", package.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
    ):
        said = dict(re.findall(r'(\w+)="([^"]*)"', one))
        parts[said.get("Id")] = said.get("Target", "")
    for one in re.findall(r"<(?:\w+:)?sheet [^>]*>", package.read(_BOOK).decode("utf-8", "replace")):
        said = dict(re.findall(r'([\w:]+)="([^"]*)"', one))
        if unescape(said.get("name", "")) == sheet:
            target = parts.get(said.get("r:id"), "")
            return target[1:] if target.startswith("/") else f"xl/{target}"
    return _SHEET


def _place(letters: str) -> int:
    """The place of a column by its letters.

    >>> _place("A"), _place("Z"), _place("AA")
    (0, 25, 26)
    """
    place = 0
    for letter in letters:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of 1980, so that the same table gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _row(cells: Iterable[str]) -> bytes:
    return f"<row>{''.join(cells)}</row>".encode()


def _cells(array: Any, name: str) -> list[str]:
    import pyarrow.types as types

    kind = array.type
    write: Callable[[Any], str]
    if types.is_boolean(kind):
        write = _truth
    elif types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        write = _number
    elif types.is_date(kind) or types.is_timestamp(kind):
        write = _moment
    elif types.is_time(kind):
        write = _time
    elif types.is_string(kind) or types.is_null(kind):
        write = _text
    else:
        raise unlike(name, kind, "Excel")
    return ["<c/>" if value is None else write(value) for value in array.to_pylist()]


def _text(value: str) -> str:
    if len(value) > _LENGTH:
        raise DataError(f"Excel holds at most {_LENGTH:,} characters in a cell: {value[:30]!r} …", hint="Write CSV.")
    safe = _CONTROL.sub(lambda found: f"_x{ord(found[0]):04X}_", value)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(safe, quote=False)}</t></is></c>'


def _number(value: Any) -> str:
    if isinstance(value, int):
        return _text(str(value)) if abs(value) > 2**53 else f"<c><v>{value}</v></c>"  # Excel would round larger ones
    return f"<c><v>{float(value)!r}</v></c>" if math.isfinite(value) else "<c/>"


def _truth(value: bool) -> str:
    return f'<c t="b"><v>{int(value)}</v></c>'


def _moment(value: dt.date) -> str:
    date_only = not isinstance(value, dt.datetime)
    moment = dt.datetime(*value.timetuple()[:6], getattr(value, "microsecond", 0))
    if moment < _OLDEST:
        return _text(str(value))
    days = (moment - _EPOCH) / dt.timedelta(days=1)
    return f'<c s="{1 if date_only else 2}"><v>{int(days) if date_only else repr(days)}</v></c>'


def _time(value: dt.time) -> str:
    seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return f'<c s="3"><v>{seconds / 86_400!r}</v></c>'
