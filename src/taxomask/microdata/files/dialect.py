"""How a text file writes a table: encoding, delimiter, decimal sign, quotes and line ends, found out from the file."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import DataError

__all__ = ["Dialect", "recognise", "unpacked"]

_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 262_144  # bytes of which everything but the encoding is found out
_CONTROLS = re.compile(b"[\x01-\x08\x0e-\x1f\x7f]")
_BAD = re.compile("[\udc80-\udcff]")  # a byte that is not UTF-8, as "surrogateescape" gives it
_WIDE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_UNUSED = re.compile(b"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


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


def recognise(path: Path) -> tuple[Dialect, list[str], bool]:
    """The dialect of a file, its header, and whether its quotes come in pairs.

    The whole file is looked at for its encoding and its quotes.
    """
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
        delimiter = _delimiter(text)
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{path}: the first rows cannot be read: {error}.", hint="A quote may not be closed.") from None
    if not header:
        raise DataError(f"{path}: the first line is empty.", hint="The first line names the columns.")
    cells = list(_cells(text, delimiter))
    return (
        Dialect(delimiter, encoding, _decimal(cells, delimiter), _quoting(cells), _line_end(text), _time_sign(cells)),
        header,
        paired,
    )


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
