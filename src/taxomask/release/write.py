"""From a release to files: written beside the target, read back, verified, and only then put in place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from .._support.failures import cannot_write
from .._support.one_thread import one_thread
from .._support.temporary import flush, temporary_file
from ..methods import Check
from ..microdata.files import is_address, shown
from .checks import Found
from .earlier import earlier
from .in_place import put_in_place, staged, taking_turns
from .note import methodology
from .places import audit_path, beside, check_free, targets
from .randomness import check_secret
from .release import Release
from .released import Orders, order_in_chunks, orders_on
from .written import Options, Written

__all__ = ["IN_CHUNKS", "SHUFFLED", "Options", "Publication", "write"]

PRIVATE = "for the custodian alone: with this record the protection can be undone"
SHUFFLED, IN_CHUNKS = "shuffled", "shuffled in chunks"  # how the audit calls an order: see `row_order`
_IN_ORDER = (
    "Rows are in the order of the original table: whoever knows that order, such as that of names or of admissions, "
    "finds a record by it, whatever is promised."
)


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
    orders = Orders() if options.keep_order else orders_on(engine, release.audit["draws"], n)
    record = {
        "plan": options.plan,
        "files": [shown(name) for name in tables],
        "beside": [os.path.relpath(path, audit.parent) for path in names[1:]],
        "rows": "kept" if options.keep_order else IN_CHUNKS if order_in_chunks(n) else SHUFFLED,
        "records": n,
        "linked": release.linked,
    }
    release = release.noting(earlier(audit, release.audit["sha256"]["original"]))
    if options.keep_order and release.linked:
        release = release.noting((_IN_ORDER,))
    with ExitStack() as stack:
        parts = {path: stack.enter_context(temporary_file(path)) for path in names}
        written = [Written(release, copy, number, orders, options, stack) for number, copy in enumerate(copies)]
        next_to = staged(parts)
        in_database = any(map(is_address, tables))
        if in_database:
            stack.enter_context(taking_turns(audit))
        digests = _write_tables(written, tables, next_to[audit], partial(_told_of_one, release, record))
        release = _checked(release, [one.found for one in written], digests)
        texts = {parts[audit]: _told(release, record, digests), parts[public]: methodology(release)}
        if options.report is not None and options.page is not None:
            texts[parts[options.report]] = options.page(release)
        _fill(texts)
        named = {path: part for one in written for path, part in one.parts.items()}
        for part in named.values():
            flush(part)
        if not in_database:
            stack.enter_context(taking_turns(audit))
        put_in_place(audit, parts, named, force=options.force, next_to=next_to)
    return Publication(release, tuple(map(shown, tables)), audit, public, options.report)


def _write_tables(
    written: Sequence[Written], tables: Sequence[str], audit: Path, told: Callable[[Found, dict[str, str]], str]
) -> dict[str, str]:
    """Write every table; the hash of each file. If one fails, its audit stays only where a database has a table."""
    digests: dict[str, str] = {}

    def before_commit(found: Found) -> None:  # a database has the table from now on: its audit must be there
        _fill({audit: told(found, digests)})

    try:
        for one, name in zip(written, tables, strict=True):
            digests |= one.to(name, before_commit)
    except BaseException:
        if not any(one.committed for one in written):
            audit.unlink(missing_ok=True)
        raise
    return digests


def _checked(release: Release, found: list[Found], digests: dict[str, str]) -> Release:
    """The release with what was found in what was read back."""
    checks = tuple(check for one in found for check in one.checks)
    release = release.checked(checks) if release.promise else release.found(found)
    return replace(release, audit={**release.audit, "file_sha256": dict(digests)})


def _told_of_one(release: Release, record: Mapping[str, Any], found: Found, digests: dict[str, str]) -> str:
    return _told(release.found([found]), record, digests)


def _told(release: Release, record: Mapping[str, Any], digests: dict[str, str]) -> str:
    """The text of the private audit."""
    known = {"checks": [vars(check) for check in release.promise], "notes": list(release.notes)}
    content = {"private": PRIVATE, **release.audit, **known, **record, "file_sha256": digests}
    return json.dumps(content, indent=2, default=str)


def _fill(texts: Mapping[Path, str]) -> None:
    """Write texts to disk."""
    for path, text in texts.items():
        try:
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            flush(path)
        except OSError as error:
            raise cannot_write(path.with_name(path.name.strip(".").partition(".")[0]), error) from None
