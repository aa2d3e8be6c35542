"""Records at risk: for each the chance to be found, before and after, and what makes it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._support.showing import line
from ..measures.risk import ATTACKERS, SpecialUniques
from ..measures.risk.inputs import class_numbers
from ..microdata import Microdata
from ..microdata.class_risk import class_risk, people_risk
from ..microdata.frames import of_kind

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["EDGES", "NAMES", "RecordsAtRisk", "records_at_risk"]

Float = NDArray[np.float64]

EDGES = (0.05, 0.1, 0.2, 1 / 3, 0.5)
NAMES = ("up to 0.05", "above 0.05", "above 0.1", "above 0.2", "above 1/3", "above 0.5")


@dataclass(frozen=True, eq=False, repr=False)
class RecordsAtRisk:
    """The chance to find each record, before and after, and the columns that single it out.

    ``before``: the chance of somebody who knows all quasi-identifiers of the original table, one over the people of its
    class. ``after``: the largest over the attackers on who a record is, ``attackers``, each of whom knows the original
    table; NaN where none of them looked for the record, as they look for a sample of a long table. It is the chance
    that the link of the released record is right: of records released alike one may have 1 and the others 0, though
    nobody can tell which is which. Of a table longer than a chunk only those records are here that somebody looked for,
    and ``others`` is how many more there are.
    """

    data: Microdata
    attackers: tuple[str, ...]
    before: Float
    after: Float
    by: NDArray[np.int64]
    singled_out_before: SpecialUniques | None
    singled_out: SpecialUniques | None
    others: int = 0

    def __repr__(self) -> str:
        before, after = (int((one > 0.2).sum()) for one in (self.before, self.after))
        return line(f"<RecordsAtRisk: {before:,} of {self.data.n:,} above 0.2 before, {after:,} after>")

    @property
    def unit(self) -> str:
        return "records" if self.data.people is None else "people"

    @property
    def histogram(self) -> dict[str, dict[str, int]]:
        """How many records, or people where the schema names them, have which chance, before and after.

        A person is found by the record of theirs that is found most easily.
        """
        both = {"before": self.before, "after": self.after}
        chances = {when: people_risk(one, self.data.people) for when, one in both.items()}
        counts = {when: np.bincount(_bins(one), minlength=len(NAMES)) for when, one in chances.items()}
        found = {name: {when: int(counts[when][i]) for when in counts} for i, name in enumerate(NAMES)}
        unknown = int(np.isnan(chances["after"]).sum()) + self.others
        return found | ({"not looked for": {"before": self.others, "after": unknown}} if unknown else {})

    def above(self, risk: float) -> dict[str, int]:
        """How many records, or people, are found with a greater chance, before and after."""
        both = {"before": self.before, "after": self.after}
        return {when: int((people_risk(one, self.data.people) > risk).sum()) for when, one in both.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values: no single record."""
        return {
            "unit": self.unit,
            "attackers": list(self.attackers),
            "above_0.2": self.above(0.2),
            "histogram": self.histogram,
        }

    def worst(self, most: int | None = 100) -> list[dict[str, Any]]:
        """The records that are found most easily after protection, then before; ``row`` is their original one, from 1.

        ``columns`` are the smallest set of released columns that singles the record out, ``columns_before`` of original
        ones; empty if no set of few columns does.
        """
        after = np.where(np.isnan(self.after), -1.0, self.after)
        order = np.lexsort((np.arange(len(after)), -self.before, -after))[:most].tolist()
        return [
            {
                "row": int(self.data.rows[i]) + 1,
                "before": float(self.before[i]),
                "after": None if np.isnan(self.after[i]) else float(self.after[i]),
                "attacker": self.attackers[int(self.by[i])] if self.after[i] > 0 else "",
                "columns": _columns(self.singled_out, i),
                "columns_before": _columns(self.singled_out_before, i),
            }
            for i in order
        ]

    def to_frame(self, most: int | None = 100) -> Any:
        """The worst as a table, of the kind of the original one: columns joined by commas."""
        import pyarrow as pa

        rows = self.worst(most)
        numbers = ("before", "after")
        columns: dict[str, Any] = {"row": pa.array([one["row"] for one in rows], pa.int64())}
        columns |= {name: pa.array([one[name] for one in rows], pa.float64()) for name in numbers}
        columns["attacker"] = pa.array([one["attacker"] for one in rows], pa.string())
        for name in ("columns", "columns_before"):
            columns[name] = pa.array([", ".join(one[name]) for one in rows], pa.string())
        return of_kind(self.data.frame.kind, columns)


def records_at_risk(evaluation: Evaluation) -> RecordsAtRisk | None:
    """From what the measures found; None if records are not linked, so that nobody knows which is which."""
    if evaluation.drawn:
        return _of_those_looked_for(evaluation)
    chances = _chances(evaluation)
    if not chances:
        return None
    original, names = evaluation.original, evaluation.original.schema.quasi_identifiers
    before = class_risk(class_numbers(original.columns[name] for name in names), original.people)
    every = np.stack(list(chances.values()))
    looked_for = ~np.isnan(every).all(axis=0)
    after = np.where(looked_for, np.fmax.reduce(every, axis=0), np.nan)
    by = np.where(np.isnan(every), -1.0, every).argmax(axis=0)
    special = evaluation.risk.get("special_uniques") or {}
    return RecordsAtRisk(original, tuple(chances), before, after, by, special.get("before"), special.get("after"))


def _of_those_looked_for(evaluation: Evaluation) -> RecordsAtRisk | None:
    """Of a long table."""
    looked_for = evaluation.looked_for
    if looked_for is None:
        return None
    rows = looked_for.rows
    found = {
        name: one
        for name, one in evaluation.attackers.items()
        if one is not None and ATTACKERS[name].after == "identity" and len(one.rows)
    }
    every = np.full((len(found), len(rows)), np.nan)
    for chances, one in zip(every, found.values(), strict=True):
        chances[np.searchsorted(rows, one.rows)] = one.chances
    after, by = np.fmax.reduce(every, axis=0), np.where(np.isnan(every), -1.0, every).argmax(axis=0)
    some, others = evaluation.original.with_rows(rows, {}), evaluation.original.n - len(rows)
    return RecordsAtRisk(some, tuple(found), 1 / looked_for.alike, after, by, None, None, others)


def _chances(evaluation: Evaluation) -> dict[str, Float]:
    """The chance to be found of each record, by the name of each attacker on who a record is."""
    linkage = evaluation.risk.get("linkage")
    if linkage is None:
        return {}
    tried = {name: one for name, one in evaluation.attackers.items() if one is not None}
    identity = {name: one for name, one in tried.items() if ATTACKERS[name].after == "identity"}
    found = {name: one.chances for name, one in identity.items() if len(one.chances) == evaluation.original.n}
    return found or {"nearest": linkage.right / linkage.ties}


def _bins(chances: Float) -> NDArray[np.int64]:
    known = chances[~np.isnan(chances)]
    return np.searchsorted(np.array(EDGES), known - 1e-12, side="left").astype(np.int64)


def _columns(found: SpecialUniques | None, record: int) -> list[str]:
    return [] if found is None or not len(found.smallest) else list(found.singles_out(record))
