"""A plan that was written before, opened again on the page: by hand, by ``inspect``, by the page, or from an audit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import DataError, PlanError, TaxomaskError
from ..microdata.yaml_file import read_yaml
from ..plan import Plan

__all__ = ["opened_plan", "table_of_plan"]

_LARGEST = 4 << 20
_NOT_USED = {"seed": "the seed", "output": "where to write", "engine": "the engine", "practice": "that it is practice"}
_TAKEN = ("missing_cells", "purpose", "recipient", "attackers", "analyses", "accept", "limits")


def table_of_plan(path: Path) -> str | None:
    """The table that a plan names, as the plan names it; None if it names none."""
    named = _content(path).get("data")
    return named if isinstance(named, str) else None


def opened_plan(path: Path, beside: Path, folder: Path, drafted: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a plan says, as the page keeps it.

    Parameters
    ----------
    path
        The plan, or an audit that has it.
    beside
        The folder from which the plan names files.
    folder
        That of the table: the page names files from there, and none outside.
    drafted
        The columns of the table as they were drafted. Columns of which the plan says nothing are undecided.
    """
    content = _content(path)
    try:
        plan = Plan.from_dict(content, beside)
    except TaxomaskError as error:
        raise PlanError(f"{path.name}: {error.message}", hint=error.hint) from None
    said = plan.to_dict()
    entries = {one["name"]: one for one in plan.attributes.to_dict(folder)["attributes"]}
    names = [one["name"] for one in drafted]
    gone = [name for name in entries if name not in names]
    if gone:
        raise DataError(
            f"{path.name} describes columns that the table does not have: {', '.join(map(repr, gone[:8]))}.",
            hint="Open the table that the plan was made for.",
        )
    if any(Path(str(one.get("taxonomy", ""))).is_absolute() for one in entries.values()):
        raise DataError(f"{path.name} names files elsewhere.", hint="Put taxonomies beside the table.")
    new = [{**one, "role": "undecided"} for one in drafted if one["name"] not in entries]
    known = [{**_kind(one), **entries[one["name"]]} for one in drafted if one["name"] in entries]
    return {
        "attributes": [*new, *known],
        "people": plan.attributes.about_people(),
        "method": said.get("method"),
        **{key: said[key] for key in _TAKEN if key in said},
        "notes": _notes(content, path.name, [one["name"] for one in new]),
    }


def _kind(drafted: Mapping[str, Any]) -> dict[str, Any]:
    """A column that is passed through has no kind in a plan; the page shows the drafted one."""
    return {"kind": drafted["kind"]} if "kind" in drafted and drafted["kind"] in ("continuous", "nominal") else {}


def _notes(content: Mapping[str, Any], name: str, new: list[str]) -> list[str]:
    left = [words for key, words in _NOT_USED.items() if content.get(key)]
    found = [f"Not taken from {name}: {', '.join(left)}."] if left else []
    return found + ([f"{name} says nothing of {', '.join(new[:12])}: decide about them."] if new else [])


def _content(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path.name} is too long for a plan.", hint="Choose a plan.")
    if path.suffix == ".json":
        try:
            audit = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            audit = None
        content = audit.get("plan") if isinstance(audit, dict) else None
    else:
        content = read_yaml(path)
    if not isinstance(content, dict):
        raise PlanError(
            f"{path.name} holds no plan.", hint="Choose a plan (.yaml), or the audit of an earlier release."
        )
    return content
