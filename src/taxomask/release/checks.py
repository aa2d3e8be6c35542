"""What every release must be, and what a method promises, checked on the table that is about to be released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..errors import PromiseError
from ..measures.risk._by_person import different_on, owned_by
from ..methods import Check, Masked, Promise
from ..methods._kept import differs, missing_elsewhere, released_column, released_on
from ..methods._runs import Runs, combined_on, runs_of
from ..methods.base import Promised, Unspoken, check
from ..microdata import Column, Microdata
from ..microdata.combinations import numbered
from ..microdata.frames import Frame
from ..microdata.people import class_owners
from .accept import Accepted
from .leaks import NO_IDENTIFIER, NO_TWIN, WAY_OUT, Terms, leak_checks
from .residue import NO_RESIDUE, OTHER_FORMAT
from .seen import texts_of
from .twins import Finding, counted

__all__ = ["Found", "check_release", "stop_if_broken", "unchanged_notes"]

_SOME_CHANGE = "not all cells of the protected columns are as they were"


@dataclass(frozen=True)
class Found:
    """The checks of a table, and how many cells of each column that the method replaced are not as they were."""

    checks: tuple[Check, ...]
    changed: Mapping[str, int]
    accepted: tuple[Accepted, ...] = ()
    findings: tuple[Finding, ...] = ()


def check_release(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Masked,
    promises: tuple[Promise, ...],
    terms: Terms,
    copy: int = 0,
) -> Found:
    """Check a table that is about to be released: one of several copies, or the only one."""
    if masked.copies:
        masked = replace(masked, data=masked.copies[copy])
    names = masked.data.changed_from(data)
    changed = _changed_on(engine, data, released, names)
    common = engine.run(_common, data, released, masked, promises, changed, what="checking")
    following = [(masked.data, released, name) for name in masked.data.following]
    belonging = engine.map(_belonging, following, "checking")
    leaks = leak_checks(engine, data, released, masked.data, changed, terms, linked=masked.linked)
    gaps = _missing_on(engine, data, released, names) if masked.linked else ()
    found = _promises(engine, data, released, masked, promises)
    return Found((*common, *belonging, *leaks.checks, *gaps, *found), changed, leaks.accepted, leaks.findings)


def _promises(
    engine: Engine, data: Microdata, released: Frame, masked: Masked, promises: tuple[Promise, ...]
) -> list[Check]:
    """What was promised: in chunks where the table is long and that can be done, else one job for each promise."""
    long = released.n > engine.chunk
    whole = [promise for promise in promises if not (long and promise.in_chunks)]
    found = iter(engine.map(check, [(promise, data, released, masked) for promise in whole], "checking promises"))
    checks = (
        promise.check_on(engine, data, released, masked) if long and promise.in_chunks else next(found)
        for promise in promises
    )
    return [Promised(**vars(one)) for one in checks]


def stop_if_broken(checks: tuple[Check, ...], findings: Sequence[Finding] = ()) -> None:
    """An error that says which checks do not hold, if there are such, and what leaks were found."""
    broken = [check for check in checks if not check.holds]
    if broken:
        advice = "Change the parameters of the method or the roles of the columns; if that does not help, report a bug."
        if all(check.promise == _SOME_CHANGE for check in broken):
            advice = (
                "Choose stronger parameters or other columns; where a random method left a small table as it is by "
                "chance, another seed."
            )
        elif all(check.promise in (NO_IDENTIFIER, NO_TWIN) for check in broken):
            advice = WAY_OUT
        elif all(check.promise == NO_RESIDUE for check in broken):
            advice = OTHER_FORMAT
        error = PromiseError(
            "the release was stopped:\n" + "\n".join(dict.fromkeys(f"  {check}" for check in broken)),  # of copies once
            hint=f"Nothing was released. {advice}",
        )
        error.leaks = tuple({"columns": list(one.columns), "of": one.of, "found": one.words} for one in findings)
        raise error


def unchanged_notes(changed: Mapping[str, int]) -> tuple[str, ...]:
    """Which of the columns that the method replaced came out as they were, if not all of them did."""
    same = [name for name, cells in changed.items() if not cells]
    if not same or len(same) == len(changed):
        return ()
    return (f"The method was applied to {', '.join(same)} too, but no value changed there.",)


def _common(
    data: Microdata, released: Frame, masked: Masked, promises: tuple[Promise, ...], changed: Mapping[str, int]
) -> tuple[Check, ...]:
    """What every release must be: without identifiers, whole, and not the original table."""
    identifiers = data.schema.identifiers
    expected = [name for name in data.schema if name not in identifiers]
    records = data.n if masked.linked else masked.data.n
    leaked = [name for name in released.names if name in identifiers]
    whole = "the same columns and number of records" if masked.linked else "the same columns"
    left_out = f"left out: {', '.join(identifiers)}" if identifiers else "the plan names none"
    return (
        Check("no column of identifiers is released", not leaked, ", ".join(leaked) or left_out),
        Check(
            f"without these, {whole}" if identifiers else whole,
            sorted(released.names) == sorted(expected) and released.n == records,
            f"{counted(len(released.names), 'column')}, {counted(released.n, 'record')}",
        ),
        _change(data, masked, promises, changed),
    )


def _missing_on(engine: Engine, data: Microdata, released: Frame, names: tuple[str, ...]) -> tuple[Check, ...]:
    """The same as `_missing`, in chunks where the table is long."""
    if not engine.in_parts(data.n) or released.n != data.n:
        checks: tuple[Check, ...] = engine.run(_missing, data, released, names, what="checking")
        return checks
    columns = {name: one for name, one in data.columns.items() if name in released.names}
    gaps = {name: engine.fold(_gaps, add, [one], what="checking") for name, one in columns.items()}
    kept = [name for name in names if gaps.get(name) and not _filled_on(engine, data, released, name)]
    if not kept:
        return ()
    others = [name for name in columns if name not in names and gaps[name]]
    codes = (engine.each(_gone, [columns[name]], what="checking") for name in (*kept, *others))
    keys = combined_on(engine, codes, data.n)
    if data.units is not None:
        found, whole = owned_by(engine, keys, data.units)[2], different_on(engine, data.units)
        return (_fingerprint(kept, found, whole, data.unit),)
    ordered = engine.sort(keys, "checking")
    return (_fingerprint(kept, engine.fold(runs_of, Runs.then, [ordered], what="checking").alone, data.n, data.unit),)


def _filled_on(engine: Engine, data: Microdata, released: Frame, name: str) -> int:
    """How many cells of a column are missing in one version of it only."""
    both = data.columns[name], released_on(engine, released, data, name)
    return engine.fold(missing_elsewhere, add, both, what="checking")


def _gaps(column: Column) -> int:
    return int(column.missing.sum())


def _gone(column: Column) -> NDArray[np.int32]:
    return column.missing.astype(np.int32)


def _missing(data: Microdata, released: Frame, names: tuple[str, ...]) -> tuple[Check, ...]:
    """Which cells are missing may be a fingerprint: how many records stand alone by it, where the method kept it."""
    if released.n != data.n:
        return ()
    kept = {name: data.columns[name].missing for name in names if name in released.names}
    kept = {
        name: gone
        for name, gone in kept.items()
        if gone.any() and np.array_equal(gone, released_column(released, data, name).missing)
    }
    if not kept:
        return ()
    as_they_are = [one for name, one in data.columns.items() if name in released.names and name not in names]
    pattern, _ = numbered([*kept.values(), *(one.missing for one in as_they_are if one.missing.any())], data.n)
    units = data.units
    alone = class_owners(pattern, units)[pattern] == 1
    found, whole = (alone.sum(), data.n) if units is None else (len(np.unique(units[alone])), len(np.unique(units)))
    return (_fingerprint(list(kept), int(found), whole, data.unit),)


def _fingerprint(kept: Sequence[str], found: int, whole: int, unit: str) -> Check:
    return Check(
        f"cells of {', '.join(kept)} that were missing are missing, and no others",
        True,
        f"whoever knows which cells were missing finds {found:,} of {whole:,} {unit} by that alone, "
        f"{100 * found / whole:.2g} %",
    )


def _belonging(masked: Microdata, released: Frame, name: str) -> Check:
    """A column that follows another one holds what belongs to the released values of that."""
    expected, found = _texts(Frame(masked.to_column(name)), name), _texts(released, name)
    differ = sum(a != b for a, b in zip(expected, found, strict=False)) + abs(len(expected) - len(found))
    return Check(
        f"{name} holds what belongs to the released {masked.schema[name].follows}",
        not differ,
        f"{differ:,} cells differ",
    )


def _texts(frame: Frame, name: str) -> list[str]:
    """The cells of a column as texts; nothing is an empty one."""
    if name not in frame.names:
        return []
    codes, texts, _ = texts_of(frame, name)
    listed = [*(text or "" for text in texts.to_pylist()), ""]
    return [listed[code] for code in codes.tolist()]


def _changed_on(engine: Engine, data: Microdata, released: Frame, names: Sequence[str]) -> dict[str, int]:
    """How many cells of each column hold another value than the original one."""
    if not engine.in_parts(data.n) or released.n != data.n or not set(names) <= set(released.names):
        found = engine.map(_changed, [(data, released, name) for name in names], "comparing")
        return dict(zip(names, found, strict=True))
    columns = {name: (data.columns[name], released_on(engine, released, data, name)) for name in names}
    return {name: engine.fold(_how_many_differ, add, both, what="comparing") for name, both in columns.items()}


def _how_many_differ(before: Column, after: Column) -> int:
    return int(differs(before, after).sum())


def _changed(data: Microdata, released: Frame, name: str) -> int:
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
        return Unspoken(_SOME_CHANGE, True, f"{cells:,} cells of {where} changed")
    enough = {name for promise in promises for name in promise.suffices_for(masked)}
    if enough and enough.issuperset(changed):
        whatever = "what is promised of them does not depend on whether a value changes"
        return Unspoken(f"{', '.join(changed or enough)} need no change", True, whatever)
    if changed and all(data.columns[name].missing.all() for name in changed):
        return Unspoken(f"{listed} hold no value to protect", True, "all cells are missing")
    return Unspoken(_SOME_CHANGE, False, f"no cell of {listed} changed")
