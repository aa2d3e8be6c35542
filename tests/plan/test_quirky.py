"""The table of the walk in docs/desk.md: what is found in it without help."""

from __future__ import annotations

from pathlib import Path

from quirky import quirky
from taxomask.microdata.files import open_table
from taxomask.plan.draft import draft_schema


def test_quirks_are_found(tmp_path: Path) -> None:
    path = tmp_path / "discharges.csv"
    path.write_bytes(quirky())
    source = open_table(path, text=True)
    table = source.read()
    assert (table.num_rows, table.num_columns) == (1000, 37)
    found = draft_schema(table, beside=path, source=source)
    assert found.undecided == ("column 1", "deductible", "major group", "weighting")
    assert found["total charges"].notation == "1,234.50"
    assert found["deductible"].notation == "1234.50"
    assert found["admission date"].notation == "d.m.Y"
    assert dict(found["age"].open_ends) == {"90+": 90}
    assert found["dx description"].follows == "dx"
    assert found["procedure description"].follows == "procedure"
    taxonomic = [name for name, one in found.items() if one.kind == "taxonomic"]
    assert len(taxonomic) == 10
