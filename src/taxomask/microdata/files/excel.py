"""Excel workbooks (.xlsx): the only sheet, or one by its name; its first row is the header, or the one below titles."""

from __future__ import annotations

import datetime as dt
import shlex
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._support.spelling import listing, spell
from ...errors import DataError, did_you_mean
from ._xlsx import SHEET, formulas_without_values, layout_of, workbook_extras, write_workbook
from .around import rows_below, top_of
from .base import ArrowTable, Batches, Extra, Format, Source, Text, import_extra, named, plain
from .fragile import whole

__all__ = ["FORMAT", "LARGEST", "sheets_of", "spoken"]

_AGAIN = "Save it again as .xlsx."
_LOOKED_AT = 50  # rows, to find the one that names the columns
LARGEST = 1 << 30  # bytes of an unpacked workbook; a sheet is at most 1,048,576 rows long


class _Excel(Source):
    format = "excel"
    whole = True

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        calamine = import_extra("python_calamine", "formats", "Reading Excel files")
        with whole(path, "Excel", _AGAIN):
            _check_size(path)
            with calamine.CalamineWorkbook.from_path(str(path)) as book:
                sheets = _filled(calamine, book)
                self.sheet = _chosen(path, book, sheets, sheet)
                chosen = book.get_sheet_by_name(self.sheet)
                rows = chosen.to_python()
        while rows and not any(cell != "" for cell in rows[-1]):
            rows.pop()
        if not rows:
            raise DataError(
                f"{path}: the sheet {self.sheet!r} is empty.", hint="Put the table there, or choose another sheet."
            )
        top = top_of(rows[:_LOOKED_AT])
        if top is None:
            raise DataError(
                f"{path}: most columns of sheet {self.sheet!r} have no name.",
                hint="One row of texts names all columns; remove notes beside the table.",
            )
        self.above = top.above
        self.header_row = chosen.start[0] + top.place + 1  # as Excel counts
        rows = rows[top.place + 1 :]
        below = rows_below(rows[-_LOOKED_AT:], len(top.names))
        self.below = tuple(spell(cell) for row in rows[len(rows) - below :] for cell in row if cell != "")
        rows = rows[: len(rows) - below]
        self.others = tuple(spoken(name, hidden) for name, hidden in sheets.items() if name != self.sheet)
        self._path = path
        where = path if sheet is None else f"{path}#{sheet}"
        super().__init__(where, named(top.names), len(rows))
        with whole(path, "Excel", _AGAIN):
            self._table = _table(self.names, rows)
            empty = [at for at, column in enumerate(self._table.columns) if column.null_count == len(rows)]
            uncounted = formulas_without_values(path, self.sheet) if empty else set()
            layout = layout_of(path, self.sheet)
        places = {chosen.start[1] + at: name for at, name in enumerate(self.names)}
        self.hidden = tuple(name for at, name in places.items() if at in layout.columns)
        inside = range(self.header_row, self.header_row + len(rows))
        self.told = (
            *([f"The sheet {self.sheet} is hidden in the workbook."] if sheets.get(self.sheet) else []),
            *_hidden(self.hidden, sum(at in layout.rows for at in inside), len(rows)),
            *_merged([name for at, name in places.items() if layout.merged.get(at, 0) in inside]),
        )
        unknown = [self.names[at] for at in empty if chosen.start[1] + at in uncounted]
        if unknown:
            raise DataError(
                f"{path}: column {listing(unknown)} holds formulas, and the file does not hold what they amount to.",
                hint="Open it in Excel or LibreOffice and save it again; that computes them.",
            )

    def extras(self) -> Iterator[Extra]:
        with whole(self._path, "Excel", _AGAIN):
            yield from workbook_extras(self._path)

    def _read(self, columns: list[str]) -> ArrowTable:
        return self._table.select(columns)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        return self._read(columns).to_reader(rows)


def sheets_of(path: Path) -> dict[str, bool]:
    """The sheets of a workbook that hold something, and whether they are hidden."""
    calamine = import_extra("python_calamine", "formats", "Reading Excel files")
    with whole(path, "Excel", _AGAIN):
        _check_size(path)
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            return _filled(calamine, book)


def spoken(sheet: str, hidden: bool) -> str:
    """A sheet as people are told of it."""
    return f"{sheet} (hidden)" if hidden else sheet


def _filled(calamine: Any, book: Any) -> dict[str, bool]:
    shown = {one.name for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible}
    return {name: name not in shown for name in book.sheet_names if book.get_sheet_by_name(name).height}


def _chosen(path: Path, book: Any, filled: Mapping[str, bool], wanted: str | None) -> str:
    """The sheet to read; never one of several that nobody chose."""
    names: list[str] = list(book.sheet_names)
    if wanted is not None:
        if wanted not in names:
            raise DataError(f"{path} has no sheet {wanted!r}.", hint=did_you_mean(wanted, names))
        return wanted
    if len(filled) > 1:
        first = min(filled, key=lambda name: filled[name])  # that is not hidden, if there is one
        raise DataError(
            f"{path} has {len(filled)} sheets: {', '.join(spoken(repr(name), filled[name]) for name in filled)}.",
            hint=f"Say which one: inspect it with --sheet {shlex.quote(first)}, or write {path.name}#{first}.",
        )
    return next(iter([*filled, *names]))


def _merged(columns: Sequence[str]) -> list[str]:
    """What became of merged cells."""
    if not columns:
        return []
    return [f"Cells are merged in {listing(columns)}: the first of them has the value, and the others have none."]


def _hidden(columns: Sequence[str], rows: int, every: int) -> list[str]:
    """What the workbook hides and is read nevertheless."""
    told = []
    if columns:
        several = len(columns) > 1
        told.append(
            f"Hidden in the workbook {'are columns' if several else 'is column'} {listing(columns)}: here "
            f"{'they are columns' if several else 'it is a column'} like any other."
        )
    if rows:
        told.append(
            f"Hidden in the workbook, by hand or by a filter, {'are' if rows > 1 else 'is'} {rows:,} of the {every:,} "
            f"rows: here {'they are records' if rows > 1 else 'it is a record'} like any other. Those that "
            "shall not be released have to be deleted in the workbook first."
        )
    return told


def _table(names: Sequence[str], rows: list[list[Any]]) -> ArrowTable:
    import pyarrow as pa

    return pa.table([_column([row[place] for row in rows]) for place in range(len(names))], names=names)


def _column(cells: Sequence[Any]) -> Any:
    """A column of cells; Excel has no integers, so whole numbers are taken for such, and mixed cells for text."""
    import pyarrow as pa

    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float}:
        whole = all(float(value).is_integer() and abs(value) < 2**53 for value in values if value is not None)
        return pa.array(values, pa.null() if not kinds else pa.int64() if whole else pa.float64(), from_pandas=False)
    if kinds == {dt.date, dt.datetime}:
        values = [dt.datetime.combine(one, dt.time()) if type(one) is dt.date else one for one in values]
        return pa.array(values, pa.timestamp("us"))
    if len(kinds) == 1 and kinds <= {str, bool, dt.date, dt.datetime, dt.time, dt.timedelta}:
        return pa.array(values)
    return pa.array([None if value is None else spell(value) for value in values], pa.string())


def _check_size(path: Path) -> None:
    """A few kilobytes can unpack to terabytes: unpack and count, and believe no size that the file states."""
    total = 0
    with zipfile.ZipFile(path) as book, path.open("rb") as file:
        if not any(name.startswith("xl/") for name in book.namelist()):
            raise DataError(
                f"{path} is a packed file, and no Excel workbook.", hint="Save the table as .xlsx or as CSV."
            )
        for member in book.infolist():
            file.seek(member.header_offset + 26)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            file.seek(name + extra, 1)
            inflate, left = zlib.decompressobj(-15), member.compress_size
            while member.compress_type == zipfile.ZIP_DEFLATED and not inflate.eof:
                piece = inflate.unconsumed_tail
                if not piece:
                    piece = file.read(min(left, 1 << 16))
                    left -= len(piece)
                if not piece:
                    break
                total += len(inflate.decompress(piece, 1 << 20))
                if total > LARGEST:
                    raise DataError(
                        f"{path} unpacks to more than {LARGEST >> 20} MB, too much for a workbook.",
                        hint="It may be made to exhaust the memory. Save the table as CSV or Parquet.",
                    )


def _open(path: Path, *, text: Text, safe_cells: bool, sheet: str | None = None) -> Source:
    return _Excel(path, sheet)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    """Text cells are stored as text, which Excel never runs, so that ``safe_cells`` has nothing to do."""
    sheet = like.sheet if isinstance(like, _Excel) else SHEET
    write_workbook(path, sheet, batches.schema.names, plain(batches))


FORMAT = Format("excel", (".xlsx",), lambda start: start.startswith(b"PK\x03\x04"), _open, _write, True)
