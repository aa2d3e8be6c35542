"""A risk-utility map as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._support.showing import view
from .figures import number, risk_utility_map

__all__ = ["map_view"]

# Colours that can be read on white and on black: a notebook does not tell which it is.
_HUES = ("#3b82f6", "#e07b1a", "#2e9e63", "#a562c6", "#dc5546", "#1d97a3", "#b8900f", "#7b8a9a")
_STYLE = """
.taxomask-view svg { width: 100%; height: auto; display: block; }
.taxomask-view svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
.taxomask-view svg .grid { stroke: rgb(128 128 128 / 35%); }
.taxomask-view svg .front { fill: none; stroke: currentColor; stroke-width: 1.5; stroke-dasharray: 5 4; }
.taxomask-view svg .limit { stroke: #dc5546; stroke-width: 1.5; }
.taxomask-view svg .on-front { stroke: currentColor; stroke-width: 2; }
.taxomask-view .key { margin-right: 16px; font-size: 13px; white-space: nowrap; }
.taxomask-view .dot { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 5px; }
""" + "".join(
    f".taxomask-view .hue{place} {{ fill: {hue}; }} .taxomask-view .dot.hue{place} {{ background: {hue}; }}\n"
    for place, hue in enumerate(_HUES)
)


def map_view(page: Mapping[str, Any]) -> str:
    """The map and its numbers, from the values of ``map.html``."""
    points, columns, failed = page["points"], page["columns"], page["failed"]
    figure = ""
    if points:
        figure = str(risk_utility_map(points, risk_name=page["risk_name"], loss_name=page["loss_name"]))
    about = "The lower, the less an intruder learns; the farther left, the less is lost."
    if page["protected"]:
        about += f" Every loss is over {', '.join(page['protected'])}."
    rows = [
        (one["label"], *(number(one["numbers"][column["name"]]) for column in columns), "yes" if one["front"] else "")
        for one in points
    ]
    return view(
        f"Risk and utility of {len(points)} methods",
        about,
        facts=[(f"could not be run: {label}", reason) for label, reason in failed],
        header=("method", *(column["meaning"].title for column in columns), "on the front"),
        rows=rows,
        numeric=range(1, 1 + len(columns)),
        notes=[(column["meaning"].title, column["meaning"].about) for column in columns if column["meaning"].about],
        figure=figure,
        style=_STYLE,
    )
