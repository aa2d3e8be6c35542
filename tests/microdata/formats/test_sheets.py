"""Sheets of a workbook by name, never silently the first of several; columns without a name have one that is shown."""

import re
import zipfile

import openpyxl
import pytest
from typer.testing import CliRunner

import taxomask as tm
from taxomask.cli.app import app
from taxomask.microdata.files import open_table


@pytest.fixture
def book(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "read me"
    book.active.append(["This workbook holds two tables."])
    people = book.create_sheet("people")
    for row in (["age", None, "sex"], [31, "a", "f"], [35, "b", "m"], [36, "c", "f"], [62, "d", "m"]):
        people.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_which_of_several_sheets_must_be_said(book):
    with pytest.raises(tm.DataError, match=r"book.xlsx has 2 sheets: 'read me', 'people'") as error:
        open_table(book)
    assert "--sheet 'read me'" in error.value.hint


def test_a_sheet_is_read_by_its_name(book):
    source = open_table(f"{book}#people")
    assert source.names == ("age", "column 2", "sex")
    assert source.read()["age"].to_pylist() == [31, 35, 36, 62]
    assert source.others == ("read me",)
    with pytest.raises(tm.DataError, match="has no sheet 'poeple'") as error:
        open_table(f"{book}#poeple")
    assert "people" in error.value.hint


def test_only_workbooks_have_sheets(tmp_path):
    (tmp_path / "a.csv").write_text("age\n3\n")
    with pytest.raises(tm.DataError, match="is no workbook"):
        open_table(f"{tmp_path}/a.csv#people")
    (tmp_path / "b#c.csv").write_text("age\n3\n")  # a name may have the sign
    assert open_table(f"{tmp_path}/b#c.csv").names == ("age",)


def test_the_other_sheets_are_mentioned_and_the_plan_names_the_sheet(book):
    plan = book.parent / "plan.yaml"
    said = CliRunner().invoke(app, ["inspect", str(book), "--sheet", "people", "-o", str(plan)])
    assert said.exit_code == 0, said.output
    assert "not looked at, and not released: read me." in said.output
    assert "data: book.xlsx#people" in plan.read_text()


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_release_of_one_sheet(book, engine):
    plan = book.parent / "plan.yaml"
    plan.write_text(
        "data: book.xlsx#people\nattributes:\n  age: {role: quasi_identifier, kind: continuous}\n"
        "  column 2: {role: identifier}\n  sex: {role: other}\nmethod: {name: microaggregation, k: 2}\n"
        f"engine: {{name: {engine}}}\n"
    )
    tm.run(plan, output=str(book.parent / "out.xlsx"))
    released = open_table(book.parent / "out.xlsx")
    assert released.names == ("age", "sex")
    assert sorted(released.read()["age"].to_pylist()) == [33, 33, 49, 49]
    with pytest.raises(tm.PlanError, match="is the table itself"):
        tm.run(plan, output=str(book), force=True)


def test_an_unnamed_column_of_a_text_file_has_a_name_that_is_shown(tmp_path):
    (tmp_path / "a.csv").write_text(",age\n1,30\n2,31\n")
    assert open_table(tmp_path / "a.csv").read().to_pydict() == {"column 1": [1, 2], "age": [30, 31]}
    (tmp_path / "b.csv").write_text(",age,,sex\n1,30,x,m\n2,31,y,f\n")
    assert open_table(tmp_path / "b.csv").names == ("column 1", "age", "column 3", "sex")
    assert open_table(tmp_path / "b.csv").read(["column 3", "age"]).to_pydict() == {
        "column 3": ["x", "y"],
        "age": [30, 31],
    }
    (tmp_path / "c.csv").write_text(",age,\n1,30,\n2,31,\n")
    with pytest.raises(tm.DataError, match="most columns have no name"):
        open_table(tmp_path / "c.csv")


TITLED = [["Altes de 2023", None, None], [], ["edat", "sexe", "import"], [34, "Dona", 12.5], [61, "Home", 3.25]]


def _workbook(rows, path):
    book = openpyxl.Workbook()
    for number, row in enumerate(rows, start=1):
        for place, cell in enumerate(row, start=1):
            if cell is not None:
                book.active.cell(number, place, cell)
    if rows[0][0]:
        book.active.merge_cells("A1:C1")
    book.save(path)
    return path


def _text(rows, path):
    path.write_text("\n".join(";".join("" if one is None else str(one) for one in row) for row in rows) + "\n")
    return path


@pytest.mark.parametrize("rows", [TITLED, [TITLED[0][:1], *TITLED[2:]]])
@pytest.mark.parametrize(("write", "name"), [(_workbook, "a.xlsx"), (_text, "a.csv")])
def test_titles_above_the_names_of_the_columns_are_skipped_and_said(tmp_path, write, name, rows):
    path = write(rows, tmp_path / name)
    assert open_table(path).read().to_pydict() == {"edat": [34, 61], "sexe": ["Dona", "Home"], "import": [12.5, 3.25]}
    said = CliRunner().invoke(app, ["inspect", str(path)])
    row = rows.index(TITLED[2]) + 1
    assert f"The names of the columns stand in row {row}; not looked at above them: 'Altes de 2023'" in said.output


@pytest.mark.parametrize(("write", "name"), [(_workbook, "a.xlsx"), (_text, "a.csv")])
def test_no_record_is_taken_for_names_below_a_title(tmp_path, write, name):
    for rows in (
        [["a", None, None], ["x", "y", "z"], ["u", "v", "w"]],  # nothing tells names from values
        [["a", None, None], [1, "y", "z"], [2, "v", "w"]],
        [[None, "a", None], ["x", "y", "z"], [2, "v", "w"]],
    ):
        with pytest.raises(tm.DataError, match=r"most columns .*have no name"):
            open_table(write(rows, tmp_path / name))


def test_a_whole_table_has_no_titles_whatever_its_cells_hold(tmp_path):
    rows = ["age;income;birthdate;balance", "68;4.031,48 €;x;317,01", "70;4.131,48 €;x;417,01", "71;5.131,4 €;y;417,01"]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    source = open_table(tmp_path / "a.csv")
    assert (source.names, source.above) == (("age", "income", "birthdate", "balance"), ())


def test_rows_below_titles_are_counted_as_the_file_has_them(tmp_path):
    _text([*TITLED, [1, 2]], tmp_path / "a.csv")
    with pytest.raises(tm.DataError, match="line 6: row 3 has 2 cells, the header has 3"):
        open_table(tmp_path / "a.csv").read()


@pytest.fixture
def hiding(tmp_path):
    """A workbook in which most is hidden, as Excel and its filters hide it."""
    book = openpyxl.Workbook()
    book.active.title = "lookup"
    book.active.append(["code"])
    book.active.append(["a"])
    book.active.sheet_state = "hidden"
    book.create_sheet("names").append(["name"])
    book["names"].sheet_state = "veryHidden"
    people = book.create_sheet("people & pay")
    for row in ([None, "ssn", "age", "sex"], *([None, 90_001 + 7 * i, 20 + 3 * i, "fm"[i % 2]] for i in range(12))):
        people.append(row)
    people.column_dimensions["B"].hidden = True
    people.row_dimensions[1].hidden = True  # names, and no record
    for row in (3, 4, 13):
        people.row_dimensions[row].hidden = True
    book.active = 2
    book.save(tmp_path / "hiding.xlsx")
    return tmp_path / "hiding.xlsx"


def test_what_a_workbook_hides_is_said_at_every_step(hiding):
    with pytest.raises(
        tm.DataError, match=r"3 sheets: 'lookup' \(hidden\), 'names' \(hidden\), 'people & pay'\."
    ) as error:
        open_table(hiding)
    assert "--sheet 'people & pay'" in error.value.hint
    plan = hiding.parent / "plan.yaml"
    said = CliRunner().invoke(app, ["inspect", str(hiding), "--sheet", "people & pay", "-o", str(plan)])
    assert said.exit_code == 0, said.output
    flat = " ".join(said.output.split())
    assert "not looked at, and not released: lookup (hidden), names (hidden)." in flat
    assert "Hidden in the workbook is column 'ssn': here it is a column like any other." in flat
    assert "by a filter, are 3 of the 12 rows: here they are records like any other." in flat
    assert "# hidden in the workbook; " in plan.read_text()
    assert plan.read_text().count("hidden in the workbook") == 1
    outcome = tm.run(plan, output=str(hiding.parent / "out.xlsx"))
    assert sum("Hidden in the workbook" in note for note in outcome.release.notes) == 2
    assert openpyxl.load_workbook(hiding.parent / "out.xlsx").sheetnames == ["people & pay"]
    assert open_table(hiding.parent / "out.xlsx").told == ()


def test_a_hidden_sheet_that_is_chosen_is_called_hidden(hiding):
    assert open_table(f"{hiding}#lookup").told == ("The sheet lookup is hidden in the workbook.",)
    assert open_table(f"{hiding}#people & pay").hidden == ("ssn",)


def test_what_is_hidden_is_found_however_the_tags_are_written(tmp_path, hiding):
    """LibreOffice says of every row whether it is hidden; others name no rows, or use a prefix."""
    with zipfile.ZipFile(hiding) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    sheet = "xl/worksheets/sheet3.xml"
    parts[sheet] = re.sub(rb'<row r="\d+"( hidden="1")?', _hides, parts[sheet])
    with zipfile.ZipFile(tmp_path / "other.xlsx", "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    assert open_table(f"{tmp_path / 'other.xlsx'}#people & pay").told == open_table(f"{hiding}#people & pay").told


def _hides(tag):
    return b"<row hidden='true'" if tag[1] else b"<row hidden='false'"


def test_merged_cells_are_said(tmp_path):
    book = openpyxl.Workbook()
    for row in (["stays", None, None], ["ward", "age", "sex"], ["a", 31, "f"], ["a", 35, "m"], ["b", 40, "f"]):
        book.active.append(row)
    book.active.merge_cells("A1:C1")  # a title
    book.save(tmp_path / "title.xlsx")
    assert open_table(tmp_path / "title.xlsx").told == ()
    book.active.merge_cells("A3:A4")
    book.save(tmp_path / "merged.xlsx")
    source = open_table(tmp_path / "merged.xlsx")
    assert source.told == ("Cells are merged in 'ward': the first of them has the value, and the others have none.",)
    assert source.read()["ward"].to_pylist() == ["a", None, "b"]
