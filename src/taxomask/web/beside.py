"""The first records before and after, side by side."""

from __future__ import annotations

from typing import Any

from ..microdata.frames import Frame
from ..release import Release

__all__ = ["side_by_side"]

ROWS, LONGEST = 30, 80


def side_by_side(release: Release) -> dict[str, Any] | None:
    """Some records with their released values; None where a released record comes from no original one."""
    if not release.linked:
        return None
    shown = min(ROWS, release.original.n)
    before, after = (Frame(one).part(0, shown) for one in (release.original.to_frame(), release.data))
    names = [name for name in after.names if name in before.names]
    pairs = {name: (_texts(before, name), _texts(after, name)) for name in names}
    protected = {*release.protected, *release.following}
    return {
        "names": sorted(names, key=lambda name: name not in protected),  # what was protected comes first
        "protected": [name for name in names if name in protected],
        "rows": [{name: [pairs[name][0][row], pairs[name][1][row]] for name in names} for row in range(shown)],
    }


def _texts(frame: Frame, name: str) -> list[str]:
    column = frame.arrow(name)
    values = [] if column is None else column.to_pylist()
    return ["" if value is None else str(value)[:LONGEST] for value in values]
