"""Identifiers in disguise, as an intruder would look for them, or somebody would hide them without meaning to."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math
import unicodedata
import zlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.release.leaks import NO_IDENTIFIER, NO_TWIN

N = 400
RNG = np.random.default_rng(3)
NUMBERS = RNG.choice(np.arange(10_000, 99_999), N, replace=False).tolist()
IDS = [f"P-{number}" for number in NUMBERS]
BORN = [dt.date(1930, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 25_000, N)]
HASHES = [hashlib.sha256(one.encode()).hexdigest() for one in IDS]
SURE = RNG.random(N)
AGES = RNG.integers(20, 80, N).tolist()

WORDS = ["came late", "was well", "asked twice", "left early", "slept", "no remark"]


def remarks(values: list[str]) -> list[str]:
    """What is written about people; three of ten remarks name somebody."""
    return [
        f"patient {value} {WORDS[place % 6]}" if sure < 0.3 else WORDS[place % 6]
        for place, (value, sure) in enumerate(zip(values, SURE, strict=True))
    ]


FOUND: dict[str, list[Any]] = {
    "lower case, without the dash": [one.replace("-", " ").lower() for one in IDS],
    "padded with zeros": [f"{number:09}" for number in NUMBERS],
    "reversed": [one[::-1] for one in IDS],
    "digits reversed": [str(number)[::-1] for number in NUMBERS],
    "hash": HASHES,
    "the first letters of a hash": [one[:8] for one in HASHES],
    "in a text": [f"patient {number} was seen on ward {place % 4}" for place, number in enumerate(NUMBERS)],
    "in a list": [[f"x{place % 3}", one] for place, one in enumerate(IDS)],
    "in a structure": [{"a": 1, "b": {"c": one}} for one in IDS],
    "+ 0.5": [number + 0.5 for number in NUMBERS],
    "/ 100": [number / 100 for number in NUMBERS],
    "the last four digits": [f"{number % 10_000:04}" for number in NUMBERS],
    "the first three digits": [number // 100 for number in NUMBERS],
    "one of ten wrong": [one if sure > 0.1 else "P-00000" for one, sure in zip(IDS, SURE, strict=True)],
    "one of ten missing": [one if sure > 0.1 else None for one, sure in zip(IDS, SURE, strict=True)],
    "one of twenty there": [one if sure < 0.05 else "none" for one, sure in zip(IDS, SURE, strict=True)],
    "as hexadecimal numbers": [hex(number) for number in NUMBERS],
    "as ranks": np.argsort(np.argsort(NUMBERS)).tolist(),
    "its square": [number * number for number in NUMBERS],
    "its logarithm": [math.log(number) for number in NUMBERS],
    "one by it, some wrong": [1 / number if sure > 0.05 else sure for number, sure in zip(NUMBERS, SURE, strict=True)],
    "with a check digit": [int(f"{number}{number % 7}") for number in NUMBERS],
    "behind a year": [int(f"{2000 + place % 9}{number}") for place, number in enumerate(NUMBERS)],
    "behind a year, in remarks": remarks([f"{2000 + place % 9}{number}" for place, number in enumerate(NUMBERS)]),
    "in wide digits": remarks(["".join(chr(ord(one) + 0xFEE0) for one in str(number)) for number in NUMBERS]),
    "in Arabic digits": remarks(["".join(chr(0x660 + int(one)) for one in str(number)) for number in NUMBERS]),
    "base64 in remarks": remarks([base64.b64encode(one.encode()).decode() for one in IDS]),
    "hexadecimal in remarks": remarks([f"{number:X}" for number in NUMBERS]),
    "hashes in remarks": remarks([hashlib.md5(one.encode()).hexdigest() for one in IDS]),
    "hash of the digits": remarks([hashlib.sha1(str(number).encode()).hexdigest() for number in NUMBERS]),
    "a hash or a word": [one if sure > 0.3 else "none" for one, sure in zip(HASHES, SURE, strict=True)],
    "a hash as a number": [int(one[:8], 16) for one in HASHES],
    "the end of a hash, or a word": [one[-8:] if sure > 0.3 else "-" for one, sure in zip(HASHES, SURE, strict=True)],
    "the beginning of a hash in remarks": remarks([one[:10] for one in HASHES]),
    "SHA-3 in remarks": remarks([hashlib.sha3_256(one.encode()).hexdigest() for one in IDS]),
    "hash of small letters in remarks": remarks([hashlib.sha256(one.lower().encode()).hexdigest() for one in IDS]),
    "hash as base64 in remarks": remarks(
        [base64.b64encode(hashlib.md5(one.encode()).digest()).decode() for one in IDS]
    ),
    "base32 in remarks": remarks([base64.b32encode(one.encode()).decode() for one in IDS]),
    "reversed in remarks": remarks([one[::-1] for one in IDS]),
    "the last four digits beside a number": remarks([f"{number % 10_000:04}, room {number % 7}" for number in NUMBERS]),
    "CRC-32": [zlib.crc32(one.encode()) for one in IDS],
}
FIRST = ["Anna", "Berta", "Carla", "Dörte", "Émile", "Franz", "Gerd", "Ines", "Jürgen", "Klaus"]
PARTS = ["ber", "mül", "schu", "hof", "wag", "nér", "kai", "lön", "tra", "gru"]
SURNAMES = ["".join(PARTS[one] for one in some).capitalize() for some in RNG.integers(0, 10, (N, 3))]
NAMES = [f"{FIRST[place % 10]} {surname}" for place, surname in enumerate(SURNAMES)]
OF_NAMES: dict[str, list[Any]] = {
    "surname": SURNAMES,
    "surname in capitals, in remarks": remarks([one.upper() for one in SURNAMES]),
    "surname first, in remarks": remarks([", ".join(reversed(one.split())) for one in NAMES]),
    "initial and surname": remarks([f"{one[0]}. {one.split()[1]}" for one in NAMES]),
    "address": [f"{one[0]}{one.split()[1]}@example.org".lower() for one in NAMES],
    "without accents": remarks([unicodedata.normalize("NFD", one).encode("ascii", "ignore").decode() for one in NAMES]),
}
BIRTHS: dict[str, list[Any]] = {
    "12.03.1945": [f"{day:%d.%m.%Y}" for day in BORN],
    "12 March 1945": [f"{day:%d %B %Y}" for day in BORN],
    "03/12/45": [f"{day:%m/%d/%y}" for day in BORN],
    "19450312": [int(f"{day:%Y%m%d}") for day in BORN],
    "12031945": [int(f"{day:%d%m%Y}") for day in BORN],
    "3.5.45 in remarks": remarks([f"{day.day}.{day.month}.{day:%y}" for day in BORN]),
    "12-03": [f"{day:%d-%m}" for day in BORN],
    "days since 1900": [(day - dt.date(1899, 12, 30)).days for day in BORN],
    "age in days": [(dt.date(2020, 1, 1) - day).days for day in BORN],
}
NOT_FOUND: dict[str, list[Any]] = {  # as docs/leaks.md says
    "encrypted to other numbers": [int(one) for one in RNG.permutation(900_000)[:N]],
    "two digits": [number % 100 for number in NUMBERS],
    "two letters of a hash": [one[:2] for one in HASHES],
}


def protected(identifier: list[Any], **columns: list[Any]) -> tm.Release:
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("id", role="identifier"),
            *(tm.Attribute(name, role="other") for name in columns),
        ]
    )
    return tm.protect(pa.table({"age": AGES, "id": identifier, **columns}), schema, tm.Microaggregation(5), seed=1)


@pytest.mark.parametrize("guise", FOUND)
def test_a_number_in_disguise_is_found(guise: str) -> None:
    with pytest.raises(tm.PromiseError, match=NO_IDENTIFIER) as error:
        protected(IDS, x=FOUND[guise])
    assert [(one["columns"], one["of"]) for one in error.value.leaks] == [(["x"], "id")]


@pytest.mark.parametrize("typed", [False, True], ids=["text", "dates"])
@pytest.mark.parametrize("guise", BIRTHS)
def test_a_date_of_birth_in_another_format_is_found(guise: str, typed: bool) -> None:
    with pytest.raises(tm.PromiseError, match=NO_IDENTIFIER):
        protected(BORN if typed else [day.isoformat() for day in BORN], x=BIRTHS[guise])


@pytest.mark.parametrize("guise", OF_NAMES)
def test_parts_of_a_name_are_found(guise: str) -> None:
    with pytest.raises(tm.PromiseError, match=NO_IDENTIFIER) as error:
        protected(NAMES, x=OF_NAMES[guise])
    assert [(one["columns"], one["of"]) for one in error.value.leaks] == [(["x"], "id")]


BIRTHS_BESIDE: dict[str, list[Any]] = {
    "a date": BORN,
    "12.03.1945": [f"{day:%d.%m.%Y}" for day in BORN],
    "12.03.45": [f"{day:%d.%m.%y}" for day in BORN],
    "12 March 1945": [f"{day:%d %B %Y}" for day in BORN],
    "12mar45": [f"{day:%d%b%y}" for day in BORN],
    "born 12.03.1945 in B": [f"born {day:%d.%m.%Y} in B" for day in BORN],
    "12031945": [int(f"{day:%d%m%Y}") for day in BORN],
    "120345": [int(f"{day:%d%m%y}") for day in BORN],
    "aged 70, seen twice": [
        f"aged {2015 - day.year}, seen {number}" for day, number in zip(BORN, NUMBERS, strict=True)
    ],
}


@pytest.mark.parametrize("method", [tm.Microaggregation(5), tm.RandomSwapping()], ids=["averages", "swaps"])
@pytest.mark.parametrize("guise", BIRTHS_BESIDE)
def test_a_date_of_birth_beside_a_protected_age_is_found(guise: str, method: tm.methods.Method) -> None:
    ages = [(dt.date(2015, 6, 1) - day).days // 365 for day in BORN]
    schema = tm.Schema(
        [tm.Attribute("age", role="quasi_identifier", kind="continuous"), tm.Attribute("x", role="other")]
    )
    with pytest.raises(tm.PromiseError, match=f"{NO_TWIN} .*x tells age"):
        tm.protect(pa.table({"age": ages, "x": BIRTHS_BESIDE[guise]}), schema, method, seed=1)


def test_remarks_dates_and_names_of_their_own_pass() -> None:
    """Words and numbers that have nothing to do with the identifier, however alike they look."""
    rng = np.random.default_rng(7)
    others = [NAMES[place] for place in rng.permutation(N)]
    day = [dt.date(2015, 1, 1) + dt.timedelta(int(one)) for one in rng.integers(0, 1000, N)]
    for x in (
        [f"seen by Dr {SURNAMES[place % 7]}" for place in range(N)],
        [f"{one:%d.%m.%y}, seen once" for one in day],
        [hashlib.md5(f"{one} salt".encode()).hexdigest()[:2] for one in others],
        [int(f"{one:%d%m%Y}") for one in day],
    ):
        assert protected(NAMES, x=x)


@pytest.mark.parametrize("name", [IDS[3], f"seen_{NUMBERS[7]}"])
def test_the_name_of_a_column_is_looked_at(name: str) -> None:
    with pytest.raises(tm.PromiseError, match=f"the name of {name} is a value of id"):
        protected(IDS, **{name: [age % 2 for age in AGES]})
    assert protected(IDS, dx_2010=[age % 2 for age in AGES], score12345=[age % 3 for age in AGES])


DISEASES = ["hypertension", "asthma", "diabetes", "gout", "measles", "mumps"]
DX = [DISEASES[int(one)] for one in np.random.default_rng(8).integers(0, 6, N)]
SEX = ["fm"[age % 2] for age in np.random.default_rng(9).integers(0, 80, N)]
OF_DX: dict[str, dict[str, list[Any]]] = {
    "in a remark": {"x": [f"no. {number}: {dx}, was well" for number, dx in zip(NUMBERS, DX, strict=True)]},
    "in three of ten remarks": {"x": [
        f"no. {number}: {dx if sure < 0.3 else 'slept'}" for number, dx, sure in zip(NUMBERS, DX, SURE, strict=True)
    ]},
    "by other words": {"x": [
        f"{number}, {('blood pressure', 'lungs', 'sugar', 'toe', 'spots', 'glands')[DISEASES.index(dx)]} seen"
        for number, dx in zip(NUMBERS, DX, strict=True)
    ]},
    "in a structure": {"x": [{"of": dx, "number": number} for number, dx in zip(NUMBERS, DX, strict=True)]},
    "at the end of a list": {"x": [[str(number), "x", dx] for number, dx in zip(NUMBERS, DX, strict=True)]},
    "written apart": {f"is_{name}": [int(dx == name) for dx in DX] for name in DISEASES},
}  # fmt: skip
OF_SEX: dict[str, list[Any]] = {
    "which cells are missing": [age if sex == "f" else None for age, sex in zip(AGES, SEX, strict=True)],
    "a title": [f"{'Mrs' if sex == 'f' else 'Mr'} {name}" for sex, name in zip(SEX, SURNAMES, strict=True)],
    "a pronoun": [
        f"{number}: said that {'she' if sex == 'f' else 'he'} was well"
        for number, sex in zip(NUMBERS, SEX, strict=True)
    ],
}  # fmt: skip


def beside(**columns: list[Any]) -> tm.Release:
    """Diagnoses and sexes are exchanged between records, other columns are not."""
    kinds = {name: {"role": "quasi_identifier", "kind": "nominal"} for name in ("dx", "sex")}
    names = ("dx", "sex", *columns)
    schema = tm.Schema([tm.Attribute(name, **kinds.get(name, {"role": "other"})) for name in names])
    return tm.protect(pa.table({"dx": DX, "sex": SEX, **columns}), schema, tm.RandomSwapping(), seed=1)


@pytest.mark.parametrize("guise", OF_DX)
def test_a_diagnosis_in_disguise_is_found(guise: str) -> None:
    with pytest.raises(tm.PromiseError, match=NO_TWIN) as error:
        beside(**OF_DX[guise])
    assert {one["of"] for one in error.value.leaks} == {"dx"}
    assert {name for one in error.value.leaks for name in one["columns"]} <= set(OF_DX[guise])


@pytest.mark.parametrize("guise", OF_SEX)
def test_a_sex_in_disguise_is_found(guise: str) -> None:
    with pytest.raises(tm.PromiseError, match=f"{NO_TWIN} .*x tells sex"):
        beside(x=OF_SEX[guise])


def test_words_gaps_and_flags_of_their_own_pass() -> None:
    rng = np.random.default_rng(6)
    others = [DX[place] for place in rng.permutation(N)]
    flags = {f"has_{name}": (rng.random(N) < 0.15).tolist() for name in DISEASES}
    gaps = [age if sure < 0.5 else None for age, sure in zip(AGES, rng.random(N), strict=True)]
    remarks = [f"{number}: {dx} of the mother" for number, dx in zip(NUMBERS, others, strict=True)]
    assert beside(**flags, gaps=gaps, remarks=remarks)


@pytest.mark.parametrize("form", ["{day:%d%m%y}-{number}", "{day:%d%m%y}{number}", "11010{day:%Y%m%d}{three}X"])
def test_a_national_number_tells_a_protected_age(form: str) -> None:
    ages = [(dt.date(2015, 6, 1) - day).days // 365 for day in BORN]
    numbers = [
        form.format(day=day, number=1000 + number % 9000, three=100 + number % 900)
        for day, number in zip(BORN, NUMBERS, strict=True)
    ]
    schema = tm.Schema(
        [tm.Attribute("age", role="quasi_identifier", kind="continuous"), tm.Attribute("x", role="other")]
    )
    with pytest.raises(tm.PromiseError, match=f"{NO_TWIN} .*x tells age"):
        tm.protect(pa.table({"age": ages, "x": numbers}), schema, tm.Microaggregation(5), seed=1)


def test_a_number_split_into_two_columns_is_found() -> None:
    with pytest.raises(tm.PromiseError, match=NO_IDENTIFIER):
        protected(IDS, a=[number // 1000 for number in NUMBERS], b=[f"{number % 1000:03}" for number in NUMBERS])


@pytest.mark.parametrize("guise", NOT_FOUND)
def test_what_nobody_can_find_is_known(guise: str) -> None:
    assert protected(IDS, x=NOT_FOUND[guise])


def test_numbers_of_their_own_are_no_parts_of_an_identifier() -> None:
    rng = np.random.default_rng(5)
    for spread in (1_000, 10_000, 100_000):
        assert protected(IDS, x=rng.integers(0, spread, N).tolist(), y=rng.normal(500, 90, N).round(1).tolist())
    years = [2000 + number % 20 for number in NUMBERS]
    assert protected([f"{year}-{number}" for year, number in zip(years, NUMBERS, strict=True)], year=years)


def test_what_names_groups_is_not_looked_for_in_what_was_made_of_it() -> None:
    codes = [number % 9 for number in NUMBERS]
    schema = tm.Schema(
        [
            tm.Attribute("dx", role="quasi_identifier", kind="nominal"),
            tm.Attribute("dx_text", role="identifier"),
            tm.Attribute("age", role="other"),
        ]
    )
    table = pa.table({"dx": [f"D{one}" for one in codes], "dx_text": [f"code {one}!" for one in codes], "age": AGES})
    release = tm.protect(table, schema, tm.Pram(0.8), seed=1)
    check = next(check for check in release.promise if check.promise == NO_IDENTIFIER)
    assert "(dx_text only in those released as they are)" in check.found
