"""What stands around a table in files as people have them: headings above the names, totals and notes below."""

from __future__ import annotations

import gzip

import openpyxl
import pytest
from typer.testing import CliRunner

import taxomask as tm
from taxomask.cli.app import app
from taxomask.microdata.files import open_table

NAMES = ["id", "sexe", "âge", "séjour", "montant"]
ROWS = [[7001, "F", 34, 3, 812.5], [7002, "M", 61, 9, 99.25], [7003, "F", 50, 1, 40.75]]
TOTAL = ["Total général :", None, None, None, 952.5]
NOTE = ["Source : SI hospitalier, le 3 mars", None, None, None, None]
EMPTY = [None] * 5


def _workbook(rows, path):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def _lines(rows):
    return "".join(";".join("" if one is None else str(one) for one in row) + "\r\n" for row in rows)


def _text(rows, path):
    path.write_bytes(_lines(rows).encode("cp1252"))


def _packed(rows, path):
    path.write_bytes(gzip.compress(_lines(rows).encode()))


def _marked(rows, path):
    path.write_bytes(b"\xff\xfe" + _lines(rows).encode("utf-16-le"))


WRITERS = [(_workbook, "a.xlsx"), (_text, "a.csv"), (_packed, "a.csv.gz"), (_marked, "b.csv")]


@pytest.mark.parametrize(("write", "name"), WRITERS)
@pytest.mark.parametrize("below", [[TOTAL], [TOTAL, NOTE], [EMPTY, NOTE], [NOTE[:1]], [EMPTY, TOTAL, EMPTY, NOTE]])
def test_totals_and_notes_below_the_rows_are_no_records_and_are_said(tmp_path, write, name, below):
    write([NAMES, *ROWS, *below], tmp_path / name)
    source = open_table(tmp_path / name)
    table = source.read()
    assert table.to_pydict() == dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
    assert source.below == tuple(str(cell) for row in below for cell in row if cell is not None)
    assert [batch.num_rows for batch in open_table(tmp_path / name, text=True).batches(2)] == [2, 1]
    said = CliRunner().invoke(app, ["inspect", str(tmp_path / name)]).output
    assert "3 rows, 5 columns" in said
    assert "Not a record, and not looked at, is what stands below the table:" in said


@pytest.mark.parametrize(("write", "name"), WRITERS)
@pytest.mark.parametrize(
    "last",
    [
        [7004, None, None, None, None],  # a record of which little is known
        ["total", "M", 61, 9, 99.25],  # as whole as any other
        ["Marie Curie", None, None, None, None],  # in a column of such names, below
    ],
)
def test_a_record_is_not_taken_for_a_total_or_a_note(tmp_path, write, name, last):
    rows = [["Ada Lovelace", *row[1:]] for row in ROWS] if last[0] == "Marie Curie" else ROWS
    write([NAMES, *rows, last], tmp_path / name)
    assert open_table(tmp_path / name).read().num_rows == 4
    assert open_table(tmp_path / name).below == ()


def test_a_row_that_was_cut_off_is_an_error_as_before(tmp_path):
    _text([NAMES, *ROWS, [7004, "F"]], tmp_path / "a.csv")
    with pytest.raises(tm.DataError, match="row 4 has 2 cells, the header has 5"):
        open_table(tmp_path / "a.csv").read()


def test_what_stands_below_a_long_file_is_found_where_it_ends(tmp_path):
    rows = [[7000 + i, "FM"[i % 2], i % 90, i % 9, i / 4] for i in range(20_000)]
    _text([NAMES, *rows, TOTAL], tmp_path / "a.csv")
    source = open_table(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_size > 262_144
    assert source.read()["montant"].to_pylist() == [row[-1] for row in rows]


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_headings_of_groups_above_the_names_tell_equal_names_apart(tmp_path, write, name):
    headings = ["Patient", None, "Entrée", None, "Sortie", None]
    names = ["n°", "sexe", "date", "service", "date", "service"]
    rows = [[7001, "F", 20100102, "A", 20100105, "B"], [7002, "M", 20100203, "B", 20100209, "B"]]
    title = ["Séjours de 2010", *[None] * 5]
    for above in ([headings], [title, headings], [title, [None] * 6, headings]):
        write([*above, names, *rows], tmp_path / name)
        source = open_table(tmp_path / name)
        assert source.names == ("n°", "sexe", "Entrée: date", "Entrée: service", "Sortie: date", "Sortie: service")
        assert source.header_row == len(above) + 1
        assert source.read().to_pydict() == {
            one: list(cells) for one, cells in zip(source.names, zip(*rows, strict=True), strict=True)
        }


def test_a_table_with_a_total_is_released_without_it(tmp_path):
    rows = [[7001 + i, "FM"[i % 2], 20 + 7 * i % 30, i * i % 7, 100.5 + i * 5 % 12 + i % 3 * 40] for i in range(12)]
    _text([NAMES, *rows, TOTAL, NOTE[:1]], tmp_path / "a.csv")
    roles = {"id": "identifier", "sexe": "quasi_identifier", "âge": "quasi_identifier", "séjour": "confidential"}
    lines = [f"  {name}: {{role: {role}, kind: continuous}}" for name, role in roles.items() if name != "sexe"]
    lines += ["  sexe: {role: quasi_identifier, kind: nominal}", "  montant: {role: confidential, kind: continuous}"]
    plan = tmp_path / "plan.yaml"
    for engine in ("memory", "local"):
        plan.write_text(
            "\n".join(["data: a.csv", "attributes:", *lines, "method: {name: microaggregation, k: 3}"])
            + f"\nengine: {{name: {engine}}}\n"
        )
        tm.run(plan, output=str(tmp_path / f"{engine}.csv"), report=str(tmp_path / f"{engine}.html"))
        released = open_table(tmp_path / f"{engine}.csv").read()
        assert released.num_rows == 12
        assert sorted(released["montant"].to_pylist()) == sorted(row[-1] for row in rows)
        assert "Total général" in (tmp_path / f"{engine}.html").read_text()


def test_amounts_tell_the_decimal_sign_where_no_plain_number_does(tmp_path):
    rows = [f"{2 + i % 5};{i // 2 % 3};{1 + i} {100 + i},{10 + i} €" for i in range(12)]
    (tmp_path / "a.csv").write_bytes(("\r\n".join(["durée;zone;montant", *rows]) + "\r\n").encode("cp1252"))
    source = open_table(tmp_path / "a.csv")
    assert source.dialect.decimal == ","
    assert source.read()["durée"].to_pylist() == [2 + i % 5 for i in range(12)]
    (tmp_path / "b.csv").write_text("age;pay\n" + "".join(f"{20 + i};£{i + 1},200.50\n" for i in range(9)))
    assert open_table(tmp_path / "b.csv").dialect.decimal == "."
