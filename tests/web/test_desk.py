"""A custodian's desk in Chromium: many columns, plans, runs, and mistakes that lead to where they are mended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quirky import quirky

from .browser import accessible, chromium, opened
from .client import Server

PLAN = """\
data: people.csv
attributes:
  - {name: age, role: quasi_identifier, kind: continuous, weight: 2}
  - {name: job, role: confidential, kind: nominal}
  - {name: pay, role: other}
method: {name: microaggregation, k: 4}
limits: {risk: 0.9}
purpose: teaching
seed: 1234567890123456789012
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [f"{20 + (7 * i) % 31},{'abc'[i % 3]},{1000 + 37 * (i % 11)}.50,{i % 5}" for i in range(80)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,pay,zone", *rows]) + "\n")
    return tmp_path / "people.csv"


def heading(page: Any, name: str) -> None:
    page.get_by_role("heading", name=name).first.wait_for()


def role(page: Any, column: str, label: str) -> Any:
    return page.get_by_role("region", name=column, exact=True).get_by_label(label, exact=True)


def leave_one_attacker(page: Any) -> None:
    """Fewer are faster, and these tests do not look at what is found."""
    for box in page.locator(".field:has(legend:text-is('Attackers')) input").all()[1:]:
        box.uncheck()


def plain(page: Any) -> list[str]:
    """Words of programs that stand on the page."""
    return re.findall(
        r".{0,40}(?:\bnull\b|\bundefined\b|\bNaN\b|\[object|\w\(\w+=).{0,20}", page.locator("main").inner_text()
    )


def test_many_columns_a_plan_and_two_runs(server: Server, browser: Any, people: Path, tmp_path: Path) -> None:
    with opened(browser, server) as page:
        page.set_input_files("#file", people)
        heading(page, "What are the columns?")
        # finding columns, and setting many at once
        page.get_by_label("Find columns by their names").fill("o")
        assert page.locator(".column:visible h2").all_inner_texts() == ["zone", "job"]
        page.get_by_role("button", name="Choose all shown").click()
        assert page.get_by_text("2 chosen").is_visible()
        page.get_by_label("Role of the chosen columns").select_option("confidential")
        page.get_by_label("Kind of the chosen columns").select_option("nominal")
        page.get_by_label("Weight of the chosen columns").fill("3")
        page.get_by_label("Weight of the chosen columns").blur()
        assert page.get_by_label("Weight of zone").input_value() == "3"
        assert page.locator(".preview thead th").all_inner_texts()[1:] == ["job\nConfidential", "zone\nConfidential"]
        page.get_by_label("Find columns by their names").fill("")
        assert accessible(page) == []
        # a plan that was made before, for some of the columns
        plan = tmp_path / "plan.yaml"
        plan.write_text(PLAN)
        page.get_by_text("Open a plan that was made before").click()
        page.locator("#plan").set_input_files(plan)
        page.get_by_text("Not taken from plan.yaml: the seed.").wait_for(state="attached")
        assert role(page, "age", "Quasi-identifier").is_checked()
        assert page.get_by_label("Weight of age").input_value() == "2"
        assert page.locator(".column h2").first.inner_text() == "zone"  # the plan says nothing of it
        assert plain(page) == []
        role(page, "zone", "Identifier").check()
        page.get_by_role("button", name="Next: protect it").click()
        # methods by what they promise; those that do not fit say why
        page.get_by_role("group", name="At least k records look alike").get_by_label("Microaggregation").wait_for()
        page.get_by_text("do not fit these columns").click()
        page.get_by_text("the table has no taxonomic quasi-identifier to protect.").first.wait_for()
        assert page.get_by_label("k", exact=True).input_value() == "4"
        # what users compute, and who tries to find people
        page.get_by_text("What users will compute").click()
        page.get_by_label("Add an analysis").select_option("mean")
        page.get_by_label("Of", exact=True).select_option("age")
        page.get_by_text("Who may try to find people").click()
        leave_one_attacker(page)
        assert (accessible(page), plain(page)) == ([], [])
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")
        # records side by side
        page.get_by_text("Records before and after").click()
        both = page.get_by_role("region", name="Records before and after")
        assert both.locator("tbody tr").count() == 30
        assert both.locator("thead th").all_inner_texts() == ["row", "age"]
        assert both.locator("td.changed").count() > 10
        assert page.get_by_text("Mean of age").first.count() == 1
        assert plain(page) == []
        # another run, and both compared
        page.get_by_role("link", name="Try something else").click()
        page.get_by_label("k", exact=True).fill("8")
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")
        page.get_by_role("link", name="Compare with earlier runs").click()
        compared = page.get_by_role("region", name="Two runs compared")
        compared.wait_for()
        assert compared.get_by_role("row", name="Method Microaggregation, k 4 Microaggregation, k 8").count() == 2
        assert compared.locator("h2").inner_text() == "Run 1 and Run 2"
        assert (accessible(page), plain(page)) == ([], [])
        page.get_by_role("button", name="Begin again from Run 1").click()
        heading(page, "How should it be protected?")
        assert page.get_by_label("k", exact=True).input_value() == "4"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_a_wide_table_goes_from_its_file_to_a_report(server: Server, browser: Any, tmp_path: Path, width: int) -> None:
    """The table of docs/desk.md: 37 columns with their quirks, on a desk and on a phone."""
    (tmp_path / "discharges.csv").write_bytes(quirky())
    with opened(browser, server) as page:
        page.set_viewport_size({"width": width, "height": 860})
        page.set_input_files("#file", tmp_path / "discharges.csv")
        heading(page, "What are the columns?")
        undecided = ["column 1", "deductible", "major group", "weighting"]
        assert page.locator(".column h2").all_inner_texts()[:5] == [*undecided, "record number"]
        for name, of in zip(undecided, ("Identifier", "Confidential", "Confidential", "Identifier"), strict=True):
            role(page, name, of).check()
        role(page, "newborn", "Confidential").check()
        assert accessible(page) == []
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_text("What it is for").click()
        page.get_by_text("Who may try to find people").click()
        leave_one_attacker(page)
        assert accessible(page) == []
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")
        for section in page.locator("details.card-box > summary").all():
            section.click()
        assert accessible(page) == []
        page.get_by_role("button", name="Next: release it").click()
        page.get_by_text("The report", exact=True).click()
        page.frame_locator("iframe").get_by_role("heading", name="The verdict").wait_for()
        assert accessible(page) == []


def test_one_of_several_sheets_is_chosen_and_never_the_first_by_itself(
    server: Server, browser: Any, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for sheet, rows in (("notes", [["a"], ["b"]]), ("people", [["age"], *([20 + i % 9] for i in range(30))])):
        page = book.create_sheet(sheet)
        for row in rows:
            page.append(row)
    del book["Sheet"]
    book["notes"].sheet_state = "hidden"
    book["people"].row_dimensions[4].hidden = True
    book.save(tmp_path / "book.xlsx")
    with opened(browser, server) as page:
        page.set_input_files("#file", tmp_path / "book.xlsx")
        heading(page, "Which sheet?")
        assert page.get_by_role("button", name="notes (hidden)").is_visible()
        page.get_by_role("button", name="people").click()
        heading(page, "What are the columns?")
        assert page.get_by_text("by a filter, is 1 of the 30 rows: here it is a record like any other.").is_visible()
        assert page.get_by_text(
            "This is the sheet people; not looked at, and not released: notes (hidden)."
        ).is_visible()
        role(page, "age", "Quasi-identifier").check()
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")


def test_the_report_repeats_reasons_of_people_and_no_evidence_of_the_draft(
    server: Server, browser: Any, people: Path
) -> None:
    with opened(browser, server) as page:
        page.set_input_files("#file", people)
        heading(page, "What are the columns?")
        page.get_by_text("the name suggests").first.wait_for()
        role(page, "job", "Quasi-identifier").check()
        for name, of in (("age", "Confidential"), ("pay", "Confidential"), ("zone", "Other")):
            role(page, name, of).check()
        page.get_by_label("Why zone is released as it is").fill("it is public for every hospital")
        page.set_viewport_size({"width": 390, "height": 860})
        assert accessible(page) == []
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_role("group", name="At least k records look alike").wait_for()
        page.get_by_text("Who may try to find people").click()
        page.get_by_text("What it is for").click()
        assert accessible(page) == []
        leave_one_attacker(page)
        page.get_by_label("k", exact=True).fill("4")
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")
        page.get_by_role("button", name="Next: release it").click()
        page.get_by_text("The report", exact=True).click()
        cover = page.frame_locator("iframe").locator(".cover")
        cover.wait_for()
        assert "zone: other, by decision of the custodian, it is public for every hospital" in cover.inner_text()
        assert "age, pay: confidential, and not changed by this method" in cover.inner_text()
        assert "suggests" not in cover.inner_text()
        page.reload()
        page.get_by_role("link", name="Describe").click()
        assert page.get_by_label("Why zone is released as it is").input_value() == "it is public for every hospital"


def test_nobody_is_taken_away_from_a_step_by_an_answer_that_comes_late(
    server: Server, browser: Any, people: Path
) -> None:
    """The table is protected all the same, and is found among what was tried before."""
    with opened(browser, server) as page:
        page.set_input_files("#file", people)
        heading(page, "What are the columns?")
        for name, of in (("age", "Quasi-identifier"), ("pay", "Confidential"), ("zone", "Other"), ("job", "Other")):
            role(page, name, of).check()
        page.get_by_role("button", name="Next: protect it").click()
        held: list[Any] = []
        page.route("**/check", lambda route: held.append(route))
        with page.expect_request("**/check"):
            page.get_by_role("button", name="Protect the table").click()
        page.get_by_role("link", name="Describe").click()
        heading(page, "What are the columns?")
        with page.expect_response("**/jobs"):
            held[0].continue_()
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))")
        heading(page, "What are the columns?")
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_role("link", name="What was tried before").click()
        heading(page, "What was tried")


def test_ten_mistakes_lead_to_where_they_are_mended(server: Server, browser: Any, people: Path, tmp_path: Path) -> None:
    """Each ends in words of the page, at the step where it can be mended, or with the way there."""
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "other.yaml").write_text(PLAN.replace("name: pay", "name: wage"))
    (tmp_path / "empty.csv").write_text("age,job\n")
    with opened(browser, server) as page:

        def said(*parts: str) -> Any:
            alert = page.get_by_role("alert").filter(has_text=parts[0])
            alert.first.wait_for()
            text = alert.first.inner_text()
            assert all(part in text for part in parts), text
            for strange in ("format=", "--", "=[", "/tmp", str(tmp_path), "Python", "`", "YAML", "null"):
                assert strange not in text, text
            return alert.first

        def protect() -> None:
            page.get_by_role("button", name="Next: protect it").click()
            page.get_by_role("button", name="Protect the table").click()

        # 1 a table without rows, 2 a plan alone, 3 two tables at once
        page.set_input_files("#file", tmp_path / "empty.csv")
        heading(page, "This did not work")
        said("empty.csv has no rows.")
        page.get_by_role("link", name="Open another table").click()
        heading(page, "Which table")
        page.set_input_files("#file", tmp_path / "plan.yaml")
        said("A plan needs the table that it is for.", "Choose both files together.")
        page.set_input_files("#file", [people, tmp_path / "empty.csv"])
        said("Which of these files is the table?")
        # 4 the plan of another table
        page.set_input_files("#file", people)
        heading(page, "What are the columns?")
        page.get_by_text("Open a plan that was made before").click()
        page.locator("#plan").set_input_files(tmp_path / "other.yaml")
        said("describes columns that the table does not have: 'wage'", "Open the table that the plan was made for.")
        # 5 a column that nobody decided about
        role(page, "age", "Quasi-identifier").check()
        role(page, "pay", "Confidential").check()
        role(page, "zone", "Undecided").check()
        role(page, "job", "Other").check()
        protect()
        said("undecided: 'zone'", "Choose a role for each of them.").get_by_role(
            "link", name="Go to column zone"
        ).click()
        heading(page, "What are the columns?")
        page.locator(".column.wanted h2", has_text="zone").wait_for()
        role(page, "zone", "Other").check()
        # 6 codes without a taxonomy
        role(page, "job", "Quasi-identifier").check()
        page.get_by_label("Kind of job").select_option("taxonomic")
        protect()
        said("needs a taxonomy").get_by_role("link", name="Go to column job").click()
        # 7 letters as numbers
        page.locator(".column.wanted h2", has_text="job").wait_for()
        page.get_by_label("Kind of job").select_option("continuous")
        protect()
        said("'job'", "is not a number").get_by_role("link", name="Go to column job").click()
        # 8 an order that lacks a category
        page.locator(".column.wanted h2", has_text="job").wait_for()
        page.get_by_label("Kind of job").select_option("ordinal")
        page.get_by_role("region", name="job", exact=True).get_by_text("Order:").click()
        page.get_by_label("From the lowest to the highest").fill("a\nb")
        page.get_by_label("From the lowest to the highest").blur()
        protect()
        said("'job'", "'c'").get_by_role("link", name="Go to column job").click()
        page.locator(".column.wanted h2", has_text="job").wait_for()
        page.get_by_label("Kind of job").select_option("nominal")
        # 9 groups larger than the table, 10 a limit that cannot be met
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_label("k", exact=True).fill("500")
        page.get_by_role("button", name="Protect the table").click()
        said("the table has 80 records, too few").get_by_role("link", name="Choose how to protect it").click()
        page.get_by_label("k", exact=True).fill("3")
        page.get_by_text("What must hold, and the format").click()
        page.get_by_label("Largest loss", exact=True).fill("0.0001")
        page.get_by_role("button", name="Protect the table").click()
        said("your limits are not met", "a loss of at most 0.0001")
        page.get_by_role("alert").get_by_role("link", name="Choose how to protect it").click()
        heading(page, "How should it be protected?")
        page.errors[:] = [one for one in page.errors if "400" not in one]  # Chromium notes answers that say no


def test_a_taxonomy_from_columns_is_made_changed_and_saved(server: Server, browser: Any, tmp_path: Path) -> None:
    codes = [f"{'abc'[i % 3]}{i % 6}" for i in range(60)]
    groups = [f"{code[0].upper()},{'XY'[code[0] == 'c']}" for code in codes]
    rows = [f"{120 + 3 * (i % 9)},{code},{groups[i]},text of {code}" for i, code in enumerate(codes)]
    (tmp_path / "stays.csv").write_text("\n".join(["age,code,part,whole,words", *rows]) + "\n")
    with opened(browser, server) as page:
        page.set_input_files("#file", tmp_path / "stays.csv")
        heading(page, "What are the columns?")
        role(page, "code", "Quasi-identifier").check()
        page.get_by_label("Kind of code").select_option("taxonomic")
        column = page.get_by_role("region", name="code", exact=True)
        assert page.get_by_label("Taxonomy of code").input_value() == ""
        column.get_by_role("button", name="From columns…").click()
        for name in ("part", "whole"):
            page.get_by_label("Add a coarser column").select_option(name)
        page.get_by_label("The column that describes the codes").select_option("words")
        assert accessible(page) == []
        page.get_by_role("button", name="Make it").click()
        column.get_by_text("100.0 %").wait_for()
        for name in ("part", "whole", "words"):
            assert page.get_by_label(f"What {name} follows").input_value() == "code"
        column.get_by_role("button", name="Browse the tree").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("11 concepts").wait_for()
        dialog.get_by_text("Change it").click()
        dialog.get_by_label("New group", exact=True).fill("D")
        dialog.get_by_label("Below", exact=True).fill("X")
        dialog.get_by_role("button", name="Add a group").click()
        dialog.get_by_label("Concept to move").fill("a0")
        dialog.get_by_label("Its new group").fill("D")
        dialog.get_by_role("button", name="Move").click()
        assert dialog.locator("li", has_text="a0 goes below D").count() == 1
        assert accessible(page) == []
        dialog.get_by_label("Name of the file").fill("mine")
        dialog.get_by_role("button", name="Save as a file").click()
        column.get_by_text("of the cells are in mine.csv").wait_for()
        assert page.get_by_label("Taxonomy of code").input_value() == "mine.csv"
        column.get_by_role("button", name="Browse the tree").click()
        page.get_by_role("dialog").get_by_role("searchbox").fill("a0")
        dialog.get_by_text("X › D").wait_for()
        page.get_by_role("button", name="Close").click()
        # most numbers of three digits are codes of ICD-9-CM by chance
        page.get_by_label("Kind of age").select_option("taxonomic")
        page.get_by_label("Taxonomy of age").select_option("icd9cm")
        page.get_by_role("region", name="age", exact=True).get_by_text("This may be chance").wait_for()


ANALYSES = [  # a kind, columns that are picked, and what is written or chosen
    ("mean", ["sex"], {"Of": "age"}),
    ("quantile", [], {"Of": "stay", "q": "0.5"}),
    ("cross_table", ["dx", "sex"], {"dx": "2"}),
    ("count", [], {"Condition": "age > 40 and dx under 390-459"}),
    ("linear_regression", [], {"Response": "stay", "Terms": "age\nsex"}),
    ("logistic_regression", [], {"Response": "stay > 5", "Terms": "age\nsex\ndx under 390-459", "sex": "m"}),
]


def test_every_kind_of_analysis_and_a_choice_by_one(server: Server, browser: Any, tmp_path: Path) -> None:
    """Analyses are set on the page, stand in the report, and a method is chosen by what is kept of one of them."""
    codes = ["4019", "41401", "25000", "486"]
    rows = [f"{20 + (7 * i) % 61},{'fm'[i % 2]},{1 + (5 * i) % 11},{codes[i % 7 % 4]},{i % 3}" for i in range(90)]
    (tmp_path / "stays.csv").write_text("\n".join(["age,sex,stay,dx,ward", *rows]) + "\n")
    with opened(browser, server) as page:
        page.set_input_files("#file", tmp_path / "stays.csv")
        heading(page, "What are the columns?")
        for name in ("age", "sex", "stay", "ward"):
            role(page, name, "Quasi-identifier").check()
        role(page, "dx", "Quasi-identifier").check()
        page.get_by_label("Kind of stay").select_option("continuous")
        page.get_by_label("Kind of ward").select_option("nominal")
        page.get_by_label("Kind of dx").select_option("taxonomic")
        page.get_by_label("Taxonomy of dx").select_option("icd9cm")
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_text("Who may try to find people").click()
        leave_one_attacker(page)
        page.get_by_text("What users will compute").click()
        for number, (kind, picked, said) in enumerate(ANALYSES, start=1):
            page.get_by_label("Add an analysis").select_option(kind)
            form = page.get_by_role("region", name=f"Analysis {number}", exact=True)
            form.get_by_text("More", exact=True).click()
            for name in picked:
                form.get_by_role("checkbox", name=name, exact=True).check()
            for label, text in said.items():
                field = form.get_by_label(label, exact=True).last
                if field.evaluate("one => one.tagName") == "SELECT":
                    field.select_option(text)
                else:
                    field.fill(text)
                    field.blur()
        assert (accessible(page), plain(page)) == ([], [])
        page.get_by_role("button", name="Protect the table").click()
        heading(page, "What did it cost")
        for shown in (
            "Mean of age by sex",
            "Median of stay",
            "Records by dx and sex",
            "Records with age > 40 and dx under",
        ):
            assert page.get_by_text(shown).count() == 1
        for shown in ("stay explained by age, sex", "The log odds of stay > 5 explained by age, sex, dx under 390-459"):
            assert page.get_by_text(shown).count() == 1
        page.get_by_role("link", name="Try something else").click()
        page.get_by_role("link", name="Compare methods").click()
        for box in page.locator(".grid-table input[type=checkbox]").all():
            box.set_checked(False)
        page.get_by_label("Microaggregation", exact=True).check()
        page.get_by_label("Values of k for Microaggregation", exact=True).fill("3, 6")
        page.get_by_label("Shuffling", exact=True).check()
        page.get_by_label("Keep most of").select_option("mean")
        page.get_by_label("After comparing, search the smallest k").check()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.get_by_text("it has the largest overlap of 'mean'").wait_for()
        page.get_by_text("The smallest k, searched").click()
        assert page.get_by_text("keeps to the limits").count()
        page.get_by_text("Weights: ").first.wait_for()  # they are searched after k
        assert (accessible(page), plain(page)) == ([], [])
        page.get_by_label("It must promise").select_option("k_anonymity")
        page.get_by_text("promise that at least k records look alike").wait_for()
        page.get_by_label("Keep most of").select_option("")
        page.get_by_text("it has the smallest loss").wait_for()
