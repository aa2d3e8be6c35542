"""A plan written by hand, without notations: what nothing changes keeps the spelling of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import taxomask as tm
from taxomask.microdata.files import open_table
from taxomask.plan import Plan
from taxomask.plan.as_written import as_written

COLUMNS = {
    "age": [str(20 + i % 4) for i in range(12)],
    "fixed": ["12.50", "3.00", "7.25"] * 4,
    "mixed": ["12.50", "7", "0.125"] * 4,
    "coded": ["007", "12", "90"] * 4,
    "money": ["1.5", "NA", "2.50"] * 4,
    "plain": ["1.5", "2.25", "7.5"] * 4,
    "large": ["1e3", "2.50", "7"] * 4,
}


def table(path: Path, point: str = ".", delimiter: str = ",") -> None:
    written = ([one.replace(".", point) for one in column] for column in COLUMNS.values())
    rows = [list(COLUMNS), *zip(*written, strict=True)]
    path.write_text("".join(f"{delimiter.join(row)}\n" for row in rows), encoding="utf-8")


def plan(path: Path, role: str = "confidential") -> Plan:
    rest = [{"name": name, "role": role, "kind": "continuous", "missing": ["", "NA"]} for name in list(COLUMNS)[1:]]
    age = {"name": "age", "role": "quasi_identifier", "kind": "continuous"}
    accept = [{"columns": list(COLUMNS)[1:], "reason": "made up"}]
    content = {"data": path.name, "attributes": [age, *rest], "method": {"name": "microaggregation", "k": 3}}
    return Plan.from_dict({**content, "accept": accept}, folder=path.parent)


@pytest.mark.parametrize(("point", "delimiter"), [(".", ","), (",", ";")])
def test_untouched_numbers_are_written_as_they_were(tmp_path: Path, point: str, delimiter: str) -> None:
    table(tmp_path / "table.csv", point, delimiter)
    tm.run(plan(tmp_path / "table.csv"), output=str(tmp_path / "out.csv"))
    out = open_table(tmp_path / "out.csv", text=True).read().to_pydict()
    for name in ("fixed", "mixed", "coded", "money", "plain"):
        assert sorted(str(one) for one in out[name]) == sorted(one.replace(".", point) for one in COLUMNS[name]), name


def test_only_what_would_be_spelled_otherwise_gets_a_notation(tmp_path: Path) -> None:
    table(tmp_path / "table.csv")
    attributes = as_written(plan(tmp_path / "table.csv")).attributes
    found = {name: one.notation for name, one in attributes.items()}
    assert found == {
        "age": None, "fixed": "1234.50", "mixed": "1234.5", "coded": "1234.5", "money": "1234.5", "plain": None,
        "large": None,
    }  # fmt: skip


def test_new_numbers_beside_open_ends_have_the_decimal_sign_of_the_file(tmp_path: Path) -> None:
    """They are read as texts, of which the file says nothing by its type."""
    rows = [f"{60 + 5 * i};{i}" for i in range(6)] + ["90+;7", "90+;8", "88;2,5"]
    (tmp_path / "a.csv").write_text("\n".join(["age;pay", *rows]) + "\n", encoding="utf-8")
    columns = [
        {"name": "age", "role": "quasi_identifier", "kind": "continuous", "open_ends": {"90+": 90}},
        {"name": "pay", "role": "other"},
    ]
    content = {"data": "a.csv", "attributes": columns, "method": {"name": "microaggregation", "k": 3}}
    tm.run(Plan.from_dict(content, folder=tmp_path), output=str(tmp_path / "b.csv"))
    ages = open_table(tmp_path / "b.csv", text=True).read()["age"].to_pylist()
    assert sorted(set(ages)) == ["65", "80", "89,33"]
