"""What files of SPSS, Stata and SAS say of columns: labels, labels of values, measure levels, what means missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from .._support.spelling import spell
from ..microdata import Attribute, Kind, Role
from ..microdata.files import Source
from ..microdata.infer import LOOKED_AT
from ..microdata.recognition import recognise
from .first_look import FirstLook

__all__ = ["with_labels"]

HIDDEN = "hidden in the workbook"
_MOST = 100  # different values that a scale may have
_NO_ANSWER = re.compile(
    r"(refus|declin|do(es)? ?n.?t know|\bdk\b|\bna\b|n/a|no answer"
    r"|not (answered|applicable|stated|ascertained|asked|known)"
    r"|missing|unknown|inap\b|keine (angabe|antwort)|wei(ß|ss) nicht|verweigert|trifft nicht zu|ne sait pas"
    r"|sans r[ée]ponse"
    r"|no (sabe|contesta)|non (sa|risponde)|weet niet)",
    re.IGNORECASE,
)


def with_labels(attribute: Attribute, source: Source | None, table: FirstLook) -> Attribute:
    """The draft of a column with what its file says of it.

    A column whose name says nothing is recognised by its label.
    Values that the file calls missing, and those whose labels say that nobody answered, mean missing. A column whose
    values all have labels holds categories; in order, if the file says that its level is ordinal. A level that says
    nominal is believed, too; one that says scale is what packages write when nobody has chosen one.
    """
    if source is None:
        return attribute
    if attribute.name in source.hidden:
        attribute = replace(attribute, note="; ".join(filter(None, (HIDDEN, attribute.note))))
    attribute = _titled(attribute, source.titles.get(attribute.name, ""), table)
    if attribute.kind == Kind.TAXONOMIC or attribute.role == Role.IDENTIFIER:
        return attribute
    name, level = attribute.name, source.levels.get(attribute.name)
    labels = {spell(value): text for value, text in source.labels.get(name, {}).items()}
    silent = {value: text for value, text in labels.items() if _NO_ANSWER.search(text)}
    missing = [spell(value) for value in source.missing.get(name, ())]
    absent = dict.fromkeys([*(spell(one) for one in attribute.missing), *missing, *silent])
    notes = [part for part in attribute.note.split("; ") if part and not _said_of(part, {*missing, *silent})]
    if missing:
        notes.append(f"the file calls {', '.join(missing)} missing")
    notes += [f"{value} is labelled {text!r}: means missing" for value, text in silent.items() if value not in missing]
    changes: dict[str, Any] = {"missing": tuple(absent)}
    present = (
        [one for one in table.frequent(name, LOOKED_AT).spellings if one not in absent]
        if source.levels or labels
        else []
    )
    kind = _kind(level, labels, present)
    if kind is not None and kind != attribute.kind:
        changes |= {"kind": kind, "decimals": None, "notation": None, "open_ends": (), "coarsen": None, "order": ()}
    if kind == Kind.ORDINAL:
        changes["order"] = tuple(_in_order({*labels, *present} - set(absent)))
        notes.append(f"ordinal, as the file says: {_shown(labels, changes['order'])}")
    elif kind == Kind.NOMINAL and labels:
        notes.append(f"values with labels: {_shown(labels, _in_order(set(labels) - set(absent)))}")
    return replace(attribute, note="; ".join(notes), **changes)


def _titled(attribute: Attribute, title: str, table: FirstLook) -> Attribute:
    """A column with the label that the file gives it, and with the role that goes with that, if its name has none."""
    title = " ".join(title.split())
    if not title or title == attribute.name:
        return attribute
    note, clue = f"labelled {title!r}", recognise(title)
    if attribute.role != Role.UNDECIDED or clue.role == Role.UNDECIDED:
        return replace(attribute, note="; ".join(part for part in (note, attribute.note) if part))
    values = table.frequent(attribute.name, LOOKED_AT).spellings
    numbers = [_number(one) for one in values if one not in attribute.missing]
    codes = clue.codes and attribute.kind == Kind.CONTINUOUS and not attribute.notation and not attribute.open_ends
    kind = Kind.NOMINAL if codes and all(one is not None and one.is_integer() for one in numbers) else attribute.kind
    why = clue.why.replace("the name", "that", 1)
    return replace(
        attribute, role=clue.role, kind=kind, note="; ".join(part for part in (note, why, attribute.note) if part)
    )


def _said_of(note: str, values: Collection[str]) -> bool:
    """Whether a remark says that one of these values looks like missing, which the file says, too."""
    value, _, rest = note.partition(" (")
    return rest.endswith("looks like missing") and _number(value) in {_number(one) for one in values}


def _kind(level: str | None, labels: Mapping[str, str], present: list[str]) -> Kind | None:
    """What the values are, as far as the file tells."""
    if len(present) > _MOST:
        return None
    if level == "ordinal" and (labels or all(_number(one) is not None for one in present)):
        return Kind.ORDINAL
    if level == "nominal" or (present and all(one in labels for one in present)):
        return Kind.NOMINAL
    return None


def _in_order(values: set[str]) -> list[str]:
    """By number; what is no number comes last, as text."""
    return sorted(values, key=lambda one: (_number(one) is None, _number(one) or 0.0, one))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _shown(labels: Mapping[str, str], order: Any) -> str:
    said = [f"{one} = {labels[one]}" if one in labels else one for one in order]
    return ", ".join(said[:6]) + (", …" if len(said) > 6 else "")
