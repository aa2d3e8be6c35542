"""The example notebook runs from its first cell to its last, in order, and shows its objects."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import taxomask as tm

NOTEBOOK = Path(__file__).parents[1] / "docs" / "example.ipynb"


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; its last expression is what a notebook shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_from_a_frame_to_a_written_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    found = [shown("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    for one in (names["schema"], names["release"], names["evaluation"], names["found"]):
        assert one._repr_html_()
    written = pd.read_csv("protected.csv", dtype=str)
    assert list(written.columns) == list(names["release"].data.columns)
    assert len(written) == len(names["frame"])
    assert len(found[-1]) == 1
    assert not any(cell.get("outputs") for cell in cells)  # nothing of a table is kept in the file


def test_the_loss_of_an_index_is_said() -> None:
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    frame = pd.DataFrame({"age": [31, 35, 36, 62]}, index=pd.Index(["Ann", "Bob", "Cem", "Dai"], name="who"))
    release = tm.protect(frame, schema, tm.Microaggregation(k=2))
    assert any("The index of the table (who) is left out" in note for note in release.notes)
    assert release.data.index.tolist() == [0, 1, 2, 3]
    plain = tm.protect(frame.reset_index(drop=True), schema, tm.Microaggregation(k=2))
    assert not any("index" in note for note in plain.notes)
