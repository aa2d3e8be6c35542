"""Identifiers in disguise, as an intruder would look for them, or somebody would hide them without meaning to."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.release.leaks import NO_IDENTIFIER

N = 400
RNG = np.random.default_rng(3)
NUMBERS = RNG.choice(np.arange(10_000, 99_999), N, replace=False).tolist()
IDS = [f"P-{number}" for number in NUMBERS]
BORN = [dt.date(1930, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 25_000, N)]
HASHES = [hashlib.sha256(one.encode()).hexdigest() for one in IDS]
SURE = RNG.random(N)
AGES = RNG.integers(20, 80, N).tolist()

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
}
BIRTHS: dict[str, list[Any]] = {
    "12.03.1945": [f"{day:%d.%m.%Y}" for day in BORN],
    "12 March 1945": [f"{day:%d %B %Y}" for day in BORN],
    "03/12/45": [f"{day:%m/%d/%y}" for day in BORN],
    "19450312": [int(f"{day:%Y%m%d}") for day in BORN],
    "12031945": [int(f"{day:%d%m%Y}") for day in BORN],
    "12-03": [f"{day:%d-%m}" for day in BORN],
    "days since 1900": [(day - dt.date(1899, 12, 30)).days for day in BORN],
    "age in days": [(dt.date(2020, 1, 1) - day).days for day in BORN],
}
NOT_FOUND: dict[str, list[Any]] = {  # as docs/leaks.md says
    "encrypted to other numbers": [int(one) for one in RNG.permutation(900_000)[:N]],
    "two digits": [number % 100 for number in NUMBERS],
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
