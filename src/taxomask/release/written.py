"""A table on its way to a file, a folder or a database: written, read back and checked, but not in place yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from .._support.temporary import flush, temporary_file, temporary_folder
from ..engines import Engine, Pieces
from ..microdata import Microdata
from ..microdata.files import MANIFEST, Folder, Source, is_address, open_table, write_table
from .checks import Found, stop_if_broken
from .in_place import file_sha256
from .places import is_folder
from .read_back import BATCH, compare, compare_file, compare_names, open_written
from .release import Release
from .released import Orders, Released, batches, decoded_on, restored_on
from .residue import residue_check

__all__ = ["PART", "Options", "Written"]

PART = 16 * BATCH  # records of each file of a released folder


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


class Written:
    """One of the tables of a release while it is written: its parts, which are not in place yet, and what was found."""

    def __init__(
        self, release: Release, data: Microdata, number: int, orders: Orders, options: Options, stack: ExitStack
    ) -> None:
        self._release, self._data, self._number, self._options, self._stack = release, data, number, options, stack
        self._orders = orders
        self.parts: dict[Path, Path] = {}
        self.committed = False
        self.found = Found((), {})

    @property
    def _engine(self) -> Engine:
        return self._release._engine

    def to(self, target: str, before_commit: Callable[[Found], None]) -> dict[str, str]:
        """Write the table, read it back and check it; the hash of each file. A database has it at once."""
        names = self._data.seen().names
        columns = decoded_on(self._engine, self._data, names, self._orders)
        options = self._options
        if is_folder(target):
            return self._to_folder(columns, Path(target))
        if is_address(target):  # in a transaction of its own, verified before it ends
            check = partial(self._check_source, columns, before_commit)
            write_table(batches(list(columns.values())), target, like=options.like, force=options.force, check=check)
            self.committed = True
            return {}
        path = Path(target)
        part = self.parts[path] = self._stack.enter_context(temporary_file(path))
        safe = options.escape_cells
        table = batches(list(columns.values()))
        write_table(table, part, name=path.name, like=options.like, force=True, safe_cells=safe)
        self._check_files(columns, str(part), path.name, self._by_column(columns, str(part), path.name))
        return {str(path): file_sha256(part)}

    def _to_folder(self, columns: dict[str, Released], target: Path) -> dict[str, str]:
        """Files of a part each, and the manifest at last."""
        folder = self.parts[target] = self._stack.enter_context(temporary_folder(target.absolute()))
        like = self._options.like
        like = like.pieces[0] if isinstance(like, Folder) else like
        known = None if like is None or is_address(like.where) else str(Path(like.where).resolve())
        suffix, escaped = "".join(target.suffixes) or ".parquet", self._options.escape_cells
        parts = [
            (
                {name: one.part(start, start + PART) for name, one in columns.items()},
                folder / f"part-{number:05}{suffix}",
            )
            for number, start in enumerate(range(0, self._data.n, PART))
        ]
        items = [(list(some.values()), str(path), known, escaped) for some, path in parts]
        digests = dict(self._engine.map(_write_part, items, "writing"))
        written = [({name: one.values for name, one in some.items()}, str(path), path.name) for some, path in parts]
        del items, parts
        self._check_files(columns, str(folder), f"{target.name}/", written)
        files = [{"name": one, "bytes": (folder / one).stat().st_size, "sha256": sha} for one, sha in digests.items()]
        manifest = folder / MANIFEST
        manifest.touch(mode=0o600)
        manifest.write_text(json.dumps({"records": self._data.n, "files": files}, indent=2), encoding="utf-8")
        flush(manifest)
        return {f"{target.name}/{one}": sha for one, sha in digests.items()}

    def _by_column(self, columns: dict[str, Released], where: str, name: str) -> list[_Comparison]:
        """A file is compared column by column, if one can be read without the others."""
        each = [[one] for one in columns] if open_written(where, name).columnar else [list(columns)]
        return [({one: columns[one].values for one in some}, where, name) for some in each]

    def _check_files(self, columns: dict[str, Released], where: str, name: str, comparisons: list[_Comparison]) -> None:
        """Compare what was written to a file or a folder with what should be there, and check every promise on it."""
        back = open_written(where, name)
        compare_names(columns, back)
        self._engine.map(_compare, [(*one, self._options.escape_cells) for one in comparisons], "reading back")
        comparisons.clear()  # which hold what is not needed any more
        self._check(columns, back)

    def _check_source(self, columns: dict[str, Released], before_commit: Callable[[Found], None], back: Source) -> None:
        """The same for what only this process sees: a table whose transaction has not ended."""
        compare_names(columns, back)
        compare(_tables({name: one.values for name, one in columns.items()}), back)
        self._check(columns, back)
        before_commit(self.found)

    def _check(self, columns: dict[str, Released], back: Source) -> None:
        frame = restored_on(self._engine, columns, self._orders, self._data.n, empty_text=back.empty_text)
        found = self._release.check(frame, self._number)
        residue = residue_check(self._engine, self._release.original, frame, back, self._options.like)
        self.found = replace(found, checks=(*found.checks, residue))
        stop_if_broken(self.found.checks, found.findings)


_Comparison: TypeAlias = tuple[dict[str, Pieces], str, str]  # columns, where they were written, and under which name


def _write_part(columns: list[Released], where: str, like: str | None, escaped: bool) -> tuple[str, str]:
    """Write one file of a folder; its name and its hash."""
    path = Path(where)
    write_table(batches(columns), path, like=open_table(like) if like else None, force=True, safe_cells=escaped)
    flush(path)
    return path.name, file_sha256(path)


def _compare(columns: dict[str, Pieces], where: str, name: str, escaped: bool) -> None:
    """Read some columns of a file back; an error if one is not as written."""
    compare_file(_tables(columns), where, name, escaped)


def _tables(columns: Mapping[str, Pieces]) -> dict[str, Any]:
    """Columns as Arrow tables of their own."""
    import pyarrow as pa

    return {name: pa.table({name: one.column()}) for name, one in columns.items()}
