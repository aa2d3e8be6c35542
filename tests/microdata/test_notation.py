"""Numbers and dates as people write them: read as numbers, written back in their notation."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taxomask as tm
from taxomask.microdata import infer
from taxomask.microdata.notation import find_notation, notation, tidy
from taxomask.microdata.open_ends import open_end

NOTATIONS = [
    "1,234.5",
    "1.234,50 €",
    "€ 1.234,50",
    "1 234,5",
    "1'234.50",
    "$1,234",
    "1234,5",
    "1\u00a0234,50 kr",
    "1234,5 %",
]
DATES = ["d.m.Y", "m/d/Y", "d/m/Y", "Y-m-d", "Y/m/d", "Ymd", "d-m-Y"]


@pytest.mark.parametrize("name", NOTATIONS)
@given(st.lists(st.decimals(-(10**9), 10**9, places=3), min_size=1, max_size=20))
def test_what_is_written_reads_as_the_same_number(name, decimals):
    how, values = notation(name), np.array([float(one) for one in decimals])
    texts = how.write(values, pa.array([], pa.large_string()))
    assert all(how.reads(text) for text in texts)
    assert [float(one) for one in how.plain(tidy(pa.array(texts))).to_pylist()] == values.tolist()


@pytest.mark.parametrize("name", DATES)
@given(st.lists(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)), min_size=1, max_size=20), st.booleans())
def test_what_is_written_reads_as_the_same_day(name, dates, short):
    how = notation(name)
    days = np.array([(one - dt.date(1970, 1, 1)).days for one in dates], dtype=float)
    like = pa.array(["1.1.2001" if short else "01.01.2001"], pa.large_string())
    assert how.plain(pa.array(how.write(days, like), pa.large_string())).to_pylist() == dates


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12,345.60", "12345.60"),
        ("1,234,567", "1234567"),
        ("-7", "-7"),
        ("$ 1,234.50", "1234.50"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("1234", "1234"),
        (".5", ".5"),
        ("\u22125", "-5"),  # a minus sign of typographers
    ],
)
def test_cells_in_dollars(text, number):
    assert notation("$1,234.50").plain(tidy(pa.array([text]))).to_pylist() == [number]


@pytest.mark.parametrize("text", ["12,34.5", "1,23", "1.234,5", "€5", "5 €", "--5", "1,2345", "", "abc", "5e3"])
def test_what_is_no_number_in_dollars(text):
    assert not notation("$1,234.50").reads(text)


@pytest.mark.parametrize("text", ["31.2.2020", "0.1.2020", "1.13.2020", "1.1.20", "2020-01-01", "1/1/2020"])
def test_what_is_no_day(text):
    assert notation("d.m.Y").plain(pa.array([text])).to_pylist() == [None]


@pytest.mark.parametrize("name", ["", "1234,5,6", "5", "d.m", "d.d.Y", "d.m/Y", "1,234,5", "Y-m-d-H", "12345", "x2y"])
def test_what_is_no_notation(name):
    assert notation(name) is None
    with pytest.raises(tm.SchemaError, match=r"notation must show how 1234.5 or a day is written"):
        tm.Attribute("cost", kind="continuous", notation=name)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["12,345.60", "7.10"], ("1,234.50", False)),
        (["1.234,50 €", "12,00 €"], ("1.234,50 €", False)),
        (["1.234 €", "12 €"], ("1.234 €", True)),  # or 1.234 euros with three decimals
        (["3,5", "12"], ("1234,5", False)),
        (["1234,50", "3,00"], ("1234,50", False)),
        (["$5", "$10"], ("$1234", False)),
        (["1 234,5", "12"], ("1 234,5", False)),
        (["1'234.50", "12.00"], ("1'234.50", False)),
        (["12,5 %", "3 %"], ("1234,5 %", False)),
        (["1,234", "5,678"], ("1,234", True)),
        (["0,123", "5,678"], ("1234,5", False)),
        (["1,234", "1234,5"], ("1234,5", False)),
        (["12.50", "3.00"], ("1234.50", False)),
        (["31.12.2010", "1.2.2011"], ("d.m.Y", False)),
        (["12/31/2010", "1/2/2011"], ("m/d/Y", False)),
        (["31/12/2010", "1/2/2011"], ("d/m/Y", False)),
        (["2010-12-31", "2011-02-01"], ("Y-m-d", False)),
        (["20101231", "20110201", "20110202"], ("Ymd", False)),
    ],
)
def test_notations_are_recognised(texts, found):
    how, ambiguous = find_notation(texts)
    assert (how.text, ambiguous) == found


@pytest.mark.parametrize(
    ("texts", "ambiguous"),
    [
        (["12.5", "3"], False),
        (["1.234", "12"], True),  # 1234 to a German
        (["A12", "A13"], False),  # codes
        (["12 €", "12 $"], False),
        (["1/2/2010", "3/4/2010"], True),
        (["1.2.2010", "31.6.2010"], False),
        (["12-34", "5"], False),
        (["x", "12"], False),
        ([], False),
    ],
)
def test_what_is_written_plainly_or_not_as_numbers_at_all(texts, ambiguous):
    assert find_notation(texts) == (None, ambiguous)


def schema(**options):
    return tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous", **options)])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_released_values_are_written_in_the_notation_of_the_column(kind):
    import narwhals as nw

    table = pa.table({"x": ["1.000,00 €", "1.001,00 €", "3.000,50 €", None, "3.100,00 €", "3.050,00 €"]})
    frame = nw.from_arrow(table, backend=kind).to_native()
    released = tm.protect(frame, schema(notation="1.234,50 €"), tm.Microaggregation(k=2), seed=1).data
    texts = set(nw.from_native(released)["x"].to_list())
    assert {text for text in texts if isinstance(text, str)} <= {
        "1.000,50 €",
        "3.050,1667 €",
        "3.050,00 €",
        "3.100,00 €",
    }
    assert "1.000,50 €" in texts


def test_dates_are_days_and_are_written_as_they_were():
    table = pa.table({"x": ["01.01.2010", "03.01.2010", "05.06.2011", "07.06.2011"]})
    release = tm.protect(table, schema(notation="d.m.Y"), tm.Microaggregation(k=2), seed=1)
    assert sorted(release.data["x"].to_pylist()) == ["02.01.2010", "02.01.2010", "06.06.2011", "06.06.2011"]
    assert release.original.holds_dates("x")


def test_limits_and_rules_for_dates_are_dates():
    table = pa.table({"x": ["01.01.2010", "03.01.2010", "05.06.2011", "07.06.2011"]})
    rules = {"2010-01-01": ["2010-01-01", "2011-01-01"], "2011-01-01": ["2011-01-01", None]}
    release = tm.protect(table, schema(notation="d.m.Y"), tm.Recoding(rules={"x": rules}), seed=1)
    assert set(release.data["x"].to_pylist()) == {"01.01.2010", "01.01.2011"}


def test_the_error_names_the_cell_and_the_notation_that_all_have():
    table = pa.table({"x": ["1.234,50 €", "7,00 €"]})
    with pytest.raises(tm.DataError, match=r"row 1: '1.234,50 €' is not a number") as error:
        tm.protect(table, schema(), tm.Microaggregation(k=2))
    assert error.value.hint == "All values are written alike: say notation: '1.234,50 €'."
    with pytest.raises(tm.DataError, match=r"row 2: '31.2.2010' is not a date written as d.m.Y"):
        tm.protect(pa.table({"x": ["1.2.2010", "31.2.2010"]}), schema(notation="d.m.Y"), tm.Microaggregation(k=2))


def test_a_column_of_numbers_needs_no_notation():
    released = tm.protect(pa.table({"x": [1, 2, 5, 6]}), schema(notation="1.234,5"), tm.Microaggregation(k=2)).data
    assert sorted(released["x"].to_pylist()) == [1.5, 1.5, 5.5, 5.5]


def test_a_copy_in_another_notation_is_a_leak():
    """The salary is protected, and stands beside it in thousands with a point instead of a comma."""
    rng = np.random.default_rng(1)
    values = rng.integers(10_000, 99_999, 60).tolist()
    table = pa.table(
        {"x": values, "y": [f"{value:,.2f}".replace(",", " ").replace(".", ",") + " kr" for value in values]}
    )
    both = tm.Schema([*schema().values(), tm.Attribute("y", role="other")])
    with pytest.raises(tm.PromiseError, match="y"):
        tm.protect(table, both, tm.Microaggregation(k=3), seed=1)


# --------------------------------------------------------------------------------------- open ends

AGES = ["18", "19", "88", "89", "90+", "90+", "20", "<18"]


def test_numbers_with_an_open_end_count_as_what_is_said():
    data = tm.Microdata.from_frame(pa.table({"x": AGES}), schema(open_ends={"90+": 93, "<18": 17}))
    assert data.columns["x"].values.tolist() == [18, 19, 88, 89, 93, 93, 20, 17]


def test_released_numbers_beyond_the_limit_are_written_as_the_open_end():
    table = pa.table({"x": AGES})
    release = tm.protect(table, schema(open_ends={"90+": 93, "<18": 17}), tm.Microaggregation(k=2), seed=1)
    texts = release.data["x"].to_pylist()
    numbers = tm.Microdata.from_frame(release.data, release.original.schema).columns["x"].values
    assert all((text == "90+") == (number >= 90) for text, number in zip(texts, numbers, strict=True))
    assert all((text == "<18") == (number < 18) for text, number in zip(texts, numbers, strict=True))
    assert np.unique(numbers, return_counts=True)[1].min() >= 2  # the promise is about what is written


@given(st.lists(st.integers(5, 89), min_size=4, max_size=30), st.integers(0, 2**32))
def test_noise_never_tells_more_than_a_limit(values, seed):
    texts = [*map(str, values), "<5", "90+"]
    attributes = schema(open_ends={"<5": 4, "90+": 90})
    released = tm.protect(pa.table({"x": texts}), attributes, tm.Noise(0.5), seed=seed).data["x"].to_pylist()
    plain = [float(text) for text in released if text not in ("<5", "90+")]
    assert all(5 <= number < 90 for number in plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"open_ends": {"90": 90}}, "'90', which is no number with a limit"),
        ({"open_ends": {"90+": 80}}, "counts '90\\+' as 80, which it does not stand for"),
        ({"open_ends": {"<5": 5}}, "counts '<5' as 5"),
        ({"open_ends": {"<5": 4, "<3": 2}}, "two of them on the same side"),
        ({"open_ends": {"<5": 4}, "notation": "d.m.Y"}, "that of dates"),
        ({"open_ends": 5}, "must name texts and numbers"),
        ({"coarsen": "week"}, "coarsen must be one of"),
        ({"coarsen": "age at 2020-06-31"}, "coarsen must be one of"),
    ],
)
def test_open_ends_and_coarser_dates_must_make_sense(options, message):
    with pytest.raises(tm.SchemaError, match=message):
        tm.Attribute("x", kind="continuous", **options)


def test_a_number_beyond_the_limit_is_an_error():
    with pytest.raises(tm.DataError, match=r"row 1: 95 lies beyond the open end '90\+'"):
        tm.Microdata.from_frame(pa.table({"x": ["95", "90+"]}), schema(open_ends={"90+": 90}))


# --------------------------------------------------------------------------------------- coarser dates


def naive_age(birth, at):
    return at.year - birth.year - ((at.month, at.day) < (birth.month, birth.day))


@given(
    st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2020, 12, 31)), min_size=1, max_size=30),
    st.dates(dt.date(1990, 1, 1), dt.date(2030, 1, 1)),
)
def test_ages_are_those_of_the_calendar(births, at):
    data = tm.Microdata.from_frame(pa.table({"x": births}), schema(coarsen=f"age at {at}"))
    assert data.columns["x"].values.tolist() == [naive_age(birth, at) for birth in births]


BIRTHS = [dt.date(1983, 5, 2), dt.date(1983, 5, 30), dt.date(1990, 1, 1), None]


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("coarsen", "texts"),
    [
        ("year", ["1983", "1983", "1990", None]),
        ("month", ["1983-05", "1983-05", "1990-01", None]),
        ("age at 2020-05-15", ["37", "36", "30", None]),
    ],
)
def test_dates_leave_as_what_they_are_coarsened_to_whatever_the_method_does(coarsen, texts, typed):
    written = BIRTHS if typed else [one and f"{one.day}.{one.month}.{one.year}" for one in BIRTHS]
    table = pa.table({"x": written, "y": [1, 2, 3, 4]})
    options = {"coarsen": coarsen} if typed else {"coarsen": coarsen, "notation": "d.m.Y"}
    both = tm.Schema(
        [
            tm.Attribute("x", role="other", kind="continuous", **options),
            tm.Attribute("y", role="quasi_identifier", kind="continuous"),
        ]
    )
    release = tm.protect(table, both, tm.Microaggregation(k=2), seed=1)
    assert release.data["x"].to_pylist() == texts
    again = tm.Microdata.from_frame(release.data, both).columns["x"].values
    np.testing.assert_array_equal(again, release.original.columns["x"].values)


def test_years_can_be_grouped_like_numbers():
    table = pa.table({"x": [dt.date(1980, 3, 1), dt.date(1981, 3, 1), dt.date(1990, 3, 1), dt.date(1990, 4, 1)]})
    released = tm.protect(table, schema(coarsen="year"), tm.Microaggregation(k=2), seed=1).data
    assert sorted(released["x"].to_pylist()) == ["1980", "1980", "1990", "1990"]  # a year is a year
    finer = schema(coarsen="year", decimals=1)
    released = tm.protect(table, finer, tm.Microaggregation(k=2), seed=1).data
    assert sorted(released["x"].to_pylist()) == ["1980.5", "1980.5", "1990", "1990"]  # unless more is asked for


@pytest.mark.parametrize(
    ("text", "limit", "upper", "closed"),
    [
        ("90 o més", 90, True, True), ("90 anys o més", 90, True, True), ("menys de 5", 5, False, False),
        ("90 y más", 90, True, True), ("90 años o más", 90, True, True), ("hasta 4", 4, False, True),
        ("90 et plus", 90, True, True), ("90 ans et plus", 90, True, True), ("moins de 5", 5, False, False),
        ("90 und mehr", 90, True, True), ("bis 4", 4, False, True), ("90 e oltre", 90, True, True),
        ("90 ou mais", 90, True, True), ("até 4", 4, False, True), ("90 of ouder", 90, True, True),
    ],
)  # fmt: skip
def test_open_ends_in_the_languages_of_tables(text, limit, upper, closed):
    end = open_end(text)
    assert (end.limit, end.upper, end.closed) == (limit, upper, closed)


def test_a_few_texts_among_numbers_are_named():
    numbers = [str(number) for number in range(30, 60)] * 3
    for text, said in (
        ("<40", "numbers but for '<40' (1 cell), beyond which other numbers lie: taken for categories"),
        ("haemolysed", "numbers but for 'haemolysed' (1 cell): say that this means missing, and choose numbers"),
    ):
        found = infer(pa.table({"x": [*numbers, text]}))["x"]
        assert (found.kind, said in found.note) == ("nominal", True), found.note
    assert "numbers but" not in infer(pa.table({"x": [f"ward {number}" for number in numbers]}))["x"].note
    assert infer(pa.table({"x": [*numbers, "N/C"]}))["x"].missing == ("", "N/C")
