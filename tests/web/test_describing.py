"""What the page says of a column is what the column holds, however it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taxomask.web.describing import describe


def facts(path: Path, text: str) -> dict[str, Any]:
    path.write_text(text)
    found = describe(path, path.parent, rows=1000, memory=1 << 30)
    return {one["name"]: about for one, about in zip(found["attributes"], found["columns"], strict=True)}


def euros(whole: int) -> str:
    return f"{whole:,}".replace(",", ".") + ",50"


def test_numbers_and_days_are_read_as_they_are_written(tmp_path: Path) -> None:
    rows = [f"{i % 28 + 1:02}.02.2020;{euros(900 + 250 * i)};{60 + i if i < 30 else '90+'}" for i in range(31)]
    found = facts(tmp_path / "a.csv", "\n".join(["came;cost;age", *rows]) + "\n")
    assert found["cost"]["range"] == ["900.5", "8,400"]
    assert found["came"]["range"] == ["2020-02-01", "2020-02-28"]
    assert found["age"]["range"] == ["60", "90"]
    for about in found.values():
        assert sum(bar["count"] for bar in about["bars"]) == 31
