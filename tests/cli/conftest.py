from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from taxomask.cli import main

Run = Callable[..., tuple[int, str, str]]

ATTRIBUTES = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: grade, role: quasi_identifier, kind: ordinal, order: [low, mid, high]}
  - {name: dx, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: remark, role: other}
"""
GRADES, CODES = ("low", "mid", "high"), ("0380", "25001", "4019")
TABLE = "id,age,grade,dx,remark\n" + "".join(
    f"person {i},{20 + i},{GRADES[i % 3]},{CODES[i % 3]},=1+1\n" for i in range(12)
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; gives its exit code and what it printed and complained about."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([str(one) for one in arguments])
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table and a plan for it."""
    (tmp_path / "table.csv").write_text(TABLE)
    write_plan(tmp_path)
    return tmp_path


def write_plan(folder: Path, attributes: str = ATTRIBUTES, method: str = "{name: microaggregation, k: 3}") -> None:
    (folder / "plan.yaml").write_text(f"data: table.csv\n{attributes}method: {method}\n")
