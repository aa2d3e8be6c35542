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
from typing import Any, Literal, NamedTuple

from ...errors import DataError
from .around import NUMBER, rows_below, top_of

__all__ = ["Dialect", "Head", "recognise", "unpacked"]

_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 262_144  # bytes of which everything but the encoding is found out
_TAIL = 65_536  # bytes in which totals and notes below the table may stand
_CONTROLS = re.compile(b"[\x01-\x08\x0e-\x1f\x7f]")
_BAD = re.compile("[\udc80-\udcff]")  # a byte that is not UTF-8, as "surrogateescape" gives it
_WIDE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_UNUSED = re.compile(b"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
_FIRST = 40  # lines in which titles and the names are looked for
_LAST = 40  # lines in which totals and notes below the table are


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
    """What a text file is but for its rows.

    Parameters
    ----------
    dialect
        How it writes a table.
    names
        Those of the columns, as the file has them.
    above
        Titles and headings of groups above the names, which are not looked at.
    skipped
        In how many lines they stand.
    below
        Totals and notes below the rows, which are not looked at.
    end
        Where the bytes of the rows end, if something stands below them.
    paired
        Whether its quotes come in pairs.
    rows
        Whether there is a row below the names.
    """

    dialect: Dialect
    names: list[str]
    above: tuple[str, ...]
    skipped: int
    below: tuple[str, ...]
    end: int | None
    paired: bool
    rows: bool


def recognise(path: Path) -> Head:
    """What a file is but for its rows. The whole file is looked at for its encoding and its quotes."""
    with unpacked(path) as file:
        head = file.read(_HEAD)
    whole = _encoding(path, head)
    dialect = Dialect(encoding=whole.encoding)
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
        names, above, skipped, text = _without_titles(text)
        delimiter = _delimiter(text)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = names or next(reader)
        rows = not final or next(reader, None) is not None
    except csv.Error as error:
        raise DataError(f"{path}: the first rows cannot be read: {error}.", hint="A quote may not be closed.") from None
    if not header:
        raise DataError(f"{path}: the first line is empty.", hint="The first line names the columns.")
    cells = list(_cells(text, delimiter))
    signs = _decimal(cells, delimiter), _quoting(cells), _line_end(text), _time_sign(cells)
    below, end = _below(whole, dialect.codec, delimiter, len(header), skipped + 1)
    return Head(Dialect(delimiter, whole.encoding, *signs), header, above, skipped, below, end, whole.paired, rows)


@contextmanager
def unpacked(path: Path, end: int | None = None) -> Iterator[Any]:
    """The bytes of a file as a pyarrow stream, unpacked if it is packed with gzip; up to an end, if one is named."""
    import pyarrow as pa

    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        # Not closed here but with its last user: Arrow may still be reading ahead in another thread, and would go on
        # to read from whatever file gets the same number next.
        stream = pa.input_stream(str(path), compression="gzip" if packed else None)
        yield stream if end is None else pa.PythonFile(_UpTo(stream, end), "r")
    except OSError as error:
        if not packed:
            raise
        raise DataError(f"{path} is not a whole gzip file: {error}.", hint="Copy or download it again.") from None


class _UpTo(io.RawIOBase):
    """The first bytes of a stream."""

    def __init__(self, stream: Any, end: int) -> None:
        self._stream, self._left = stream, end

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece


# --------------------------------------------------------------------------------------- encoding


class _Whole(NamedTuple):
    """What a whole file is: its encoding, whether its quotes come in pairs, how many bytes it has, the last of them."""

    encoding: str
    paired: bool
    size: int
    tail: bytes


def _encoding(path: Path, head: bytes) -> _Whole:
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


def _look(path: Path, encoding: str) -> _Whole:
    """The whole file, if it is in an encoding.

    Windows-1252 instead of UTF-8 if that is what the file is in.

    A file in UTF-8 with a few wrong bytes is not guessed to be in Windows-1252: it would turn every ä into Ã¤.
    """
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding.startswith("utf-8") else "strict")
    lines, quotes, wide, bad, unused, size, tail = 1, 0, 0, 0, 0, 0, b""
    first: tuple[int, str] | None = None
    with unpacked(path) as file:
        while True:
            piece = file.read(1 << 20)
            size, tail = size + len(piece), (tail + piece)[-_TAIL:]
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
        return _Whole(encoding, quotes % 2 == 0, size, tail)
    if encoding == "utf-8" and bad > wide and not unused:
        return _Whole("cp1252", quotes % 2 == 0, size, tail)
    raise _wrong(path, encoding, *first)


def _wrong(path: Path, encoding: str, line: int, what: str) -> DataError:
    return DataError(
        f"{path}, line {line}: {what} is not text in {encoding.upper()}.",
        hint="Save the whole file in one encoding, best UTF-8, for example with iconv -f latin1 -t utf-8.",
    )


# --------------------------------------------------------------------------------------- marks and signs


def _without_titles(text: str) -> tuple[list[str], tuple[str, ...], int, str]:
    """What stands above the names of the columns, in how many lines, and the text from the names on.

    The names come first, where something stands above them.
    """
    lines = text.splitlines(keepends=True)[:_FIRST]
    whole = _rows(lines, _delimiter(text))
    first = top_of(whole) if len(lines) > 2 else None
    if len(lines) < 3 or (len(whole[0]) > 1 and first is not None and first.place == 0):
        return [], (), 0, text
    for delimiter in _DELIMITERS:
        rows = _rows(lines, delimiter)
        top = top_of(rows)
        if top is not None and top.place:
            widths = [len(row) for row in rows[top.place :]]
            if widths[1] == widths[0] and sum(width != widths[0] for width in widths) <= 1:
                rest = "".join(lines[top.place :]) + text[sum(map(len, lines)) :]
                return list(top.names), top.above, top.place, rest
    return [], (), 0, text


def _below(whole: _Whole, codec: str, delimiter: str, width: int, top: int) -> tuple[tuple[str, ...], int | None]:
    """What stands below the rows, and where they end; ``top`` is how many lines the names and what is above fill."""
    lines = whole.tail.decode(codec, "replace").splitlines(keepends=True)[top if whole.size <= _TAIL else 1 :][-_LAST:]
    if not whole.paired or not lines:  # a quoted cell may run over the end of a line
        return (), None
    try:
        rows = _rows(lines, delimiter)
    except csv.Error:
        return (), None
    count = rows_below(rows, width)
    if not count:
        return (), None
    said = tuple(cell for row in rows[-count:] for cell in row if cell.strip())
    return said, whole.size - len("".join(lines[-count:]).encode(codec, "replace"))


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
    """A comma, if more numbers have it than a point; amounts such as 1.234,50 € tell where nothing else does."""
    bare = [cell.strip('"') for cell in cells]
    commas = sum(bool(re.fullmatch(r"[+-]?\d+,\d+", cell)) for cell in bare)
    points = sum(bool(re.fullmatch(r"[+-]?\d+\.\d+", cell)) for cell in bare)
    if not commas and not points:
        commas = sum(bool(re.fullmatch(r"\D{0,5}[\d.'’\s]*\d,\d\d\D{0,5}", cell)) for cell in bare)
        points = sum(bool(re.fullmatch(r"\D{0,5}[\d,'’\s]*\d\.\d\d\D{0,5}", cell)) for cell in bare)
    return "," if delimiter != "," and commas > points else "."


def _quoting(cells: list[str]) -> Literal["needed", "text", "all"]:
    words = [cell.startswith('"') for cell in cells if not NUMBER.fullmatch(cell.strip('"'))]
    numbers = [cell.startswith('"') for cell in cells if NUMBER.fullmatch(cell.strip('"'))]
    if words + numbers and all(words + numbers):
        return "all"
    return "text" if words and all(words) else "needed"


def _line_end(text: str) -> str:
    return next((end for end in ("\r\n", "\n", "\r") if end in text), "\n")


def _time_sign(cells: list[str]) -> str:
    return "T" if any(re.match(r'"?\d{4}-\d\d-\d\dT\d\d:', cell) for cell in cells) else " "
