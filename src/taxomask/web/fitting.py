"""Which methods fit the columns as they are described, and what each would promise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import TaxomaskError
from ..methods import Method, Promise
from ..microdata import Microdata
from ..plan import Plan, make_method
from ..plan.run import open_for

__all__ = ["fitting"]

ROWS = 200  # looked at; what fits depends on roles and kinds


def fitting(plan: Plan, entries: Iterable[Any]) -> list[dict[str, Any]]:
    """For each method whether it can be used on the table, what it would promise, and which columns it would replace.

    Nothing is masked: a method is asked for its promises and its columns, on the first rows.
    """
    batch = next(iter(open_for(plan).batches()))
    import pyarrow as pa

    data = Microdata.from_frame(pa.Table.from_batches([batch.slice(0, ROWS)]), plan.attributes)
    return [_fit(entry, data) for entry in entries]


def _fit(entry: Any, data: Microdata) -> dict[str, Any]:
    name = entry.get("name", "") if isinstance(entry, dict) else ""
    try:
        method = make_method(entry)
        protects = method.protects(data)
        if not protects:
            return {"name": name, "fits": False, "why": "no column of its kind is to be protected.", "promises": ""}
        return {"name": name, "fits": True, "why": "", "protects": protects, "promises": _family(method, data)}
    except TaxomaskError as error:
        return {"name": name, "fits": False, "why": error.message, "promises": ""}


def _family(method: Method, data: Microdata) -> str:
    """What is promised, as one of a few words: the strongest of its promises about people."""
    families = [_family_of(one, data) for one in method.promises(data)]
    return next((one for one in FAMILIES if one in families), "values")


def _family_of(promise: Promise, data: Microdata) -> str:
    whole = set(data.schema.quasi_identifiers)
    covered = getattr(promise, "attributes", None)
    if promise.family in ("alike", "chances") and not (whole and covered is not None and whole <= set(covered)):
        return "values"  # what holds for some of the quasi-identifiers keeps nobody from being found by the others
    return promise.family


FAMILIES = ("alike", "chances", "bound", "steps", "values")
