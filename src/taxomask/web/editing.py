"""The small editor of taxonomies: concepts moved, groups added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import TaxonomyError, did_you_mean
from ..taxonomy import Taxonomy
from ..taxonomy.listing import Listing
from ..taxonomy.order import arrange

__all__ = ["edited"]

MOST = 2_000  # steps


def edited(taxonomy: Taxonomy, steps: Iterable[Any]) -> Taxonomy:
    """A taxonomy after some steps: ``{"move": concept, "to": group}`` or ``{"add": group, "label": …, "to": above}``.

    A concept that is moved is below its new group only. The result must be a taxonomy: a concept cannot be moved below
    itself.

    >>> small = Taxonomy.from_edges([("a1", "a"), ("a", "all"), ("b", "all")])
    >>> edited(small, [{"add": "c", "label": "New", "to": "all"}, {"move": "a1", "to": "c"}]).parents("a1")
    ('c',)
    """
    given = list(steps)
    if len(given) > MOST:
        raise TaxonomyError(f"more than {MOST:,} steps at a time.", hint="Save what is done, and go on from there.")
    first = int(taxonomy.virtual_root)  # it is no concept
    ids = list(taxonomy.ids[first:])
    names = set(ids)
    above = {one: taxonomy.parents_of(taxonomy.position(one)).tolist() for one in ids}
    parents = {one: [taxonomy.ids[at] for at in above[one] if at >= first] for one in ids}
    labels, codes = (dict(zip(ids, some[first:], strict=True)) for some in (taxonomy.labels, taxonomy.codes))
    for step in given:
        concept, group = _said(step)
        if group not in names:
            raise TaxonomyError(f"there is no concept {group!r}.", hint=did_you_mean(group, ids))
        if "add" in step:
            if concept in names:
                raise TaxonomyError(f"{concept!r} is there already.", hint="Give the group another name.")
            ids.append(concept)
            names.add(concept)
            labels[concept] = str(step.get("label") or "")
        elif concept not in names:
            raise TaxonomyError(f"there is no concept {concept!r}.", hint=did_you_mean(concept, ids))
        elif concept in _at_or_above(group, parents):
            raise TaxonomyError(f"{group!r} is below {concept!r}.", hint="Move it to another group.")
        parents[concept] = [group]
    listing = Listing(taxonomy.name)
    for one in ids:
        listing.add(one, label=labels[one], code=codes.get(one, ""))
    for one in ids:
        for parent in parents[one]:
            listing.link(one, parent)
    return Taxonomy(arrange(listing), taxonomy.name)


def _said(step: Any) -> tuple[str, str]:
    if not isinstance(step, Mapping) or ("add" in step) == ("move" in step):
        raise TaxonomyError("a step moves a concept or adds a group.", hint="Use the editor.")
    concept, group = str(step.get("add") or step.get("move") or "").strip(), str(step.get("to") or "").strip()
    if not concept or not group:
        raise TaxonomyError("a step names a concept and a group.", hint="Fill in both.")
    return concept, group


def _at_or_above(concept: str, parents: Mapping[str, list[str]]) -> set[str]:
    found, left = set(), [concept]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += parents[one]
    return found
