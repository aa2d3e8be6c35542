"""The public note that goes with a protected table: what was done, without seed, strength or original figures."""

from __future__ import annotations

from collections.abc import Iterable

from ..methods import Method, Pipeline, ReverseMapping
from ..methods.base import Counted, Unspoken
from .release import Release
from .subject import public_columns

__all__ = ["methodology"]


def methodology(release: Release) -> str:
    """A note in Markdown for those who use the protected table.

    It names the methods, the columns and the promises. Parameters stay with the custodian: the width of a swap or the
    strength of noise would help to undo it. So do the seed and every figure that was computed from the original.
    """
    schema = release.original.schema
    steps = "\n".join(f"- {one.about} ({one.reference})" for one in _steps(release.method))
    held = dict.fromkeys(
        check.promise
        for check in release.promise
        if not check.promise.endswith(": nothing") and not isinstance(check, Counted | Unspoken)
    )
    promises = "\n".join(f"- {promise}" for promise in held)
    practice = f"**{one.capitalize()}.**\n\n" if (one := release.audit.get("practice")) else ""
    return (
        f"{practice}# How this table was protected\n\n"
        f"The table describes {release.released.n:,} records. Before its release it was protected with taxomask:\n\n"
        f"{steps}\n\n"
        f"Protected columns, in which the method may have left values as they were: {_listed(release.protected)}.\n"
        f"{_following(release)}"
        f"Columns released as they were collected: {_listed(release.untouched)}.\n"
        f"Columns that identify people were removed ({len(schema.identifiers)}).\n\n"
        "What holds for this table, checked on the table itself before it was released:\n\n"
        f"{promises}\n\n"
        f"{_by_chance(release)}"
        f"{_accepted(release)}"
        "Values of protected columns need not be those of the person whom a record describes. Use the table for "
        "results about groups, not for statements about single records.\n"
        "\n## Is my record in it, and how far was it moved?\n\n"
        "Who gave a record can compare it with the table: `taxomask verify-record --release TABLE --record mine.json`. "
        "What it needs to know of the columns:\n\n"
        f"```json\n{public_columns(release)}\n```\n"
    )


def _steps(method: Method) -> list[Method]:
    if isinstance(method, Pipeline):
        return [step for one in method.methods for step in _steps(one)]
    if isinstance(method, ReverseMapping):
        return [*_steps(method.inner), method]
    return [method]


def _following(release: Release) -> str:
    schema = release.original.schema
    named = [f"{name} (that of {schema[name].follows})" for name in release.following]
    return f"Columns that hold what belongs to a protected one: {_listed(named)}.\n" if named else ""


def _by_chance(release: Release) -> str:
    return f"{release.by_chance}\n\n" if release.by_chance else ""


def _accepted(release: Release) -> str:
    """What was found to tell more than was meant, and why it was released nevertheless."""
    if not release.accepted:
        return ""
    lines = "\n".join(f"- {one}" for one in release.accepted)
    return f"Columns that may tell more about protected or removed ones, and why they were accepted:\n\n{lines}\n\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
