"""Earlier releases of the same table: whoever has several can put them together."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["earlier"]

_LARGEST = 50 << 20  # bytes of a file that may be an audit


def earlier(audit: Path, table: str) -> tuple[str, ...]:
    """A warning that names the earlier releases of a table, by its hash, whose audits lie beside a new one."""
    found = sorted(
        Path(name).name
        for one in audit.parent.glob("*.audit.json")
        if one.name != audit.name
        for name in _tables_of(one, table)
    )
    if not found:
        return ()
    return (
        f"The same table was released before: {', '.join(found)}. Whoever has several releases of a table can put them "
        "together, and no promise covers that. Give each to others than the one before, or release one only.",
    )


def _tables_of(audit: Path, table: str) -> list[str]:
    """The files of an audit, if it is one of this table that was not practice."""
    try:
        if audit.stat().st_size > _LARGEST:
            return []
        record = json.loads(audit.read_text(encoding="utf-8"))
        same = record["sha256"]["original"] == table and "practice" not in record
        return [str(name) for name in record["files"]] if same else []
    except (OSError, ValueError, KeyError, TypeError):  # some other file
        return []
