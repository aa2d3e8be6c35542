from __future__ import annotations

import json
from pathlib import Path

import pytest

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


def test_one_method_tells_its_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "microaggregation")
    assert out.startswith("microaggregation(k, algorithm='auto'")
    assert "References" in out


@pytest.mark.parametrize("name", METHODS)
def test_a_method_tells_what_each_parameter_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, name)
    for one in declared(METHODS[name]):
        default = {"required": one.required, "optional": one.default is None, f"by default {one.default!r}": True}
        assert f"\n{one.name}: {one.takes}; {next(filter(default.get, default))}\n    {one.about.split()[0]}" in out
    assert "\n\nParameters\n----------\n" in out
    assert "\n\n\n" not in out


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
