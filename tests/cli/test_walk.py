"""A stranger's walk: tables of others, from a first look to a report, with nothing but the commands."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import pytest

from cli.conftest import Run
from taxomask import examples
from taxomask.microdata import read_table
from taxomask.plan import Plan

DATA = Path(__file__).parents[1] / "data"


def walk(run: Run, table: Path, *roles: str) -> str:
    """What `evaluate` says in the end."""
    folder = table.parent
    plan, protected = folder / "plan.yaml", folder / "protected.csv"
    options = [part for role in roles for part in ("--role", role)]
    assert run("inspect", table, "-o", plan, *options)[0] == 0
    code, out, _ = run("protect", "--plan", plan, "-o", protected, "--report", folder / "report.html")
    assert code == 0
    assert "DOES NOT HOLD" not in out
    code, out, _ = run("evaluate", table, protected, "--plan", plan)
    assert code == 0
    return out


@pytest.mark.slow
def test_adult_with_the_hierarchies_of_arx(run: Run, tmp_path: Path) -> None:
    for path in (DATA / "adult-arx").glob("*.csv"):
        shutil.copy(path, tmp_path)
    shutil.copy(DATA / "adult" / "adult.csv.gz", tmp_path)
    out = walk(run, tmp_path / "adult.csv.gz", "salary-class=confidential", "workclass=quasi_identifier")
    attributes = Plan.read(tmp_path / "plan.yaml").attributes
    taxonomic = [name for name, one in attributes.items() if one.kind == "taxonomic"]
    assert sorted(taxonomic) == ["education", "marital-status", "native-country", "occupation", "workclass"]
    assert re.search(r"smallest class +5 ", out)


def test_codes_that_lost_their_zeros(run: Run, tmp_path: Path) -> None:
    """As in the diabetes table: dotted codes that went through a spreadsheet, and question marks."""
    table = read_table(examples.path(), text=True).to_pydict()
    whole = [f"{code[:3].lstrip('0')}.{code[3:]}".rstrip(".") for code in table["dx01"]]
    lines = [f"{nr},{age},{code}" for nr, age, code in zip(table["id"], table["age"], whole, strict=True)]
    lines[7::500] = [f"{line.rpartition(',')[0]},?" for line in lines[7::500]]
    with gzip.open(tmp_path / "stays.csv.gz", "wt") as file:
        file.write("\n".join(["patient_nbr,age,diag_1", *lines]) + "\n")
    walk(run, tmp_path / "stays.csv.gz", "diag_1=quasi_identifier")
    diagnosis = Plan.read(tmp_path / "plan.yaml").attributes["diag_1"]
    assert (diagnosis.match, diagnosis.normalize, diagnosis.missing) == ("code", ("zeros:3",), ("", "?"))
    protected = read_table(tmp_path / "protected.csv", text=True)
    assert protected.column_names == ["age", "diag_1"]
    assert set(protected["diag_1"].to_pylist()) <= {*whole, "?"}  # spelled as in the table
