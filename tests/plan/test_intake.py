"""Real files in: from a table as people write it to a release in the same spelling, in memory and from files."""

import datetime as dt
import random
from collections import Counter

import openpyxl
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.microdata import Attribute
from taxomask.microdata.files import open_table
from taxomask.microdata.frames import Frame
from taxomask.microdata.numeric import present_values
from taxomask.plan.draft import draft_plan, draft_schema


def german(value):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def people(n=60):
    """Rows with quirks: an open-ended age, money in euros, dates of birth, a decimal comma, litres below a limit."""
    draw = random.Random(4)
    for number in range(n):
        age, litres = draw.randint(18, 95), draw.randint(1, 20)
        birth = dt.date(1930, 1, 1) + dt.timedelta(days=draw.randint(0, 25_000))
        yield [
            f"P{number:04}",
            "90+" if age >= 90 else str(age),
            german(draw.randint(-20_000, 1_500_000) / 100) + " €",
            f"{birth.day:02}.{birth.month:02}.{birth.year}",
            f"{draw.randint(0, 99_999) / 100:.2f}".replace(".", ","),
            "<5" if litres < 5 else str(litres),
        ]


HEADER = ["patient_id", "age", "income", "birthdate", "balance", "litres"]
ROLES = {"litres": "quasi_identifier", "balance": "other", "income": "confidential"}


def write(path):
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.title = "people"
        for row in (HEADER, *people()):
            book.active.append(row)
        book.save(path)
    else:
        path.write_text("".join(";".join(row) + "\n" for row in (HEADER, *people())), encoding="utf-8")
    return path


def drafted(path, **more):
    source = open_table(path, text=True)
    return draft_schema(source.read(), beside=path, roles={**ROLES, **more})


@pytest.mark.parametrize("name", ["people.csv", "people.xlsx"])
def test_the_draft_sees_how_numbers_and_dates_are_written(tmp_path, name):
    schema = drafted(write(tmp_path / name))
    assert schema["income"].notation == "1.234,50 €"
    assert schema["birthdate"].notation == "d.m.Y"
    assert schema["balance"].notation == "1234,50"
    assert dict(schema["age"].open_ends) == {"90+": 90}
    assert dict(schema["litres"].open_ends) == {"<5": 4}
    assert {str(schema[one].kind) for one in HEADER[1:]} == {"continuous"}


@pytest.mark.parametrize("name", ["people.csv", "people.xlsx"])
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_from_the_draft_to_a_release_in_the_same_spelling(tmp_path, name, engine):
    path = write(tmp_path / name)
    before = open_table(path, text=True).read()
    plan = tmp_path / "plan.yaml"
    text = draft_plan(drafted(path), str(path), tmp_path)
    plan.write_text(f"{text}\nengine: {{name: {engine}}}\n", encoding="utf-8")
    tm.run(plan, output=str(tmp_path / f"out.{path.suffix[1:]}"))
    after = open_table(tmp_path / f"out.{path.suffix[1:]}", text=True).read()
    assert sorted(after["balance"].to_pylist()) == sorted(before["balance"].to_pylist())  # 1234,50 stays
    assert sorted(after["income"].to_pylist()) == sorted(before["income"].to_pylist())
    point = "," if path.suffix == ".csv" else "."  # in a workbook nothing says what the sign would be
    assert all(one == "90+" or float(one.replace(point, ".")) < 90 for one in after["age"].to_pylist())
    assert all(one == "<5" or float(one.replace(point, ".")) >= 5 for one in after["litres"].to_pylist())
    days = [dt.datetime.strptime(one, "%d.%m.%Y") for one in after["birthdate"].to_pylist()]
    assert min(days).year >= 1930


def test_both_engines_write_the_same_bytes(tmp_path):
    path = write(tmp_path / "people.csv")
    written = []
    for engine in ("memory", "local"):
        plan = tmp_path / f"{engine}.yaml"
        more = f"engine: {{name: {engine}}}\npractice: true\nseed: 7\n"
        method = tm.Pipeline([tm.Microaggregation(k=4), tm.Shuffling()])
        plan.write_text(draft_plan(drafted(path), str(path), tmp_path, method) + more, encoding="utf-8")
        tm.run(plan, output=str(tmp_path / f"{engine}.csv"))
        written.append((tmp_path / f"{engine}.csv").read_bytes())
    assert written[0] == written[1]
    assert b" \xe2\x82\xac" in written[0]


def test_a_plan_can_ask_for_years_months_and_ages(tmp_path):
    path = write(tmp_path / "people.csv")
    ranges = {"year": (1930, 1998), "month": (1930, 1998), "age at 2010-01-01": (11, 80)}
    for coarsen, (low, high) in ranges.items():
        plan = tmp_path / "plan.yaml"
        schema = drafted(path).replace("birthdate", coarsen=coarsen)
        plan.write_text(draft_plan(schema, str(path), tmp_path, tm.Microaggregation(k=4)), encoding="utf-8")
        tm.run(plan, output=str(tmp_path / "out.csv"), force=True)
        for text in open_table(tmp_path / "out.csv", text=True).read()["birthdate"].to_pylist():
            assert low <= (dt.datetime.strptime(text, "%Y-%m").year if coarsen == "month" else int(text)) <= high


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_dates_with_times_of_a_hospital_are_moments_and_stay_written_as_they_are(tmp_path, engine):
    days = [f"{1 + i % 28:02}-{1 + i % 12:02}-2010 {i % 24:02}:{7 * i % 60:02}" for i in range(60)]
    draw = random.Random(7)
    stamps = [str(dt.datetime(2011, 1, 1) + dt.timedelta(seconds=30 * draw.randrange(10**6))) for _ in days]
    rows = [f"{day};{stamp};{20 + i % 50}" for i, (day, stamp) in enumerate(zip(days, stamps, strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(["fecha ingreso;sello;edad", *rows]) + "\n")
    schema = draft_schema(open_table(tmp_path / "a.csv", text=True).read())
    assert [one.notation for one in schema.values()] == ["d-m-Y H:M", "Y-m-d H:M:S", None]
    assert [str(one.kind) for one in schema.values()] == ["continuous"] * 3
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: a.csv\nattributes:\n"
        "  fecha ingreso: {role: quasi_identifier, kind: continuous, notation: d-m-Y H:M}\n"
        "  sello: {role: confidential, kind: continuous, notation: 'Y-m-d H:M:S'}\n"
        f"  edad: {{role: quasi_identifier, kind: continuous}}\nmethod: {{name: microaggregation, k: 3}}\n"
        f"engine: {{name: {engine}}}\noutput: {{keep_order: true}}\n"
    )
    tm.run(plan, output=str(tmp_path / "out.csv"), report=str(tmp_path / "out.html"))
    released = open_table(tmp_path / "out.csv", text=True).read().to_pydict()
    assert released["sello"] == stamps
    moments = [dt.datetime.strptime(day[:16], "%d-%m-%Y %H:%M") for day in released["fecha ingreso"]]
    seconds = [(one - dt.datetime(1970, 1, 1)).total_seconds() for one in moments]
    before = [(dt.datetime.strptime(day, "%d-%m-%Y %H:%M") - dt.datetime(1970, 1, 1)).total_seconds() for day in days]
    assert abs(sum(seconds) - sum(before)) / 60 < 60  # the mean stays, but for seconds that are cut off here
    assert min(Counter(zip(released["fecha ingreso"], released["edad"], strict=True)).values()) >= 3


def test_dates_with_times_are_coarsened_as_others(tmp_path):
    table = pa.table({"day": ["31/12/1999 23:59", "01/01/2000 00:00", "02/01/2000 12:30", "bad"]})
    year = Attribute("day", kind="continuous", notation="d/m/Y H:M", coarsen="year", missing=["bad"])
    assert present_values(Frame(table), year).to_pylist()[:3] == [1999, 2000, 2000]
    plain = Attribute("day", kind="continuous", notation="d/m/Y H:M")
    with pytest.raises(tm.DataError, match="'bad' is not a date written as d/m/Y H:M"):
        present_values(Frame(table), plain)
