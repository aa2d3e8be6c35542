"""The committed pages of docs/papers: nothing printed is left out, nothing is stale."""

from __future__ import annotations

import csv
import importlib
import json
import re
from pathlib import Path

import pytest

from papers.harness import PAGES, Claim, Interval, Page, all_printed, heading, printed
from papers.run import MODULES

KEYS: dict[str, dict[str, float | str]] = json.loads((PAGES / "keys.json").read_text(encoding="utf-8"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
MEASURED = [module for module in MODULES if module != "scaling"]


def sections(text: str) -> dict[str, str]:
    """The parts of a page by their heading, without what follows the colon."""
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {head.partition(":")[0]: body for head, body in zip(parts[1::2], parts[2::2], strict=True)}


def shown_in(text: str, value: float | str) -> bool:
    """Whether some number of the text is the value, to its own digits."""
    if isinstance(value, str):
        return value in text
    for match in re.finditer(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace(",", "")):
        mantissa, _, power = match.group().partition("e")
        half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
        if abs(float(match.group()) - value) <= half * 1.001 and len(mantissa.strip("-0.").replace(".", "")) >= 1:
            return True
    return False


@pytest.mark.parametrize("module", MEASURED)
def test_key_cells_are_not_stale(module: str) -> None:
    page: Page = importlib.import_module(f"papers.{module}").page(quick=True)
    assert page.keys, "a page without key cells cannot be checked"
    committed = KEYS[module]
    for name, value in page.keys.items():
        assert committed[name] == pytest.approx(value, rel=1e-5, abs=1e-9), f"run `make papers`: {name} has changed"
        assert shown_in(TEXTS[page.name], value), name


@pytest.mark.parametrize(("paper", "table"), all_printed())
def test_every_printed_value_stands_in_a_page(paper: str, table: str) -> None:
    found = [
        sections(text)[heading(paper, table)] for text in TEXTS.values() if heading(paper, table) in sections(text)
    ]
    assert found, f"no page shows {heading(paper, table)}"
    cells = {cell.strip().strip("*") for cell in found[0].replace("\n", "|").split("|")}
    for (row, column), value in printed(paper, table).items():
        assert {row, column, value} <= cells, (row, column, value)


def test_the_index_has_every_table_and_every_claim() -> None:
    index = TEXTS["README"]
    pages = {name: text for name, text in TEXTS.items() if name != "README"}
    for name in pages:
        assert f"({name}.md)" in index
    for paper, table in all_printed():
        assert f"[{heading(paper, table)}](" in index
    rows = dict(re.findall(r"^\| \[.*?\]\(([\w-]+)\.md\) \| [\d–]+ \| (\d+ \| \d+) \|$", index, flags=re.MULTILINE))
    for name, text in pages.items():
        hold, fail = text.count("\n- **holds**"), text.count("\n- **does not hold**")
        if hold + fail:
            assert rows[name] == f"{hold + fail} | {hold}"
        for sentence in re.findall(r"^- \*\*does not hold\*\*: (.*)$", text, flags=re.MULTILINE):
            assert sentence in index


def test_figures_are_those_of_the_pages() -> None:
    used = {name for text in TEXTS.values() for name in re.findall(r"\]\(([\w-]+\.svg)\)", text)}
    assert used == {path.name for path in PAGES.glob("*.svg")}


def test_times_stand_in_one_page_only() -> None:
    for name, text in TEXTS.items():
        assert name == "timings" or not re.search(r"\d (CPU )?s(econds)?\b", text), name


def test_a_second_run_writes_the_same(tmp_path: Path) -> None:
    from papers import p4

    p4.page().write(tmp_path)
    assert (tmp_path / "p4.md").read_text(encoding="utf-8") == TEXTS["p4"]


def test_a_difference_needs_a_reason() -> None:
    page = Page("p", "a page")
    cells = {cell: float(text) for cell, text in printed("P4", "3").items()}
    first = next(iter(cells))
    page.side_by_side("P4", "3", cells)
    cells[first] += 0.001
    with pytest.raises(ValueError, match="differs from the printed one and has no reason"):
        page.side_by_side("P4", "3", cells)
    page.side_by_side("P4", "3", cells, {first: "because"})
    assert "1. because" in page.markdown()
    assert [one.same for one in page.compared] == [4, 3]


def test_items_of_a_list_stay_together() -> None:
    page = Page("p", "a page")
    page.claim(Claim("one", True, "Seen."))
    page.claim(Claim("two", False, "Not seen."))
    page.table("Numbers", ["a", "b"], [[1.0, Interval(2, 1, 3)], [None, "text"]])
    assert page.markdown() == (
        "# a page\n\n- **holds**: one. Seen.\n- **does not hold**: two. Not seen.\n\n### Numbers\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 [1, 3] |\n| – | text |\n"
    )


@pytest.mark.parametrize("table", "12345")
def test_the_same_numbers_were_typed_for_other_tests(table: str) -> None:
    path = PAGES.parents[1] / "tests" / "data" / "p4" / f"table{table}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = [[value for name, value in row.items() if name not in ("id", "change")] for row in csv.DictReader(file)]
    assert [float(value) for row in rows for value in row] == [float(value) for value in printed("P4", table).values()]
