"""What all readers share: the file to read, and the object that declares a reader."""

from __future__ import annotations

import gzip
import inspect
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from os import PathLike
from pathlib import Path

from ...errors import TaxonomyError, did_you_mean
from .. import builtin
from ..listing import Listing

__all__ = ["Reader", "Source", "unambiguous"]

HEAD = 65_536  # bytes looked at to recognise a format
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ARCHIVES = {b"PK\x03\x04": "a zip archive", b"BZh": "packed with bzip2", b"\xfd7zXZ": "packed with xz"}


@dataclass(frozen=True)
class Reader:
    """A format: how to tell it from its content and how to read it.

    The options of a format are the keyword-only parameters of its ``read``.
    """

    name: str
    about: str
    recognises: Callable[[Source], bool]
    read: Callable[..., Listing]
    fragile: bool = False  # whether its library may break down on a damaged file: a child process reads it then

    @property
    def options(self) -> tuple[str, ...]:
        """The options that the format takes, by name."""
        parameters = inspect.signature(self.read).parameters.values()
        return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)

    def check_options(self, source: Source, options: Mapping[str, object]) -> None:
        """Refuse an option that the format does not have."""
        for option in options:
            if option not in self.options:
                takes = (*self.options, "encoding")
                message = f"the format {self.name!r} has no option {option!r}; it takes {', '.join(takes)}"
                raise source.error(message, hint=did_you_mean(option, takes))


class Source:
    """A file or folder to read: its bytes, unpacked, its text, decoded, and the words for what is wrong.

    Gzip is recognised by its first bytes. Text is UTF-8, with or without a byte order mark, or UTF-16
    with one, unless an encoding is named.
    """

    def __init__(self, path: str | PathLike[str], encoding: str | None = None) -> None:
        self.path = Path(path)
        self.name = str(self.path)
        self.encoding = encoding
        try:
            b" ".decode(encoding or "utf-8", errors="replace")
        except (LookupError, TypeError, ValueError):
            hint = "Name one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'."
            raise self.error(f"the encoding {encoding!r} is not known", hint=hint) from None
        try:
            os.stat(self.path)
        except ValueError:
            raise TaxonomyError(f"{self.name!r} is not the name of a file.", hint="Check the path.") from None
        except OSError:  # told when it is opened
            pass

    def error(self, message: str, *, line: int = 0, hint: str = "") -> TaxonomyError:
        """The error to raise, with the file and the line in front."""
        return TaxonomyError(f"{Listing(self.name).where(line)}: {message}.", hint=hint)

    @contextmanager
    def opened(self) -> Iterator[gzip.GzipFile | BufferedReader]:
        """The unpacked bytes as a file; what the system or gzip finds wrong becomes a TaxonomyError."""
        try:
            with self.path.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            with gzip.open(self.path, "rb") if packed else self.path.open("rb") as unpacked:
                yield unpacked
        except FileNotFoundError:
            raise self.error("there is no such file", hint=_missing_hint(self.path)) from None
        except IsADirectoryError:
            hint = "Give a file; a folder is read only as a SNOMED CT release (format='rf2')."
            raise self.error("is a folder, not a file", hint=hint) from None
        except EOFError:
            hint = "Copy or download the file again."
            raise self.error("the gzip file is cut off before its end", hint=hint) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            hint = "Copy or download the file again."
            raise self.error(f"the gzip file is damaged ({error})", hint=hint) from None
        except OSError as error:
            hint = "Check that the file may be read."
            raise self.error(f"cannot be read ({error.strerror or error})", hint=hint) from None

    @cached_property
    def data(self) -> bytes:
        """All the bytes, unpacked."""
        with self.opened() as file:
            return file.read()

    @cached_property
    def head(self) -> str:
        """The beginning of the text, in whole lines; bytes that do not decode are replaced."""
        with self.opened() as file:
            start = file.read(HEAD + 1)
        self._refuse_what_is_not_text(start)
        text = start[:HEAD].decode(self._encoding(start), errors="replace").removeprefix("\ufeff")
        text = _unix_line_ends(text)
        return text[: text.rfind("\n") + 1] or text if len(start) > HEAD else text

    @cached_property
    def text(self) -> str:
        """The whole text; lines end in a line feed."""
        return self.decoded(self.encoding)

    def decoded(self, encoding: str | None) -> str:
        """The whole text in the encoding named."""
        self._refuse_what_is_not_text(self.data[:HEAD])
        name = encoding or self._encoding(self.data)
        try:
            text = self.data.decode(name)
        except UnicodeDecodeError as error:
            raise self.error(
                f"the byte 0x{self.data[error.start]:02x} is not {name} text",
                line=self.data.count(b"\n", 0, error.start) + 1,
                hint='Name the encoding of the file, for instance encoding="latin-1".',
            ) from None
        except (LookupError, ValueError):
            hint = "Name the encoding of the file by encoding=."
            raise self.error(f"the file names an unknown encoding, {name!r}", line=1, hint=hint) from None
        return _unix_line_ends(text.removeprefix("\ufeff"))

    def _encoding(self, start: bytes) -> str:
        return self.encoding or ("utf-16" if start.startswith(_UTF16) else "utf-8")

    def _refuse_what_is_not_text(self, start: bytes) -> None:
        if not start.strip():
            raise self.error("the file is empty", hint="Check that it was saved or downloaded in full.")
        for magic, name in _ARCHIVES.items():
            if start.startswith(magic):
                raise self.error(f"the file is {name}", hint="Unpack it first; only gzip is unpacked here.")
        if self.encoding is None and not start.startswith(_UTF16) and b"\0" in start:
            raise self.error("the file is binary, not text", hint="Give a text file, or one packed with gzip.")


def unambiguous(pairs: Iterable[tuple[str, str]], ids: Iterable[str]) -> dict[str, str]:
    """Alternative identifiers that stand for one concept only and are not themselves a concept.

    >>> unambiguous([("A2", "A"), ("X", "A"), ("X", "B"), ("B", "A")], ["A", "B"])
    {'A2': 'A'}
    """
    concepts = set(ids)
    found: dict[str, str] = {}
    twice = set()
    for alias, concept in pairs:
        if alias not in concepts and found.setdefault(alias, concept) != concept:
            twice.add(alias)
    return {alias: concept for alias, concept in found.items() if alias not in twice}


def _unix_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _missing_hint(path: Path) -> str:
    if str(path) in builtin.names():
        return f"For the taxonomy that comes with taxomask write Taxonomy.builtin({str(path)!r})."
    try:
        near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    except OSError:
        return f"There is no folder {str(path.parent)!r} either."
    return near if near.startswith("Did") else "Check its name and folder."
