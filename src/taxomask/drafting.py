"""A plan drafted from the data, with the evidence in comments, for a custodian to edit."""

from __future__ import annotations

import textwrap
from typing import Any

from .microdata import Attribute, Kind, Role, Schema, infer

__all__ = ["draft_plan", "propose_roles"]

_HEAD = """\
# A draft for {data}, from its values. Check every role before you use it:
#   identifier        names a person; never released
#   quasi_identifier  others may know it, so it could lead to a person; protected
#   confidential      what is to be learnt only about groups, such as a diagnosis
#   other             released as it is, unprotected
# A column goes by its kind: continuous, ordinal (with an order), nominal, or taxonomic (codes of a taxonomy).
"""
_TAIL = """
# How to protect it. `taxomask methods` lists the methods and their parameters.
method: {method}

# What `taxomask compare` tries; `vary` lists values of parameters.
compare:
{grid}
# What must hold, or nothing is written: at most this share of records linked correctly, at most this overall loss.
# limits: {{risk: 0.05, loss: 0.5}}

# output:
#   path: protected.csv
#   report: report.html
"""


def draft_plan(frame: Any, data: str) -> str:
    """The text of a YAML plan for a table; ``data`` is its file, as the plan should name it."""
    schema = propose_roles(infer(frame))
    entries = "".join(_entry(attribute) for attribute in schema.values())
    grid = "".join(f"  - {entry}\n" for entry in _grid(schema))
    method = "{name: microaggregation, k: 5}" if schema.quasi_identifiers else "# name a quasi_identifier first"
    head = _HEAD.format(data=data)
    where = _plain(data) + (
        "\noutside: true  # the table is not in the folder of this plan" if data.startswith("/") else ""
    )
    return f"{head}\ndata: {where}\nattributes:\n{entries}{_TAIL.format(method=method, grid=grid)}"


def propose_roles(draft: Schema) -> Schema:
    """A schema in which open roles are filled in as names, values and kinds suggest."""
    schema = draft
    for name, attribute in draft.items():
        if attribute.role is None:
            schema = schema.replace(name, role=_role(attribute))
    return schema


def _role(attribute: Attribute) -> Role:
    if "an identifier" in attribute.note:
        return Role.IDENTIFIER
    if "a quasi-identifier" in attribute.note:
        return Role.QUASI_IDENTIFIER
    return Role.CONFIDENTIAL if attribute.kind == Kind.TAXONOMIC else Role.OTHER


def _entry(attribute: Attribute) -> str:
    values = Schema([attribute]).to_dict()["attributes"][0]
    note = values.pop("note", "")
    if attribute.role == Role.IDENTIFIER:  # never looked at
        values = {"name": attribute.name, "role": str(attribute.role)}
    comment = textwrap.indent("\n".join(textwrap.wrap(note, 110)), "    # ") + "\n" if note else ""
    listed = "\n".join(f"    {key}: {_plain(value)}" for key, value in values.items() if key != "name")
    return f"  - name: {_plain(values['name'])}\n{comment}{listed}\n"


def _grid(schema: Schema) -> list[str]:
    grid = []
    if schema.quasi_identifiers:
        grid += [
            "{name: microaggregation, vary: {k: [3, 5, 10, 20]}}",
            "{name: micro_hybrid, vary: {k: [3, 5, 10, 20]}}",
            "{name: rank_swapping, vary: {p: [1, 5, 10]}}",
        ]
    if schema.confidential:
        grid.append("{name: shuffling}")
    return grid


def _plain(value: Any) -> str:
    """A value on one line of YAML."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()
