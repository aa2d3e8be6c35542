"""From a release to files: written beside the target, read back, verified, and only then put in place."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DataError, PromiseError
from .leftovers import sweep, temporary_name
from .methods import Check
from .microdata.files import Source, is_address, write_table
from .microdata.frames import Frame
from .release import Release

__all__ = [
    "Publication", "as_written", "audit_path", "beside", "check_free", "file_sha256", "flush", "plain_type", "publish",
    "put_in_place", "row_order", "temporary", "without_empty_text",
]  # fmt: skip

_PART = "part"
_TABLE = re.compile(r"[?&]table=([^&]*)")


@dataclass(frozen=True)
class Publication:
    """What was written: the protected tables (several if the method makes copies), the audit and the public note."""

    tables: tuple[str, ...]
    audit: Path
    note: Path
    checks: tuple[Check, ...]


def publish(
    release: Release,
    target: str,
    *,
    like: Source | None = None,
    plan: Mapping[str, Any] | None = None,
    note: str = "",
    force: bool = False,
    keep_order: bool = False,
    escape_cells: bool = True,
) -> Publication:
    """Write a release. Whatever happens, the target is either what it was before or the whole verified table.

    Each table is written to a temporary file that only its owner can read, read back from disk, compared with what
    should be there, and checked for all that was promised. Then the audit, the note and the table are put in place, in
    this order. Rows are shuffled unless their order is to be kept, which would link them to the original ones; the
    audit tells the custodian how to put them back.

    Parameters
    ----------
    release
        What `protect` returned.
    target
        A file, whose suffix says the format, or the address of a table in a database.
    like
        The table that the data came from: its dialect and labels are taken over.
    plan, note
        What the private audit and the public note should hold besides.
    force
        Overwrite what exists.
    keep_order, escape_cells
        As in a plan.
    """
    copies = release.copies or (release.data,)
    tables = _targets(target, len(copies))
    audit, public = audit_path(target), beside(target, ".note.md")
    if not force:
        check_free([*tables, str(audit), str(public)])
    order = None if keep_order else row_order(release.audit["seed"], Frame(copies[0]).n)
    record = {
        **release.audit,
        "plan": plan,
        "notes": list(release.notes),
        "files": list(tables),
        "rows": "kept" if keep_order else "shuffled",
        "records": Frame(copies[0]).n,
        "linked": release.linked,
    }
    checks: list[Check] = []
    with contextlib.ExitStack() as stack:
        parts = {path: stack.enter_context(temporary(path)) for path in (audit, public)}
        for number, (copy, name) in enumerate(zip(copies, tables, strict=True)):
            table = _arrow(copy, order)
            verify = partial(_verify, checks, release, number, table, order)
            write = partial(write_table, table, like=like, safe_cells=escape_cells, check=verify)
            if is_address(name):  # in a transaction of its own, verified before it ends
                write(where=name, force=force)
            else:
                part = parts[Path(name)] = stack.enter_context(temporary(Path(name)))
                write(where=part, name=Path(name).name, force=True)
        digests = {str(path): file_sha256(part) for path, part in parts.items() if path not in (audit, public)}
        parts[audit].write_text(json.dumps({**record, "file_sha256": digests}, indent=2, default=str), encoding="utf-8")
        parts[public].write_text(note, encoding="utf-8")
        for part in parts.values():
            flush(part)
        for path, part in parts.items():
            put_in_place(part, path, force=force)
    return Publication(tuple(tables), audit, public, tuple(checks))


def audit_path(target: str) -> Path:
    """Where the private record of a release lies: beside the table."""
    return beside(target, ".audit.json")


def row_order(seed: int, n: int) -> NDArray[np.int64]:
    """The order in which rows are written: row i of the file is record order[i]."""
    return np.random.default_rng([seed, n, int.from_bytes(b"rows", "big")]).permutation(n)


# --------------------------------------------------------------------------------------- verification


def _arrow(frame: Any, order: NDArray[np.int64] | None) -> Any:
    """A table as pyarrow, in the order in which it will be written."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True).to_arrow()
    return table if order is None else table.take(order)


def _verify(
    checks: list[Check], release: Release, copy: int, written: Any, order: NDArray[np.int64] | None, back: Source
) -> None:
    """Check what was read back, and note it; an error if it is not what was written, or breaks a promise."""
    same = as_written(written, back.read(empty=True))
    if order is not None:
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        same = same.take(inverse)
    checks += release.verify(same, copy)


def as_written(written: Any, back: Any) -> Any:
    """The table read back, in the types of the one that was written; an error if any value differs."""
    import pyarrow as pa

    if back.column_names != written.column_names or back.num_rows != written.num_rows:
        raise _differs(f"{back.num_columns} columns and {back.num_rows:,} rows", "")
    columns = []
    for name in written.column_names:
        kind = plain_type(written[name].type)
        try:
            column = back[name].cast(kind)
        except (pa.ArrowException, NotImplementedError) as error:
            raise _differs(f"column {name!r} holds {back[name].type}", str(error)) from None
        expected = written[name].cast(kind)
        column, expected = without_empty_text(column), without_empty_text(expected)
        if not _equal(column, expected):
            raise _differs(f"column {name!r}", "")
        columns.append(column)
    return pa.table(dict(zip(written.column_names, columns, strict=True)))


def without_empty_text(column: Any) -> Any:
    """With nothing in place of an empty text, which a text file does not tell from it; other columns as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(plain_type(column.type)):
        return column
    if not pa.types.is_dictionary(column.type):
        return pc.if_else(pc.equal(column, ""), None, column)
    column = column.unify_dictionaries() if isinstance(column, pa.ChunkedArray) else column
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    emptied = [pa.DictionaryArray.from_arrays(one.indices, without_empty_text(one.dictionary)) for one in chunks]
    return pa.chunked_array(emptied, column.type)


def _equal(a: Any, b: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_floating(a.type):
        x, y = (one.to_numpy(zero_copy_only=False) if hasattr(one, "to_numpy") else one for one in (a, b))
        return bool(np.array_equal(np.asarray(x, float), np.asarray(y, float), equal_nan=True))
    return bool(a.equals(b))


def plain_type(kind: Any) -> Any:
    """The type of the values themselves, without dictionaries; one type for text."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(inner) or pa.types.is_string_view(inner) else inner


def _differs(what: str, why: str) -> PromiseError:
    return PromiseError(
        f"what was read back from disk differs from what was written: {what}. {why}".rstrip(),
        hint="Nothing was released. Check the disk, or choose another format.",
    )


# --------------------------------------------------------------------------------------- files


def _targets(target: str, copies: int) -> list[str]:
    if copies == 1:
        return [target]
    if is_address(target):
        return [_TABLE.sub(rf"\g<0>_{number}", target, count=1) for number in range(1, copies + 1)]
    path = Path(target)
    stem, dot, suffix = path.name.partition(".")
    return [str(path.with_name(f"{stem}-{number}{dot}{suffix}")) for number in range(1, copies + 1)]


def beside(target: str, suffix: str) -> Path:
    if is_address(target):
        named = _TABLE.search(target)
        return Path((named[1] if named else "table").replace("/", "_") + suffix)
    path = Path(target)
    return path.with_name(path.name.partition(".")[0] + suffix)


def check_free(paths: list[str]) -> None:
    for path in paths:
        if not is_address(path) and Path(path).exists():
            raise DataError(f"{path} exists already.", hint="Choose another name, or overwrite it with --force.")


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A new file beside a path that only its owner can read; gone in the end if it was not put in place."""
    sweep(path, _PART)
    part = temporary_name(path, _PART)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise DataError(
            f"{path} cannot be written: {reason}.", hint="Check the folder and who may write there."
        ) from None
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Make sure that the content has reached the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def put_in_place(part: Path, path: Path, *, force: bool) -> None:
    """Give a finished file its name, in one step."""
    try:
        if force:
            part.replace(path)
        else:
            os.link(part, path)  # unlike a rename it refuses to overwrite
            part.unlink()
    except FileExistsError:
        raise DataError(f"{path} exists already.", hint="Choose another name, or overwrite it with --force.") from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def file_sha256(path: Path) -> str:
    """The hash of a file, as the audit keeps it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
