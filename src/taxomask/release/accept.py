"""What a custodian has looked at and accepts, each with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import PlanError, did_you_mean
from ..microdata import Schema

__all__ = ["Accepted", "accepted_entries", "unneeded_notes"]

_EXAMPLE = "Write accept=[{'columns': ['office'], 'reason': 'offices are public'}]."


@dataclass(frozen=True)
class Accepted:
    """Columns that may tell what the leak check found that they tell, and why."""

    columns: tuple[str, ...]
    reason: str

    def covers(self, columns: Iterable[str]) -> bool:
        """Whether a finding about these columns is accepted."""
        return set(columns) <= set(self.columns)

    def __str__(self) -> str:
        return f"{', '.join(self.columns)}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "reason": self.reason}


def accepted_entries(entries: Iterable[Mapping[str, Any] | Accepted], schema: Schema) -> tuple[Accepted, ...]:
    """Entries in plain values, checked: each names columns of the table, and a reason."""
    if isinstance(entries, (str, Mapping)):
        raise PlanError(f"accept is a list of columns with a reason; got {entries!r}.", hint=_EXAMPLE)
    return tuple(one if isinstance(one, Accepted) else _entry(one, schema) for one in entries)


def unneeded_notes(entries: Iterable[Accepted], used: Iterable[Accepted]) -> tuple[str, ...]:
    """A word about entries that accept nothing, since nothing was found."""
    used = list(used)
    return tuple(
        f"accept names {', '.join(one.columns)}, about which nothing was found: the entry is not needed."
        for one in entries
        if one not in used
    )


def _entry(entry: object, schema: Schema) -> Accepted:
    if not isinstance(entry, Mapping) or set(entry) != {"columns", "reason"}:
        raise PlanError(f"accept: an entry has columns and a reason; got {entry!r}.", hint=_EXAMPLE)
    columns, reason = entry["columns"], entry["reason"]
    if isinstance(columns, str) or not isinstance(columns, Iterable) or not list(columns):
        raise PlanError(f"accept: columns must be a list of names; got {columns!r}.", hint=_EXAMPLE)
    if not isinstance(reason, str) or not reason.strip():
        raise PlanError(
            f"accept: {', '.join(map(str, columns))} needs a reason; got {reason!r}.",
            hint="Say in a few words why the table may be released nevertheless: it is repeated in the public note.",
        )
    for name in columns:
        if name not in schema:
            raise PlanError(f"accept: there is no column {name!r}.", hint=did_you_mean(str(name), schema))
    return Accepted(tuple(columns), " ".join(reason.split()))
