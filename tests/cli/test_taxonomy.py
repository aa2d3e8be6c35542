from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxomask import examples
from taxomask.cli import main
from taxomask.taxonomy.distances import DISTANCES

DISCHARGES = str(examples.path())


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


def test_info_of_a_builtin_taxonomy(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "taxonomy", "info", "isco08")
    assert code == 0
    assert "620 concepts, tree of depth 5" in out
    assert "Armed forces occupations" in out


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "taxonomy", "info", "nace2", "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["concepts"], facts["edges"], facts["roots"], facts["leaves"]) == (997, 996, 1, 615)
    assert facts["top"][1] == {"id": "A", "label": "AGRICULTURE, FORESTRY AND FISHING"}


def test_info_below_a_root(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "taxonomy", "info", "icd9cm", "--root", "250", "--json")
    assert json.loads(out)["concepts"] == 51


def test_check_finds_the_builtin_taxonomy(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "taxonomy", "check", DISCHARGES, "--column", "dx01")
    assert code == 0
    assert "in icd9cm by id" in out
    assert "2,000 (100.0 %)" in out


def test_check_lists_what_does_not_map(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "codes.csv"
    table.write_text("dx,sex\n250.01,f\n8,f\n250.01,m\n?,f\n,m\nV27,m\n38.9,f\n")
    options = ["taxonomy", "check", str(table), "--column", "dx", "--taxonomy", "icd9cm", "--json"]
    code, out, _ = run(capsys, *options)
    found = json.loads(out)
    assert code == 1
    assert (found["cells"], found["missing_cells"], found["mapped_cells"], found["values"]) == (7, 1, 1, 5)
    assert found["unmapped"][0] == {
        "value": "250.01",
        "cells": 2,
        "first_row": 1,
        "nearest": found["unmapped"][0]["nearest"],
    }
    assert found["unmapped"][0]["nearest"][0].startswith("250")
    code, out, _ = run(capsys, *options, "--normalize", "zeros:3", "--normalize", "dots", "--missing", "?")
    found = json.loads(out)
    assert (code, found["complete"], found["missing_cells"], found["inner_cells"]) == (0, True, 2, 2)


def test_check_says_when_no_taxonomy_fits(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "taxonomy", "check", DISCHARGES, "--column", "sex")
    assert code == 2
    assert "looks like none of the built-in taxonomies" in err
    assert "--taxonomy: icd9cm" in err


def test_distance(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "taxonomy", "distance", "icd9cm", "25001", "25002", "--distance", "wu_palmer", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["common"] == "2500"
    # τ of the pair is 2500 and what is below it: the root at depth 1, both one link below
    assert answer["matrix"] == [[0, 0.5], [0.5, 0]]
    _, out, _ = run(capsys, "taxonomy", "distance", "icd9cm", "250.01", "250.02", "--match", "code")
    assert "0.3626" in out
    assert "the least common subsumer is 2500" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["taxonomy", "info", "icd10"], "icd10"),
        (["taxonomy", "check", "nowhere.csv", "--column", "dx"], "nowhere.csv: there is no such file"),
        (
            ["taxonomy", "check", DISCHARGES, "--column", "dx1"],
            "there is no column 'dx1'.\nDid you mean 'dx01'?",
        ),
        (
            ["taxonomy", "distance", "icd9cm", "25001", "25009"],
            "'25009' is not the id of a concept of icd9cm.\nDid you mean '2500",
        ),
        (["taxonomy", "distance", "icd9cm", "25001", "--distance", "lim"], "Did you mean 'lin'?"),
        (
            ["taxonomy", "check", DISCHARGES, "--column", "dx01", "--taxonomy", "icd9cm", "--match", "name"],
            "match must be",
        ),
        (
            [
                "taxonomy",
                "check",
                DISCHARGES,
                "--column",
                "dx01",
                "--taxonomy",
                "icd9cm",
                "--normalize",
                "dot",
            ],
            "Did you mean 'dots'?",
        ),
        (["taxonomi"], "taxonomi"),
    ],
)
def test_wrong_use_is_exit_code_2_with_a_hint(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err


def test_hostile_cells_cannot_repaint_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "hostile.csv"
    table.write_text("dx\n\x1b[2Jgone\n[bold]x\n")
    _, out, _ = run(capsys, "taxonomy", "check", str(table), "--column", "dx", "--taxonomy", "icd9cm")
    assert "\x1b" not in out
    assert "[bold]x" in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from taxomask import __version__

    assert run(capsys, "--version")[1] == f"taxomask {__version__}\n"


def test_the_help_lists_all_distances(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "taxonomy", "distance", "--help")
    assert code == 0
    assert all(name in out for name in DISTANCES)
