from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

import taxomask as tm
from taxomask._support.parameters import declared
from taxomask.cli import main
from taxomask.cli.methods import markdown
from taxomask.methods import METHODS

DOCS = Path(__file__).parents[2] / "docs" / "methods"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(["methods", *arguments])
    assert not end.value.code
    return capsys.readouterr().out


def test_every_method_is_listed_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(run(capsys, "--json"))
    assert [one["name"] for one in listed] == list(METHODS)
    assert all(one["about"].endswith(".") and one["reference"] for one in listed)
    assert all(name in run(capsys) for name in METHODS)
    (k, *_) = listed[0]["parameters"]
    assert (k["name"], k["takes"], k["required"], k["default"]) == ("k", "an integer of at least 2", True, None)


def test_one_method_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "microaggregation")
    assert out.startswith("microaggregation: Makes groups of at least k similar records")
    assert "\nIn a plan\n  method: {name: microaggregation, k: 5}\n" in out
    assert "\nWhere it comes from\n" in out


@pytest.mark.parametrize("name", METHODS)
def test_a_method_speaks_to_who_has_a_table_to_protect(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, name)
    for one in declared(METHODS[name]):
        assert f"\n  {one.name}: {one.takes}; " in out
    assert "\n\n\n" not in out
    for mark in ("----", ">>>", "``", "Parameters", "Examples"):  # of docstrings
        assert mark not in out
    told = [line for line in out.splitlines()[1:] if "method:" not in line and "; " not in line]
    assert max(map(len, told)) <= 100


@pytest.mark.parametrize(
    "name", [name for name in METHODS if all(one.name != "rules" for one in declared(METHODS[name]))]
)
def test_what_is_said_to_write_in_a_plan_is_a_method(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = yaml.safe_load(re.search(r"\n  method: (.*)\n", run(capsys, name))[1])  # type: ignore[index]
    if "…" not in str(found):
        attributes = [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}]
        assert tm.Plan.from_dict({"attributes": attributes, "method": found}).method.name == name


def test_an_unknown_method_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["methods", "microagregation"])
    assert end.value.code == 2
    assert "Did you mean 'microaggregation'?" in capsys.readouterr().err


def test_the_table_in_the_docs_is_what_the_methods_declare() -> None:
    assert markdown() in (DOCS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_explained(name: str) -> None:
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md") if page.name != "README.md"]
    assert any(f"{METHODS[name].__name__}(" in page or f"# {METHODS[name].__name__}" in page for page in pages)
