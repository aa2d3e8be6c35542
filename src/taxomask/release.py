"""From a table and a method to a release whose promises were checked on the data itself."""

from __future__ import annotations

import hashlib
import platform
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._version import __version__
from .checks import check_integer
from .engines import Here
from .errors import PromiseError
from .leaks import identifier_checks
from .methods import Check, Masked, Method, Progress, Promise
from .methods._kept import differs, released_column
from .methods.decimals import rounded
from .microdata import Microdata, Schema
from .microdata.frames import Frame
from .one_thread import one_thread
from .showing import few, line, view

__all__ = [
    "Release",
    "changed_in",
    "common_checks",
    "fingerprint",
    "protect",
    "stop_if_broken",
    "unchanged_notes",
    "untouched_notes",
    "versions",
]

_SOME_CHANGE = "the protected columns are not as they were"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected table and what is known about it.

    ``data`` is for others; everything else is for the custodian.

    Parameters
    ----------
    data
        The protected table: the same kind of frame, rows in the same order, columns and types as before; identifiers
        gone. Numbers that a method made have at most as many decimals as `Attribute.decimals` says.
    copies
        Where the method makes several protected tables: all of them; ``data`` is the first.
    groups
        The group number of each record, where the method has groups.
    swaps
        Where the method swaps: for each attribute the pairs of positions, in order; a value that stayed in place is a
        pair of a position with itself.
    promise
        What was promised, and the checks that it holds.
    notes
        What became of missing and unmapped values, and what else the custodian should know.
    audit
        The private record: method, parameters, seed, versions, hashes and timings.
    original, released
        The coded tables, for measures.
    """

    data: Any
    copies: tuple[Any, ...]
    groups: NDArray[np.int32] | None
    swaps: Mapping[str, NDArray[np.int64]] | None
    promise: tuple[Check, ...]
    notes: tuple[str, ...]
    audit: dict[str, Any]
    original: Microdata
    released: Microdata
    _masked: Masked
    _promises: tuple[Promise, ...]

    def __repr__(self) -> str:
        return line(
            f"<Release of {self.released.n:,} records by {self.audit['method']}: {few(self.protected)} protected, "
            f"{sum(check.holds for check in self.promise)} of {len(self.promise)} promises hold>"
        )

    def _repr_html_(self) -> str:
        schema, changed = self.original.schema, self.protected
        same = [name for name in schema if name not in (*changed, *schema.identifiers)]
        facts = [
            ("method", self.audit["method"]),
            ("records", f"{self.released.n:,}"),
            ("protected", few(changed, 30) or "none"),
            ("released as they are", few(same, 30) or "none"),
            ("removed (identifiers)", few(schema.identifiers, 30) or "none"),
            *(("to know", note) for note in self.notes),
        ]
        rows = [("holds" if one.holds else "DOES NOT HOLD", one.promise, one.found) for one in self.promise]
        about = "The protected table is in .data; all else is for the custodian."
        return view("Release", about, facts=facts, header=("", "promise", "what was found"), rows=rows)

    @property
    def linked(self) -> bool:
        """Whether record i of ``data`` comes from record i of the original; not so for fully synthetic tables."""
        return self._masked.linked

    @property
    def protected(self) -> tuple[str, ...]:
        """The columns that the method replaced."""
        return self.released.changed_from(self.original)

    def verify(self, table: Any, copy: int = 0) -> tuple[Check, ...]:
        """Check all that was promised once more, on a table with the rows of ``data``, such as one read from a file.

        Raises
        ------
        PromiseError
            If something does not hold.
        """
        masked = _copy(self._masked, copy)
        changed = changed_cells(self.original, Frame(table), masked)
        checks = checked(self.original, Frame(table), masked, self._promises, changed)
        stop_if_broken(checks)
        return checks


@one_thread()
def protect(
    frame: Any, schema: Schema, method: Method, *, seed: int | None = None, progress: Progress | None = None
) -> Release:
    """Protect a table.

    Parameters
    ----------
    frame
        A pandas, polars or pyarrow table.
    schema
        What its columns are.
    method
        How to protect it, such as ``Microaggregation(k=5)``.
    seed
        For a release that can be repeated; by default the operating system gives one. It is kept in the audit only.
    progress
        Called from time to time with the fraction of the masking that is done.

    Raises
    ------
    PromiseError
        If something that the method promises does not hold on the table about to be released, or if the method changed
        nothing in the columns that it should protect. Nothing is returned then.
    """
    seed = secrets.randbits(128) if seed is None else check_integer("seed", seed, at_least=0)
    started = time.time()
    data = Microdata.from_frame(frame, schema)
    promises = method.promises(data)
    site = Here(progress)
    masked = rounded(site, data, method.spread(site, data, np.random.default_rng(seed)), method, promises)
    copies = tuple(copy.to_frame() for copy in masked.copies or (masked.data,))
    changes = [changed_cells(data, Frame(copy), masked) for copy in copies]
    checks = tuple(
        check
        for number, (copy, changed) in enumerate(zip(copies, changes, strict=True))
        for check in checked(data, Frame(copy), _copy(masked, number), promises, changed)
    )
    stop_if_broken(checks)
    audit = {
        "method": method.name,
        "parameters": method.parameters(),
        "seed": seed,
        "versions": versions(),
        "sha256": {"original": fingerprint(Frame(frame)), "released": [fingerprint(Frame(copy)) for copy in copies]},
        "started": started,
        "seconds": time.time() - started,
        "checks": [vars(check) for check in checks],
    }
    notes = (
        *(str(note) for note in data.notes),
        *masked.notes,
        *untouched_notes(data, masked.data),
        *unchanged_notes(changes[0]),
    )
    groups = None if masked.groups is None else masked.groups.numbers
    several = copies if masked.copies else ()
    return Release(copies[0], several, groups, masked.swaps, checks, notes, audit, data, masked.data, masked, promises)


def versions() -> dict[str, str]:
    """What a release was made with."""
    return {"taxomask": __version__, "python": platform.python_version(), "numpy": np.__version__}


def _copy(masked: Masked, number: int) -> Masked:
    """The masked table that is one of several copies."""
    return replace(masked, data=masked.copies[number]) if masked.copies else masked


def stop_if_broken(checks: tuple[Check, ...]) -> None:
    broken = [check for check in checks if not check.holds]
    if broken:
        advice = (
            "Choose stronger parameters or other columns; where a random method left a small table as it is by chance, "
            "another seed."
            if all(check.promise == _SOME_CHANGE for check in broken)
            else "Change the parameters of the method or the roles of the columns; if that does not help, report a bug."
        )
        raise PromiseError(
            "the release was stopped:\n" + "\n".join(f"  {check}" for check in broken),
            hint=f"Nothing was released. {advice}",
        )


def checked(
    data: Microdata, released: Frame, masked: Masked, promises: tuple[Promise, ...], changed: Mapping[str, int]
) -> tuple[Check, ...]:
    """What every release must be, whatever the method, and what the method promises."""
    return (
        *common_checks(data, released, masked, promises, changed),
        *(promise.check(data, released, masked) for promise in promises),
    )


def common_checks(
    data: Microdata, released: Frame, masked: Masked, promises: tuple[Promise, ...], changed: Mapping[str, int]
) -> tuple[Check, ...]:
    """What every release must be: without identifiers, whole, and not the original table."""
    expected = [name for name in data.schema if name not in data.schema.identifiers]
    untouched = [name for name in expected if not changed.get(name)]
    records = data.n if masked.linked else masked.data.n
    return (
        *identifier_checks(data, released, untouched),
        Check(
            "the same columns and number of records" if masked.linked else "the same columns",
            sorted(released.names) == sorted(expected) and released.n == records,
            f"{len(released.names)} columns, {released.n:,} records",
        ),
        _change(data, masked, promises, changed),
    )


def changed_cells(data: Microdata, released: Frame, masked: Masked) -> dict[str, int]:
    """How many cells of each column that a method replaced are not as they were, in the table about to be released."""
    return {name: changed_in(data, released, name) for name in masked.data.changed_from(data)}


def changed_in(data: Microdata, released: Frame, name: str) -> int:
    """How many cells of a released column hold another value than the original one; all, if records are others."""
    if name not in released.names or released.n != data.n:
        return released.n
    return int(differs(data.columns[name], released_column(released, data, name)).sum())


def _change(data: Microdata, masked: Masked, promises: tuple[Promise, ...], changed: Mapping[str, int]) -> Check:
    """The original table is no release, unless what the method replaced is protected as it is."""
    listed = ", ".join(changed) or "any column"
    cells = sum(changed.values())
    if cells:
        where = ", ".join(name for name, count in changed.items() if count)
        return Check(_SOME_CHANGE, True, f"{cells:,} cells of {where} changed")
    enough = {name for promise in promises for name in promise.suffices_for(masked)}
    if enough and enough.issuperset(changed):
        already = "what is promised of them holds in the original already: nothing had to be changed"
        return Check(f"{', '.join(changed or enough)} need no change", True, already)
    if changed and all(data.columns[name].missing.all() for name in changed):
        return Check(f"{listed} hold no value to protect", True, "all cells are missing")
    return Check(_SOME_CHANGE, False, f"no cell of {listed} changed")


def fingerprint(frame: Frame) -> str:
    """A hash of the values of a table, of any type."""
    import pyarrow as pa

    digest = hashlib.sha256()
    for name in frame.names:
        digest.update(repr(name).encode())
        array = frame.arrow(name)
        if array is None:  # objects without a type in pyarrow
            digest.update(repr(frame.objects(name)).encode())
            continue
        column = pa.table({"": array}).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, column.schema) as stream:
            stream.write_table(column)
        digest.update(sink.getvalue())
    return digest.hexdigest()


def untouched_notes(data: Microdata, masked: Microdata) -> tuple[str, ...]:
    """A warning about quasi-identifiers that the method left as they are."""
    changed = masked.changed_from(data)
    same = [name for name in data.schema.quasi_identifiers if name not in changed]
    if not same:
        return ()
    return (f"Released as they are, though quasi-identifiers: {', '.join(same)}. No promise covers them.",)


def unchanged_notes(changed: Mapping[str, int]) -> tuple[str, ...]:
    """Which of the columns that the method replaced came out as they were, if not all of them did."""
    same = [name for name, cells in changed.items() if not cells]
    if not same or len(same) == len(changed):
        return ()
    return (f"The method was applied to {', '.join(same)} too, but no value changed there.",)
