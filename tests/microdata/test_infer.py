from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml

from taxomask.examples import path as example
from taxomask.microdata import Attribute, Kind, Microdata, Schema, infer, read_table
from taxomask.microdata.matching import find_taxonomy, look_alikes
from taxomask.taxonomy import Taxonomy

Make = Callable[[dict[str, Any]], Any]


def draft(make: Make, values: list[Any], name: str = "x") -> Attribute:
    return infer(make({name: values}))[name]


@pytest.mark.parametrize(
    ("values", "kind", "note"),
    [
        ([1.5, 2.5, None], Kind.CONTINUOUS, ""),
        ([30, 41, 58], Kind.CONTINUOUS, ""),
        ([1, 2, 3, 3, 2], Kind.CONTINUOUS, ""),
        ([1, 0, 1, 1], Kind.NOMINAL, "two values only"),
        ([1, 2, 2, 1], Kind.NOMINAL, "two values only"),
        ([True, None, False], Kind.NOMINAL, "true or false"),
        (["30", "41.5", "+1e3"], Kind.CONTINUOUS, "numbers written as text"),
        (["030", "041", "123"], Kind.NOMINAL, "numbers with leading zeros"),
        (["b", "a", "b"], Kind.NOMINAL, "2 distinct values"),
        (["b", "b"], Kind.NOMINAL, "1 distinct value"),
        ([None, None], Kind.NOMINAL, "holds no values"),
        (["", ""], Kind.NOMINAL, "holds no values; '' (2 cells) looks like missing"),
        ([dt.date(2020, 1, 1), None], Kind.CONTINUOUS, "dates or times"),
        ([[1], [2]], None, "can only be passed through"),
    ],
)
def test_kinds(table: Make, values: list[Any], kind: Kind | None, note: str) -> None:
    attribute = draft(table, values)
    assert attribute.kind is kind
    assert attribute.role == ("quasi_identifier" if "dates" in note else "undecided")
    assert note in attribute.note
    assert attribute.note == "" or note


def test_a_number_of_its_own_is_no_diagnosis_whatever_its_name_says() -> None:
    table = pa.table({"tumour_no": [f"T-{place:04}" for place in range(30)], "tumour": ["a", "b", "c"] * 10})
    schema = infer(table)
    assert schema["tumour_no"].role == "undecided"
    assert "unique in every row: an identifier?" in schema["tumour_no"].note
    assert schema["tumour"].role == "confidential"


def test_types_that_say_that_they_are_ordered() -> None:
    sizes = ["s", "m", "l"]
    frames = [
        pd.DataFrame({"x": pd.Categorical(["m"], categories=sizes, ordered=True)}),
        pl.DataFrame({"x": pl.Series(["m"], dtype=pl.Enum(sizes))}),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([1], pa.int8()), sizes, ordered=True)}),
    ]
    for frame in frames:
        attribute = infer(frame)["x"]
        assert (attribute.kind, attribute.order) == (Kind.ORDINAL, ("s", "m", "l"))
        assert attribute.note == "ordered by its type"


def test_categories_without_an_order_are_nominal() -> None:
    frames = [
        pd.DataFrame({"x": pd.Categorical(["m"], categories=["s", "m"])}),
        pl.DataFrame({"x": pl.Series(["m"], dtype=pl.Categorical)}),
        pa.table({"x": pa.array(["m"]).dictionary_encode()}),
    ]
    assert [infer(frame)["x"].kind for frame in frames] == [Kind.NOMINAL] * 3


def test_an_ordered_type_with_an_empty_category() -> None:
    frame = pl.DataFrame({"x": pl.Series(["", "a"], dtype=pl.Enum(["", "a"]))})
    assert infer(frame)["x"].missing == ()


def test_ranges_are_ordinal(table: Make) -> None:
    attribute = draft(table, ["500+", "6-99", "100-199", "?", "300-499"])
    assert (attribute.kind, attribute.order) == (Kind.ORDINAL, ("6-99", "100-199", "300-499", "500+"))
    assert attribute.missing == ("", "?")
    ages = draft(table, ["[10-20)", "[0-10)", "[90-100)", ">100"])
    assert ages.order == ("[0-10)", "[10-20)", "[90-100)", ">100")
    assert draft(table, ["1-2", "x"]).kind is Kind.NOMINAL


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (["f", "m", "?", "not_stated", "?"], ("", "?", "not_stated")),
        (["f", "m", "NA", "n/a", "Not available", "Unknown"], ("", "NA", "n/a", "Not available", "Unknown")),
        (["f", "m", "None", "other"], ("",)),
        ([30, 41, -9, -9], ("", -9)),
        ([-3, 41, -9], ("",)),
        ([30, 41, 58, 999], ("", 999)),
        ([300, 410, 580, 999], ("",)),
        (["30", "41", "-9", "?"], ("", "?", "-9")),
        (["?", "?"], ("",)),
    ],
)
def test_values_that_look_like_missing(table: Make, values: list[Any], missing: tuple[Any, ...]) -> None:
    attribute = draft(table, values)
    assert set(attribute.missing) == set(missing)
    for marker in missing[1:]:
        count = values.count(marker)
        assert f"{marker!r} ({count} cell{'s' if count != 1 else ''}) looks like missing" in attribute.note


def test_hints_at_roles(table: Make) -> None:
    n = 24
    frame = table(
        {
            "visit": list(range(100, 100 + n)),
            "weight": [number + 0.5 for number in range(n)],
            "patientNr": [1, *range(n - 1)],
            "admission_type_id": [1, 2, 3] * 8,
            "Last Name": ["a", "b"] * 12,
            "birth_year": [1980, 1990, 2000] * 8,
            "income": [1, 2, 3] * 8,
        }
    )
    notes = {name: attribute.note for name, attribute in infer(frame).items()}
    assert "unique in every row: an identifier?; the name suggests the number of a person" in notes["visit"]
    assert notes["weight"] == "the name suggests a weight: of a body, or of a survey?"
    assert "the name suggests the number of a person, a household or a case" in notes["patientNr"]
    assert notes["admission_type_id"] == "numbers that name something; the name suggests how a stay began or ended"
    assert "the name suggests what names or reaches a person" in notes["Last Name"]
    assert notes["birth_year"] == "the name suggests a date or place of birth"
    assert notes["income"] == "the name suggests money"
    roles = {name: str(attribute.role) for name, attribute in infer(frame).items()}
    assert roles == {
        "visit": "identifier",
        "weight": "undecided",
        "patientNr": "identifier",
        "admission_type_id": "quasi_identifier",
        "Last Name": "identifier",
        "birth_year": "quasi_identifier",
        "income": "confidential",
    }


# --------------------------------------------------------------------------------------- taxonomies


def some(taxonomy: str, start: str = "", step: int = 50) -> list[str]:
    return [concept for concept in Taxonomy.builtin(taxonomy) if concept.startswith(start)][1::step]


# As in the diabetes data: categories without leading zeros, decimals for diabetes only.
LOST_ZEROS = [code.lstrip("0") for code in some("icd9cm", step=1) if len(code) == 3 and code != "000"][::4]
LOST_ZEROS += [f"250.{number}" for number in range(1, 10)]


@pytest.mark.parametrize(
    ("values", "taxonomy", "normalize"),
    [
        (some("icd9cm"), "icd9cm", ()),
        (LOST_ZEROS, "icd9cm", ("zeros:3",)),
        (some("icd9cm_procedures"), "icd9cm_procedures", ()),
        (some("isco08", step=10), "isco08", ()),
        (some("nace2", step=10), "nace2", ()),
    ],
)
def test_codes_of_shipped_taxonomies(table: Make, values: list[str], taxonomy: str, normalize: tuple[str, ...]) -> None:
    attribute = draft(table, [*values, "?", None])
    assert (attribute.kind, attribute.taxonomy) == (Kind.TAXONOMIC, taxonomy)
    assert attribute.normalize == normalize
    assert attribute.role == ("confidential" if "icd" in taxonomy else "quasi_identifier")
    assert attribute.missing == ("", "?")
    assert attribute.note.startswith(
        f"{taxonomy}: 100.0 % of {len(values)} distinct values and 100.0 % of {len(values)} cells map"
    )
    assert "of random look-alikes" in attribute.note


@pytest.mark.parametrize(
    "values",
    [
        ["M", "F"] * 50,  # sections of NACE
        ["1", "2", "3", "9"] * 20,  # major groups of ISCO
        list(range(100)),  # ages: codes of diseases with lost zeros
        [str(number) for number in range(100)],
        list(range(100, 300)),  # body weights: three-digit codes of diseases
        list(range(1, 13)) * 10,
        list(range(1950, 2010)),
        ["1.5", "2.5", "3.9", "7.2", "4.4"] * 9,
        [f"{number:05}" for number in range(10_000, 99_999, 97)],  # postal codes
        ["Ann", "Bob", "Eve"],
    ],
)
def test_what_only_looks_like_codes(table: Make, values: list[Any]) -> None:
    assert draft(table, values).kind is not Kind.TAXONOMIC


def test_codes_held_as_numbers_come_with_a_warning(table: Make) -> None:
    attribute = draft(table, [int(code) for code in some("icd9cm_procedures") if code.isdigit()])
    assert attribute.taxonomy == "icd9cm_procedures"
    assert "held as numbers: codes that lost leading zeros may mean something else" in attribute.note
    occupations = draft(table, [int(code) for code in some("isco08", "2", 3)])
    assert occupations.taxonomy == "isco08"


def test_too_many_unknown_values(table: Make) -> None:
    values = some("icd9cm")
    enough = draft(table, [*values, *[f"x{number}" for number in range(len(values) // 30)]])
    assert enough.kind is Kind.TAXONOMIC
    assert "97.0 % of 366 distinct values" in enough.note
    rare = draft(table, [*values, *["x1"] * len(values)])
    assert rare.kind is Kind.NOMINAL  # one value only, but half of the cells


def test_look_alikes_have_the_same_shape() -> None:
    texts = ["250.83", "V57", "12", "14", "007", "1990"]
    drawn = look_alikes(texts)
    assert drawn == look_alikes(texts)
    assert [len(text) for text in drawn] == [6, 3, 2, 2, 3, 4]
    assert drawn[0][3] == "."
    assert drawn[1][0].isalpha()
    assert all(12 <= int(text) <= 14 for text in drawn[2:4])
    assert drawn[4:] == ["007", "1990"]
    assert find_taxonomy([], np.array([])) is None


# --------------------------------------------------------------------------------------- whole tables


def test_the_draft_of_real_discharges_can_be_used(tmp_path: Path) -> None:
    table = read_table(example("discharges"), text=True)
    schema = infer(table)
    kinds = {name: str(attribute.kind) for name, attribute in schema.items()}
    assert kinds["dx01"] == "taxonomic"
    assert kinds["sex"] == "nominal"
    assert schema["dx01"].taxonomy == "icd9cm"
    assert Microdata.from_frame(table, schema).n == table.num_rows
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(schema.to_dict(tmp_path), sort_keys=False, allow_unicode=True))
    assert Schema.read(path) == schema


def test_the_note_says_when_not_all_values_were_looked_at() -> None:
    names = [f"person {number}" for number in range(12_000)]
    attribute = infer(pa.table({"x": names}))["x"]
    assert "looked at the 10,000 most frequent of 12,000 distinct values" in attribute.note
    assert "12,000 distinct values" in attribute.note
    assert "unique in every row" in attribute.note
    numbers = pl.DataFrame({"x": [float("nan"), None, *(number + 0.5 for number in range(12_000))]})
    assert infer(numbers)["x"].kind is Kind.CONTINUOUS


def test_numbers_of_any_length() -> None:
    longest = [["9" * digits, "1" * digits, "5" * digits] for digits in (18, 19, 20, 5000)]
    for values in longest:
        assert infer(pa.table({"a": values}))["a"].kind is not None


LONG = 200_000


@pytest.mark.parametrize(
    "cell", ["9" * LONG + "x", "5" + " " * LONG + "x", "<" + "9." * LONG + "a", "5-6" + "\t" * LONG + "x"]
)
def test_a_long_cell_takes_no_time(cell: str) -> None:
    texts = {"a": ["1-5", "6-9", cell, "10+"] * 5, "b": [cell, "12.50 €", "1", "2.5"] * 5}
    assert list(infer(pa.table(texts))) == ["a", "b"]  # patterns that begin anew at every letter took hours
