"""What is compared where nobody names methods: few and quick ones, as `compare` searches from there."""

from __future__ import annotations

from itertools import product
from typing import Any

from ..methods import METHODS, Method
from ..microdata import Kind, Schema

__all__ = ["default_grid", "default_methods"]

REFINED_STEPS = 100_000  # of a first look: a fraction of a second; a longer search of the chosen method loses less


def default_grid(schema: Schema) -> list[dict[str, Any]]:
    """Entries as under ``compare:`` in a plan: one for each kind of method that fits the roles and kinds of a schema.

    >>> from taxomask import Attribute
    >>> default_grid(Schema([Attribute("pay", role="confidential", kind="continuous")]))
    [{'name': 'shuffling'}]
    """
    hidden: list[dict[str, Any]] = [{"name": "shuffling"}] if schema.confidential else []
    asked = [schema[name] for name in schema.quasi_identifiers]
    if not asked:
        return hidden
    coarser = any(one.kind != Kind.NOMINAL for one in asked)  # plain categories have no coarser value
    return [
        {"name": "microaggregation", "vary": {"k": [3, 5, 10, 20]}},
        {"name": "microaggregation", "algorithm": "refined", "steps": REFINED_STEPS, "vary": {"k": [5, 10]}},
        {"name": "micro_hybrid", "k": 5},
        {"name": "group_permutation", "vary": {"k": [5, 10]}},
        *([{"name": "generalisation", "k": 5}] if coarser else []),
        {"name": "rank_swapping", "p": 5},
        *hidden,
    ]


def default_methods(schema: Schema) -> tuple[Method, ...]:
    """The methods of these entries; none if no column is to be protected."""
    found: list[Method] = []
    for entry in default_grid(schema):
        fixed = {key: value for key, value in entry.items() if key not in ("name", "vary")}
        vary = entry.get("vary", {})
        kind = METHODS[entry["name"]]
        found += [kind(**fixed, **dict(zip(vary, some, strict=True))) for some in product(*vary.values())]
    return tuple(found)
