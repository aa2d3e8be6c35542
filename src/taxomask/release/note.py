"""The public note that goes with a protected table: what was done, and nothing that helps to undo it."""

from __future__ import annotations

from ..methods import Method, Pipeline, ReverseMapping
from .release import Release

__all__ = ["methodology"]


def methodology(release: Release) -> str:
    """A note in Markdown for those who use the protected table.

    It names the methods, the columns and the promises. Parameters stay with the custodian: the width of a swap or the
    strength of noise would help to undo it. So do the seed and every figure that was computed from the original.
    """
    schema = release.original.schema
    changed = list(release.protected)
    same = [name for name in schema if name not in (*changed, *schema.identifiers)]
    steps = "\n".join(f"- {one.about} ({one.reference})" for one in _steps(release.method))
    held = dict.fromkeys(check.promise for check in release.promise if not check.promise.endswith(": nothing"))
    promises = "\n".join(f"- {promise}" for promise in held)
    practice = f"**{one.capitalize()}.**\n\n" if (one := release.audit.get("practice")) else ""
    return (
        f"{practice}# How this table was protected\n\n"
        f"The table describes {release.released.n:,} records. Before its release it was protected with taxomask:\n\n"
        f"{steps}\n\n"
        f"Protected columns: {_listed(changed)}.\n"
        f"Columns released as they were collected: {_listed(same)}.\n"
        f"Columns that identify people were removed ({len(schema.identifiers)}).\n\n"
        "What holds for this table, checked on the table itself before it was released:\n\n"
        f"{promises}\n\n"
        "Values of protected columns need not be those of the person whom a record describes. Use the table for "
        "results about groups, not for statements about single records.\n"
    )


def _steps(method: Method) -> list[Method]:
    if isinstance(method, Pipeline):
        return [step for one in method.methods for step in _steps(one)]
    if isinstance(method, ReverseMapping):
        return [*_steps(method.inner), method]
    return [method]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
