"""A protected table, and what is known about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._support.showing import few, line, view
from ..engines import Engine, Memory
from ..errors import DataError
from ..evaluation import Evaluation, Known, check_analyses, check_attackers, measured
from ..measures.analyses import Analysis
from ..methods import Check, Masked, Method, Progress, Promise
from ..methods.base import Counted, Promised
from ..methods.promises import KAnonymity
from ..microdata import Microdata, Role
from ..microdata.coding import Note
from ..microdata.frames import Frame
from .accept import Accepted, unneeded_notes
from .checks import Found, check_release, stop_if_broken, unchanged_notes
from .leaks import Terms
from .places import check_place
from .randomness import check_secret
from .singled_out import BY_THEM, STANDS_ALONE

if TYPE_CHECKING:
    from .write import Publication

__all__ = ["Release"]

PRACTICE = "practice, not for release"
_UNTOUCHED = {  # what is said of a column that no method changed
    Role.CONFIDENTIAL: "confidential, and not changed by this method",
    Role.QUASI_IDENTIFIER: "quasi-identifier, though others may know it: this method did not change it",
    Role.OTHER: "other, by decision of the custodian",
}
_BY_CHANCE = (
    "No table shows a probability: where a promise speaks of one, the probabilities that values were drawn with, or "
    "the groups in which they were put in random order, were checked as well."
)
_ALIKE = 3  # notes of the same kind that are told one by one


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected table and what is known about it.

    ``data`` is for others; everything else is for the custodian.

    Parameters
    ----------
    method
        How it was protected.
    original
        The coded table as it was, for measures.
    promise
        What was promised, and the checks that it holds.
    notes
        What became of missing and unmapped values, and what else the custodian should know.
    audit
        The private record: method, parameters, seed, versions, hashes and timings.
    accepted
        What the leak check found and the custodian accepted, with the reasons.
    """

    method: Method
    original: Microdata
    promise: tuple[Check, ...]
    notes: tuple[str, ...]
    audit: dict[str, Any]
    _masked: Masked
    _promises: tuple[Promise, ...]
    _engine: Engine = field(default_factory=Memory)
    _terms: Terms = field(default_factory=Terms)
    accepted: tuple[Accepted, ...] = ()

    def __repr__(self) -> str:
        return line(
            f"<Release of {self.released.n:,} records by {self.method.name}: {few(self.protected)} protected, "
            f"{sum(check.holds for check in self.promise)} of {len(self.promise)} promises hold>"
        )

    def _repr_html_(self) -> str:
        facts = [
            ("method", self.method.name),
            ("records", f"{self.released.n:,}"),
            *(("accepted", str(one)) for one in self.accepted),
            ("protected", few(self.protected, 30) or "none"),
            ("released as they are", few(self.untouched, 30) or "none"),
            ("removed (identifiers)", few(self.original.schema.identifiers, 30) or "none"),
            *(("to know", note) for note in self.notes),
        ]
        rows = [(one.verdict, one.promise, one.found) for one in self.promise]
        about = "The protected table is in .data; all else is for the custodian."
        return view("Release", about, facts=facts, header=("", "promise", "what was found"), rows=rows)

    @cached_property
    def data(self) -> Any:
        """The protected table: the same kind of frame, rows in the same order, columns and types as before; identifiers
        gone. Numbers that a method made have at most as many decimals as `Attribute.decimals` says."""
        return self.copies[0] if self.copies else self.released.to_frame()

    @cached_property
    def copies(self) -> tuple[Any, ...]:
        """Where the method makes several protected tables: all of them; ``data`` is the first."""
        return tuple(copy.to_frame() for copy in self._masked.copies)

    @property
    def groups(self) -> NDArray[np.int32] | None:
        """The group number of each record, where the method has groups."""
        return None if self._masked.groups is None else self._masked.groups.numbers

    @property
    def swaps(self) -> Mapping[str, NDArray[np.int64]] | None:
        """Where the method swaps: for each attribute the pairs of positions, in order; a value that stayed in place is
        a pair of a position with itself. None for tables of more than 1,048,576 records, whose pairs are
        not kept, but for swaps in blocks."""
        return self._masked.swaps

    @property
    def released(self) -> Microdata:
        """The coded table as it is released, for measures."""
        return self._masked.data

    @property
    def linked(self) -> bool:
        """Whether record i of ``data`` comes from record i of the original; not so for fully synthetic tables."""
        return self._masked.linked

    @property
    def protected(self) -> tuple[str, ...]:
        """The columns that the method replaced."""
        return self.released.changed_from(self.original)

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that follow one that the method replaced: they hold what belongs to its released values."""
        return self.released.following

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        gone = (*self.protected, *self.following, *self.original.schema.identifiers)
        return tuple(name for name in self.original.schema if name not in gone)

    def promised(self) -> tuple[str, ...]:
        """What was promised and holds, in words, and by its name, such as ``k_anonymity``.

        By that name if it covers every quasi-identifier: k-anonymity in some of them only is not told by it.
        """
        checked = [one for one in self.promise if not isinstance(one, Counted)]
        held = tuple(dict.fromkeys(one.promise for one in checked if one.holds))
        if len(held) < len({one.promise for one in checked}):
            return held
        parts = (part for promise in self._promises for part in promise.parts(self._masked))
        whole = (
            type(one).__name__
            for one in parts
            if not isinstance(one, KAnonymity) or set(self.original.schema.quasi_identifiers) <= set(one.attributes)
        )
        return (*held, *dict.fromkeys(re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower() for name in whole))

    @property
    def by_chance(self) -> str:
        """What promises that speak of probabilities rest on, in a sentence; empty if there are none."""
        parts = (part for promise in self._promises for part in promise.parts(self._masked))
        return _BY_CHANCE if any(part.by_chance for part in parts) else ""

    def verify(self, table: Any, copy: int = 0) -> tuple[Check, ...]:
        """Check all that was promised once more, on a table with the rows of ``data``, such as one read from a file.

        Raises
        ------
        PromiseError
            If something does not hold.
        """
        found = self.check(Frame(table), copy)
        stop_if_broken(found.checks, found.findings)
        return found.checks

    def check(self, released: Frame, copy: int = 0) -> Found:
        """Check a table with the rows of ``data``; what was found, be it as promised or not."""
        return check_release(self._engine, self.original, released, self._masked, self._promises, self._terms, copy)

    def as_seen(self) -> Release:
        """The release, checked on its tables as they would be written; an error if something does not hold."""
        tables = self._masked.copies or (self._masked.data,)
        return self.found([self.check(table.seen(), number) for number, table in enumerate(tables)])

    def found(self, found: list[Found]) -> Release:
        """The release with what was found on each of its copies; an error if something does not hold."""
        checks = tuple(check for one in found for check in one.checks)
        accepted = tuple(entry for entry in self._terms.accept if any(entry in one.accepted for one in found))
        notes = (*self.notes, *unchanged_notes(found[0].changed), *unneeded_notes(self._terms.accept, accepted))
        stop_if_broken(checks, tuple(dict.fromkeys(leak for one in found for leak in one.findings)))
        checked = replace(self.checked(checks), notes=notes, accepted=accepted)
        vars(checked).update({name: vars(self)[name] for name in ("data", "copies") if name in vars(self)})  # made once
        return checked

    def checked(self, checks: tuple[Check, ...]) -> Release:
        """The release with what was checked; an error if something does not hold."""
        stop_if_broken(checks)
        return replace(self, promise=checks, audit={**self.audit, "checks": [vars(check) for check in checks]})

    def noting(self, notes: tuple[str, ...]) -> Release:
        """The same with more to know."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def as_practice(self) -> Release:
        """The same, marked as not for release: its audit, note and report begin with that."""
        return replace(self, audit={"practice": PRACTICE, **self.audit})

    def facts(self) -> dict[str, Any]:
        """How the table was protected, in the words of a report."""
        schema = self.original.schema
        return {
            "words": f"{self.method.about} ({self.method})",
            "records": f"{self.original.n:,}",
            "protected": ", ".join(self.protected) or "none",
            "following": ", ".join(f"{name} ({schema[name].follows})" for name in self.following),
            "untouched": ", ".join(self.untouched) or "none",
            "removed": ", ".join(schema.identifiers) or "none",
            "accepted": [str(one) for one in self.accepted],
            "checks": self.promise,
            "notes": self.to_know(),
            "practice": self.audit.get("practice", ""),
            "by_chance": self.by_chance,
            "promised": [one.promise for one in self.promise if isinstance(one, Promised)],
            "as_it_is": self._as_it_is(),
            "alone": self._alone(),
            "files": {PurePath(name).name: sha for name, sha in self.audit.get("file_sha256", {}).items()},
            "table_hash": self.audit["sha256"]["original"],
            "date": datetime.fromtimestamp(self.audit["started"], UTC).date().isoformat(),
            "version": f"taxomask {self.audit['versions']['taxomask']}",
        }

    def _as_it_is(self) -> list[dict[str, Any]]:
        """The columns that are released as they are, with why, and what the plan says about them."""
        schema = self.original.schema
        why: dict[str, list[str]] = {}
        for name in self.untouched:
            one = schema[name]
            said = _UNTOUCHED[Role(one.role)] if one.follows is None else f"it belongs to {one.follows}"
            why.setdefault(f"{said}, {one.note}" if one.note else said, []).append(name)
        return [{"columns": names, "why": said} for said, names in why.items()]

    def _alone(self) -> str:
        """How many records, or people, nobody else equals in what is released as it is; empty if nothing is."""
        about = (one.found for one in self.promise if one.promise == STANDS_ALONE or one.promise.endswith(BY_THEM))
        return next(about, "") if self.untouched else ""

    def to_know(self) -> list[str]:
        """The notes; what was found in many columns is told once."""
        kinds: dict[str, list[Note]] = {}
        for note in self.original.notes:
            kinds.setdefault(note.event, []).append(note)
        told = []
        for notes in kinds.values():
            if len(notes) <= _ALIKE:
                told += [str(note) for note in notes]
            else:
                what = str(notes[0]).partition(" cell")[2].partition(" ")[2]
                columns = ", ".join(f"{note.attribute} ({note.cells:,})" for note in notes)
                told.append(f"Cells of {len(notes)} columns {what.removesuffix('.')}: {columns}.")
        first = {str(note) for note in self.original.notes}
        return told + [note for note in self.notes if note not in first]

    def evaluate(
        self,
        *,
        attackers: Iterable[str] | None = None,
        analyses: Iterable[Analysis] = (),
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """What it costs and what it risks.

        Parameters
        ----------
        attackers
            The names of those who try; by default all who have something to work on.
        analyses
            What is computed from both tables and compared, such as ``tm.Mean("stay", of="days", by=["region"])``.
        seed
            For the subsamples of some measures and what attackers draw, never that of the release; without it, the
            same each time.
        progress
            Called from time to time with the fraction that is done.
        """
        engine = self._engine if progress is None else self._engine.telling(progress)
        known = Known(
            self.linked,
            method=self.method,
            attackers=check_attackers(attackers),
            seed=seed or 0,
            analyses=check_analyses(analyses, self.original.schema),
        )
        return measured(self.original, self.released, self.protected, known, engine=engine)

    def records_at_risk(self, most: int | None = 100, *, seed: int = 0, progress: Progress | None = None) -> Any:
        """The records that are found most easily, worst first, for the custodian alone: a table of the caller's kind.

        For each its ``row`` in the original table, from 1, the chance to be found ``before`` and ``after``, by which
        ``attacker``, and the smallest set of ``columns`` (``columns_before``) that singles it out, if few do. More is
        in ``evaluate().records_at_risk``.

        Parameters
        ----------
        most
            How many; None for all.
        seed, progress
            As of `evaluate`, which this takes as long as.
        """
        found = self.evaluate(seed=seed, progress=progress).records_at_risk
        if found is None:
            raise DataError(
                "the records of this release are not linked to original ones, so that none of them can be found.",
                hint="For a synthetic table look at evaluate().risk.",
            )
        return found.to_frame(most)

    def write(
        self,
        target: str | PathLike[str],
        *,
        report: str | PathLike[str] | None = None,
        force: bool = False,
        practice: bool = False,
    ) -> Publication:
        """Write it: beside the target first, read back from disk and checked, and only then put in place.

        With the table come a note to publish and a private audit, which can undo the protection. Rows are shuffled.

        Parameters
        ----------
        target
            A file, whose suffix says the format; a folder of files, if it ends in a slash; or the address of a table in
            a database.
        report
            Also write a report for the custodian, as one HTML page.
        force
            Overwrite what exists.
        practice
            This is not for release: a seed that can be guessed is accepted, and audit, note and report say so.
        """
        from .write import Options, write

        check_secret(self.audit["seed"], practice=practice)
        page = None if report is None else Path(report)
        if page is not None:
            check_place(page, force=force)
        told = None if page is None else self.evaluate().page
        return write(self, fspath(target), Options(force=force, practice=practice, report=page, page=told))
