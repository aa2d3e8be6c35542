"""From a release to files: written beside the target, read back, verified, and only then put in place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.failures import cannot_write
from .._support.one_thread import one_thread
from .._support.temporary import flush, temporary_file, temporary_folder
from ..engines import Engine
from ..methods import Check
from ..microdata import Microdata
from ..microdata.casting import take
from ..microdata.files import MANIFEST, Folder, Source, is_address, open_table, shown, write_table
from ..microdata.frames import Frame
from .checks import Found, stop_if_broken
from .earlier import earlier
from .in_place import file_sha256, put_in_place, staged, taking_turns
from .note import methodology
from .places import audit_path, beside, check_free, is_folder, targets
from .randomness import check_secret, generator
from .read_back import BATCH, compare, compare_file, compare_names, open_written, plain_type, without_empty_text
from .release import Release
from .residue import residue_check

__all__ = ["PART", "Options", "Publication", "row_order", "write"]

PRIVATE = "for the custodian alone: with this record the protection can be undone"
PART = 16 * BATCH  # records of each file of a released folder

_Orders: TypeAlias = tuple[NDArray[Any], NDArray[Any]] | tuple[None, None]


@dataclass(frozen=True)
class Options:
    """How a release is written.

    Parameters
    ----------
    like
        The table that the data came from: its dialect and labels are taken over.
    plan
        What the private audit should hold besides.
    force
        Overwrite what exists.
    keep_order, escape_cells
        As in a plan.
    practice
        This is not for release: a seed that can be guessed is accepted, and note, report and audit say so.
    report
        Where a report for the custodian is written, as part of the release.
    page
        The text of this report, given what was checked on what was read back.
    """

    like: Source | None = None
    plan: Mapping[str, Any] | None = None
    force: bool = False
    keep_order: bool = False
    escape_cells: bool = True
    practice: bool = False
    report: Path | None = None
    page: Callable[[Release], str] | None = None


@dataclass(frozen=True)
class Publication:
    """What was written: the protected tables (several if the method makes copies), the audit, the public note and the
    report."""

    release: Release
    tables: tuple[str, ...]
    audit: Path
    note: Path
    report: Path | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        """What was checked on what was read back."""
        return self.release.promise


@one_thread()
def write(release: Release, target: str, options: Options) -> Publication:
    """Write a release. Whatever happens, the target is either what it was before or the whole verified table.

    Each table is written to a temporary file that only its owner can read, read back from disk, compared with what
    should be there, and checked for all that was promised. Then table, audit, note and report are put in place as one
    unit: see `in_place`. Rows are shuffled unless their order is to be kept, which would link them to the original
    ones; the audit tells the custodian how to put them back.

    Parameters
    ----------
    release
        What `protect` returned, or `protect_on`; its checks are made anew on what was read back.
    target
        A file, whose suffix says the format, a folder of files, if it ends in a slash, or the address of a table in a
        database.
    options
        How it is written.
    """
    check_secret(release.audit["seed"], practice=options.practice)
    if options.practice:
        release = release.as_practice()
    copies = release._masked.copies or (release.released,)
    tables = targets(target, len(copies))
    audit, public = audit_path(target), beside(target, ".note.md")
    names = [audit, public, *([options.report] if options.report else [])]
    if not options.force:
        check_free([*tables, *map(str, names)])
    engine, n = release._engine, copies[0].n
    orders: _Orders = None, None
    if not options.keep_order:
        orders = engine.run(_orders, release.audit["draws"], n, what="shuffling rows")
    record = {
        "plan": options.plan,
        "files": [shown(name) for name in tables],
        "beside": [os.path.relpath(path, audit.parent) for path in names[1:]],
        "rows": "kept" if options.keep_order else "shuffled",
        "records": n,
        "linked": release.linked,
    }
    release = release.noting(earlier(audit, release.audit["sha256"]["original"]))
    with ExitStack() as stack:
        parts = {path: stack.enter_context(temporary_file(path)) for path in names}
        written = [_Written(release, copy, number, orders, options, stack) for number, copy in enumerate(copies)]
        next_to, digests = staged(parts), dict[str, str]()

        def told(checked: Release) -> str:
            known = {"checks": [vars(check) for check in checked.promise], "notes": list(checked.notes)}
            content = {"private": PRIVATE, **checked.audit, **known, **record, "file_sha256": digests}
            return json.dumps(content, indent=2, default=str)

        def before_commit(found: Found) -> None:  # a database has the table from now on: its audit must be there
            _fill({next_to[audit]: told(release.found([found]))})

        if any(map(is_address, tables)):
            stack.enter_context(taking_turns(audit))
        try:
            for one, name in zip(written, tables, strict=True):
                digests |= one.to(name, before_commit)
        except BaseException:
            if not any(one.committed for one in written):
                next_to[audit].unlink(missing_ok=True)
            raise
        found = [one.found for one in written]
        checks = tuple(check for one in found for check in one.checks)
        release = release.checked(checks) if release.promise else release.found(found)
        release = replace(release, audit={**release.audit, "file_sha256": dict(digests)})
        texts = {parts[audit]: told(release), parts[public]: methodology(release)}
        if options.report is not None and options.page is not None:
            texts[parts[options.report]] = options.page(release)
        _fill(texts)
        named = {path: part for one in written for path, part in one.parts.items()}
        for part in named.values():
            flush(part)
        if not any(map(is_address, tables)):
            stack.enter_context(taking_turns(audit))
        put_in_place(audit, parts, named, force=options.force, next_to=next_to)
    return Publication(release, tuple(map(shown, tables)), audit, public, options.report)


def _fill(texts: Mapping[Path, str]) -> None:
    """Write texts to disk."""
    for path, text in texts.items():
        try:
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            flush(path)
        except OSError as error:
            raise cannot_write(path.with_name(path.name.strip(".").partition(".")[0]), error) from None


def row_order(draws: str, n: int) -> NDArray[np.int64]:
    """The order in which rows are written: row i of the file is record order[i]."""
    return generator(draws, "rows").permutation(n)


def _orders(draws: str, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The order in which rows are written, and the place of each record in it."""
    whole = row_order(draws, n)
    order = whole.astype(np.int32) if n < 2**31 else whole  # half the memory of all that need it
    del whole
    places = np.empty_like(order)
    places[order] = np.arange(n, dtype=order.dtype)
    return order, places


# --------------------------------------------------------------------------------------- columns as they will be seen


def _decoded(data: Microdata, name: str, order: NDArray[Any] | None) -> _Column:
    """A column as it is released, in the order of the release, as an Arrow table of its own.

    Text comes as codes and categories if these are few: rows change places several times faster.
    """
    import pyarrow as pa

    table = data.to_arrow(name)
    field, column = table.schema.field(0), table.column(0)
    del table
    if pa.types.is_string(plain_type(column.type)) and not pa.types.is_dictionary(column.type):
        coded = column.dictionary_encode().unify_dictionaries()
        few = not coded.num_chunks or len(coded.chunk(0).dictionary) < len(coded) / 4
        column = coded if few else column
        del coded
    if order is not None:
        column = take(column, pa.array(order))
    return _Column(field, pa.table({name: column}))


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that is about to be written: what it is, and its values."""

    field: Any
    values: Any


def _batches(columns: list[_Column], start: int = 0, length: int | None = None) -> Any:
    """Some rows of the released table, as a reader."""
    import pyarrow as pa

    schema = pa.schema([one.field for one in columns])
    names = [f"{place}" for place in range(len(columns))]
    table = pa.Table.from_arrays([one.values.column(0) for one in columns], names=names).slice(start, length)

    def batches() -> Iterator[Any]:
        for first in range(0, table.num_rows, BATCH):
            piece = table.slice(first, BATCH).combine_chunks()
            arrays = [piece.column(place).cast(field.type) for place, field in enumerate(schema)]
            whole = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in arrays]
            yield pa.RecordBatch.from_arrays(whole, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


@dataclass(frozen=True, eq=False)
class _Restored:
    """Reads a released column in the order of the original records: what was found to be the one in the file."""

    columns: Mapping[str, _Column]
    places: NDArray[Any] | None

    def __call__(self, name: str) -> Any:
        import pyarrow as pa

        column = self.columns[name].values.column(0)
        if self.places is not None:
            column = take(column, pa.array(self.places))
        return pa.table({name: without_empty_text(column)})


# --------------------------------------------------------------------------------------- tables on their way out


class _Written:
    """One of the tables of a release while it is written: its parts, which are not in place yet, and what was found."""

    def __init__(
        self, release: Release, data: Microdata, number: int, orders: _Orders, options: Options, stack: ExitStack
    ) -> None:
        self._release, self._data, self._number, self._options, self._stack = release, data, number, options, stack
        self._order: NDArray[Any] | None = orders[0]
        self._places: NDArray[Any] | None = orders[1]
        self.parts: dict[Path, Path] = {}
        self.committed = False
        self.found = Found((), {})

    @property
    def _engine(self) -> Engine:
        return self._release._engine

    def to(self, target: str, before_commit: Callable[[Found], None]) -> dict[str, str]:
        """Write the table, read it back and check it; the hash of each file. A database has it at once."""
        names = self._data.seen().names
        decoded = self._engine.map(_decoded, [(self._data, name, self._order) for name in names], "decoding")
        columns = dict(zip(names, decoded, strict=True))
        options = self._options
        if is_folder(target):
            return self._to_folder(columns, Path(target))
        if is_address(target):  # in a transaction of its own, verified before it ends
            check = partial(self._check_source, columns, before_commit)
            write_table(_batches(decoded), target, like=options.like, force=options.force, check=check)
            self.committed = True
            return {}
        path = Path(target)
        part = self.parts[path] = self._stack.enter_context(temporary_file(path))
        safe = options.escape_cells
        write_table(_batches(decoded), part, name=path.name, like=options.like, force=True, safe_cells=safe)
        self._check_files(columns, str(part), path.name)
        return {str(path): file_sha256(part)}

    def _to_folder(self, columns: Mapping[str, _Column], target: Path) -> dict[str, str]:
        """Files of a part each, and the manifest at last."""
        folder = self.parts[target] = self._stack.enter_context(temporary_folder(target.absolute()))
        like = self._options.like
        like = like.pieces[0] if isinstance(like, Folder) else like
        known = None if like is None or is_address(like.where) else str(Path(like.where).resolve())
        suffix, every = "".join(target.suffixes) or ".parquet", list(columns.values())
        items = [
            (every, number, str(folder / f"part-{number:05}{suffix}"), known, self._options.escape_cells)
            for number in range(-(-self._data.n // PART))
        ]
        digests = dict(self._engine.map(_write_part, items, "writing"))
        self._check_files(columns, str(folder), f"{target.name}/")
        files = [{"name": one, "bytes": (folder / one).stat().st_size, "sha256": sha} for one, sha in digests.items()]
        manifest = folder / MANIFEST
        manifest.touch(mode=0o600)
        manifest.write_text(json.dumps({"records": self._data.n, "files": files}, indent=2), encoding="utf-8")
        flush(manifest)
        return {f"{target.name}/{one}": sha for one, sha in digests.items()}

    def _check_files(self, columns: Mapping[str, _Column], where: str, name: str) -> None:
        """Compare what was written to a file or a folder with what should be there, and check every promise on it."""
        back = open_written(where, name)
        compare_names(columns, back)
        each = [[one] for one in columns] if back.columnar else [list(columns)]
        items = [({one: columns[one].values for one in some}, where, name, self._options.escape_cells) for some in each]
        self._engine.map(compare_file, items, "reading back")
        self._check(columns, back)

    def _check_source(
        self, columns: Mapping[str, _Column], before_commit: Callable[[Found], None], back: Source
    ) -> None:
        """The same for what only this process sees: a table whose transaction has not ended."""
        compare_names(columns, back)
        compare({name: one.values for name, one in columns.items()}, back)
        self._check(columns, back)
        before_commit(self.found)

    def _check(self, columns: Mapping[str, _Column], back: Source) -> None:
        frame = Frame.lazy(columns, self._data.n, _Restored(columns, self._places))
        found = self._release.check(frame, self._number)
        residue = residue_check(self._engine, self._release.original, frame, back, self._options.like)
        self.found = replace(found, checks=(*found.checks, residue))
        stop_if_broken(self.found.checks, found.findings)


def _write_part(columns: list[_Column], number: int, where: str, like: str | None, escaped: bool) -> tuple[str, str]:
    """Write one file of a folder; its name and its hash."""
    path = Path(where)
    batches = _batches(columns, number * PART, PART)
    write_table(batches, path, like=open_table(like) if like else None, force=True, safe_cells=escaped)
    flush(path)
    return path.name, file_sha256(path)
