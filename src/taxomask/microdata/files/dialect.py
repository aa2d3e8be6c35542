"""How a text file writes a table: encoding, delimiter, decimal sign, quotes and line ends, found out from the file."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any, Literal

from ...errors import DataError

__all__ = ["Dialect", "Head", "names_below_titles", "recognise", "unpacked"]

_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 262_144  # bytes of which everything but the encoding is found out
_CONTROLS = re.compile(b"[\x01-\x08\x0e-\x1f\x7f]")
_BAD = re.compile("[\udc80-\udcff]")  # a byte that is not UTF-8, as "surrogateescape" gives it
_WIDE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_UNUSED = re.compile(b"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_TITLES = 20  # rows in which titles may stand


@dataclass(frozen=True)
class Dialect:
    """How a text file writes a table.

    Parameters
    ----------
    delimiter
        What stands between cells.
    encoding
        ``utf-8``, ``utf-8-sig`` (with a byte order mark), ``utf-16-le``, ``utf-16-be`` (both with a mark) or ``cp1252``
        (Windows-1252, which contains Latin-1).
    decimal
        The decimal sign.
    quoting
        Which cells stand in quotes: those that need it, those of text columns, or all.
    line_end
        What ends a line.
    time_sign
        What stands between date and time.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    quoting: Literal["needed", "text", "all"] = "needed"
    line_end: str = "\n"
    time_sign: str = " "

    @property
    def mark(self) -> bytes:
        """The byte order mark with which the file begins."""
        marks = {"utf-8-sig": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
        return marks.get(self.encoding, b"")

    @property
    def codec(self) -> str:
        """The encoding of what follows the mark."""
        return "utf-8" if self.encoding == "utf-8-sig" else self.encoding


@dataclass(frozen=True)
class Head:
    """What a text file is before its first row.

    Parameters
    ----------
    dialect
        How it writes a table.
    names
        Those of the columns, as the file has them.
    above
        Titles above the names, which are not looked at.
    skipped
        In how many lines they stand.
    paired
        Whether its quotes come in pairs.
    rows
        Whether there is a row below the names.
    """

    dialect: Dialect
    names: list[str]
    above: tuple[str, ...]
    skipped: int
    paired: bool
    rows: bool


def names_below_titles(rows: Sequence[Sequence[Any]]) -> int | None:
    """The place of the row that names the columns, among the first rows of a table; None if most columns have no name.

    It is the first one, or stands below titles, which fill the first cell of a row at most. Then it holds texts only,
    and numbers stand below it, so that no record is taken for names.
    """
    width = median_low([len(row) for row in rows])
    place = next((place for place, row in enumerate(rows[: _TITLES + 1]) if 2 * _filled(row) >= width), None)
    if not place:
        return place
    titles, names, below = rows[:place], rows[place], rows[place + 1 : place + 1 + _TITLES]
    sound = len(names) > 2 and all(_filled(row[1:]) == 0 for row in titles)
    sound = sound and not any(map(_is_number, names)) and any(_is_number(cell) for row in below for cell in row)
    return place if sound else None


def _filled(row: Sequence[Any]) -> int:
    return sum(cell is not None and (not isinstance(cell, str) or bool(cell.strip())) for cell in row)


def _is_number(cell: Any) -> bool:
    return cell is not None and (_NUMBER.fullmatch(cell.strip()) is not None if isinstance(cell, str) else True)


def recognise(path: Path) -> Head:
    """What a file is before its first row. The whole file is looked at for its encoding and its quotes."""
    with unpacked(path) as file:
        head = file.read(_HEAD)
    encoding, paired = _encoding(path, head)
    dialect = Dialect(encoding=encoding)
    final = len(head) < _HEAD
    body = head[len(dialect.mark) :]
    text = codecs.getincrementaldecoder(dialect.codec)("strict").decode(body, final)
    if not text.strip():
        raise DataError(f"{path} is empty.", hint="A table has a header line and at least one row.")
    if not final:  # the last line may be cut off
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    if text.startswith("\ufeff"):
        raise DataError(f"{path} begins with two byte order marks.", hint="Save it again as CSV in UTF-8.")
    try:
        above, skipped, text = _without_titles(text)
        delimiter = _delimiter(text)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = next(reader)
        rows = not final or next(reader, None) is not None
    except csv.Error as error:
        raise DataError(f"{path}: the first rows cannot be read: {error}.", hint="A quote may not be closed.") from None
    if not header:
        raise DataError(f"{path}: the first line is empty.", hint="The first line names the columns.")
    cells = list(_cells(text, delimiter))
    signs = _decimal(cells, delimiter), _quoting(cells), _line_end(text), _time_sign(cells)
    return Head(Dialect(delimiter, encoding, *signs), header, above, skipped, paired, rows)


@contextmanager
def unpacked(path: Path) -> Iterator[Any]:
    """The bytes of a file as a pyarrow stream, unpacked if it is packed with gzip."""
    import pyarrow as pa

    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        # Not closed here but with its last user: Arrow may still be reading ahead in another thread, and would go on
        # to read from whatever file gets the same number next.
        yield pa.input_stream(str(path), compression="gzip" if packed else None)
    except OSError as error:
        if not packed:
            raise
        raise DataError(f"{path} is not a whole gzip file: {error}.", hint="Copy or download it again.") from None


# --------------------------------------------------------------------------------------- encoding


def _encoding(path: Path, head: bytes) -> tuple[str, bool]:
    for encoding in ("utf-8-sig", "utf-16-le", "utf-16-be"):
        if head.startswith(Dialect(encoding=encoding).mark):
            return _look(path, encoding)
    if head.startswith(b"\xd0\xcf\x11\xe0"):  # of Microsoft's compound files
        raise DataError(
            f"{path} is an old Excel workbook (.xls), or one with a password.",
            hint="Open it, take the password away, and save it as .xlsx.",
        )
    if b"\x00" in head or (_CONTROLS.search(head) and not _is_utf8(head)):
        raise DataError(
            f"{path} is not a table: it holds bytes that no text holds.",
            hint="CSV, Parquet, Arrow, Excel, SPSS, Stata and SAS files are read, and databases by their address.",
        )
    return _look(path, "utf-8")


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)  # its last character may be cut off
    except UnicodeDecodeError:
        return False
    return True


def _look(path: Path, encoding: str) -> tuple[str, bool]:
    """The encoding, if the whole file is in it, and whether quotes come in pairs.

    Windows-1252 instead of UTF-8 if that is what the file is in.

    A file in UTF-8 with a few wrong bytes is not guessed to be in Windows-1252: it would turn every ä into Ã¤.
    """
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding.startswith("utf-8") else "strict")
    lines, quotes, wide, bad, unused = 1, 0, 0, 0, 0
    first: tuple[int, str] | None = None
    with unpacked(path) as file:
        while True:
            piece = file.read(1 << 20)
            try:
                text = decoder.decode(piece, not piece)
            except UnicodeDecodeError as error:
                raise _wrong(path, encoding, lines, error.reason) from None
            if not text.isascii():
                wide += len(_WIDE.findall(text))
                found = _BAD.search(text)
                if found and first is None:
                    first = lines + text.count("\n", 0, found.start()), f"byte 0x{ord(found[0]) - 0xDC00:02x}"
                bad += len(_BAD.findall(text)) if found else 0
                unused += len(_UNUSED.findall(piece))
            lines += text.count("\n")
            quotes += text.count('"')
            if not piece:
                break
    if first is None:
        return encoding, quotes % 2 == 0
    if encoding == "utf-8" and bad > wide and not unused:
        return "cp1252", quotes % 2 == 0
    raise _wrong(path, encoding, *first)


def _wrong(path: Path, encoding: str, line: int, what: str) -> DataError:
    return DataError(
        f"{path}, line {line}: {what} is not text in {encoding.upper()}.",
        hint="Save the whole file in one encoding, best UTF-8, for example with iconv -f latin1 -t utf-8.",
    )


# --------------------------------------------------------------------------------------- marks and signs


def _without_titles(text: str) -> tuple[tuple[str, ...], int, str]:
    """Titles above the names of the columns, in how many lines they stand, and the text below them."""
    lines = text.splitlines(keepends=True)[: 2 * _TITLES]
    whole = _rows(lines, _delimiter(text))
    if len(lines) < 3 or (len(whole[0]) > 1 and names_below_titles(whole) == 0):
        return (), 0, text
    for delimiter in _DELIMITERS:
        rows = _rows(lines, delimiter)
        place = names_below_titles(rows)
        if place:
            widths = [len(row) for row in rows[place:]]
            if widths[1] == widths[0] and sum(width != widths[0] for width in widths) <= 1:
                above = tuple(row[0] for row in rows[:place] if row and row[0].strip())
                return above, place, "".join(lines[place:]) + text[sum(map(len, lines)) :]
    return (), 0, text


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    return [next(csv.reader([line], delimiter=delimiter), []) for line in lines]


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the most cells, equally many in each."""
    lines = [line for line in text.splitlines() if line][:20]
    best = {}
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        best[delimiter] = (widths.count(widths[0]) / len(widths), widths[0]) if widths[0] > 1 else (0.0, 0)
    return max(_DELIMITERS, key=lambda delimiter: best[delimiter])


def _cells(text: str, delimiter: str) -> Iterator[str]:
    """The cells of the first lines after the header as they are written, quotes and all; no empty ones."""
    sign = re.escape(delimiter)
    # Each cell is walked through once, to its end, whatever is in it: a run of quotes is not begun anew at every quote.
    cell = re.compile(rf'("[^"]*+(?:""[^"]*+)*+(?:"|\Z))?+([^{sign}\r\n]*+)(?:{sign}|[\r\n]|\Z)')
    buffer = io.StringIO(text, newline="")
    next(csv.reader(buffer, delimiter=delimiter))
    for quoted, bare in cell.findall(text, buffer.tell()):
        if bool(quoted) != bool(bare):  # neither is an empty cell; both, a broken one
            yield quoted or bare


def _decimal(cells: list[str], delimiter: str) -> str:
    bare = [cell.strip('"') for cell in cells]
    commas = sum(bool(re.fullmatch(r"[+-]?\d+,\d+", cell)) for cell in bare)
    points = sum(bool(re.fullmatch(r"[+-]?\d+\.\d+", cell)) for cell in bare)
    return "," if delimiter != "," and commas > points else "."


def _quoting(cells: list[str]) -> Literal["needed", "text", "all"]:
    words = [cell.startswith('"') for cell in cells if not _NUMBER.fullmatch(cell.strip('"'))]
    numbers = [cell.startswith('"') for cell in cells if _NUMBER.fullmatch(cell.strip('"'))]
    if words + numbers and all(words + numbers):
        return "all"
    return "text" if words and all(words) else "needed"


def _line_end(text: str) -> str:
    return next((end for end in ("\r\n", "\n", "\r") if end in text), "\n")


def _time_sign(cells: list[str]) -> str:
    return "T" if any(re.match(r'"?\d{4}-\d\d-\d\dT\d\d:', cell) for cell in cells) else " "
