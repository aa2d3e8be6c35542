"""What the way in which values are written tells, and what several columns tell only together."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from taxomask.release.leaks import NO_IDENTIFIER, NO_TWIN

N = 400
RNG = np.random.default_rng(3)
AGES = RNG.integers(20, 84, N).tolist()
SEX = RNG.integers(0, 2, N).tolist()
DX = RNG.integers(0, 8, N).tolist()
FREE = RNG.integers(10**5, 10**6, N).tolist()
FLOATS = RNG.normal(75, 12, N).tolist()
TIMES = [dt.datetime(2015, 1, 1) + dt.timedelta(seconds=int(one)) for one in RNG.integers(0, 3 * 10**7, N)]
TEXTS = [f"{' '.join(some)} {free}" for some, free in zip(RNG.choice(["amber", "birch", "cedar"], (N, 4)), FREE)]  # noqa: B905
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SURE = RNG.random(N)
NAN = float("nan")
SCHEMA = [
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    tm.Attribute("dx", role="quasi_identifier", kind="nominal"),
]


def drawn(size: int) -> str:
    return "".join(LETTERS[place] for place in RNG.integers(0, 26, size))


def by_sex(female: Any, male: Any) -> list[Any]:
    """One of two for each record, a function of the record or a value."""
    both = [(female, male)[sex] for sex in SEX]
    return [one(place) if callable(one) else one for place, one in enumerate(both)]


def some(values: list[Any], others: list[Any], share: float = 0.1) -> list[Any]:
    """One of ten as they are, else others."""
    return [one if sure < share else other for one, other, sure in zip(values, others, SURE, strict=True)]


OF_SEX: dict[str, Any] = {
    "no number or nothing": pa.array(some(FLOATS, by_sex(NAN, None)), pa.float64()),
    "nothing but these": pa.array(by_sex(NAN, None), pa.float64()),
    "an empty list or nothing": some([["a"]] * N, by_sex([], None)),
    "an empty text or nothing": some(TEXTS, by_sex("", None)),
    "a space at the end": by_sex(lambda n: TEXTS[n], lambda n: f"{TEXTS[n]} "),
    "a double space": by_sex(lambda n: TEXTS[n], lambda n: TEXTS[n].replace(" ", "  ", 1)),
    "a capital": by_sex(lambda n: TEXTS[n], lambda n: TEXTS[n].capitalize()),
    "a full stop": by_sex(lambda n: TEXTS[n], lambda n: f"{TEXTS[n]}."),
    "a character of no width": by_sex(lambda n: TEXTS[n], lambda n: f"{TEXTS[n]}\u200b"),
    "a space of another kind": by_sex(lambda n: TEXTS[n], lambda n: TEXTS[n].replace(" ", "\u00a0", 1)),
    "a letter that looks alike": by_sex(lambda n: f"a {TEXTS[n]}", lambda n: f"\u0430 {TEXTS[n]}"),
    "decimals of texts": by_sex(lambda n: f"{FLOATS[n]:.1f}", lambda n: f"{FLOATS[n]:.2f}"),
    "decimals of numbers": by_sex(lambda n: round(FLOATS[n], 1), lambda n: round(FLOATS[n], 2)),
    "a leading zero": by_sex(lambda n: f"{FREE[n]}", lambda n: f"0{FREE[n]}"),
    "the last letter": by_sex(lambda n: f"{drawn(8)}f", lambda n: f"{drawn(8)}m"),
    "the zone of a time": by_sex(lambda n: f"{TIMES[n]:%FT%T}+00:00", lambda n: f"{TIMES[n]:%FT%T}+01:00"),
    "which field is there": by_sex(lambda n: {"a": FREE[n], "b": None}, lambda n: {"a": None, "b": FREE[n]}),
}
OF_DX: dict[str, list[Any]] = {
    "the length of a text": [drawn(6 + dx) for dx in DX],
    "the number of words": [" ".join(map(str, RNG.integers(0, 10**6, 1 + dx))) for dx in DX],
    "the first letter": [LETTERS[dx] + drawn(8) for dx in DX],
    "minutes": [time.replace(minute=dx).isoformat() for time, dx in zip(TIMES, DX, strict=True)],
    "seconds": [f"{time.replace(second=dx):%d.%m.%Y %H:%M:%S}" for time, dx in zip(TIMES, DX, strict=True)],
}
OF_AGE: dict[str, list[Any]] = {
    "the length of a list": [RNG.integers(0, 10**5, age).tolist() for age in AGES],
    "seconds": [time.replace(second=age % 60, minute=age // 60) for time, age in zip(TIMES, AGES, strict=True)],
    "microseconds": [time.replace(microsecond=age) for time, age in zip(TIMES, AGES, strict=True)],
    "the seconds of a time of day": [
        dt.time(int(hour), int(minute), age % 60)
        for hour, minute, age in zip(RNG.integers(0, 24, N), RNG.integers(0, 60, N), AGES, strict=True)
    ],
    "the last decimals": [round(round(one, 1) + age / 10_000, 4) for one, age in zip(FLOATS, AGES, strict=True)],
}
TOGETHER: dict[str, dict[str, list[Any]]] = {
    "dx": {f"bit{place}": [bool(dx >> place & 1) for dx in DX] for place in range(3)},
    "age": {f"digit{place}": [age // 3**place % 3 for age in AGES] for place in range(4)},
}


def table(**columns: Any) -> tuple[pa.Table, tm.Schema]:
    protected = {"age": AGES, "sex": ["fm"[sex] for sex in SEX], "dx": [f"D{dx}" for dx in DX]}
    schema = tm.Schema([*SCHEMA, *(tm.Attribute(name, role="other") for name in columns)])
    return pa.table({**protected, **columns}), schema


def leaks_of(**columns: Any) -> set[tuple[tuple[str, ...], str]]:
    """What is told by which columns, of a table whose ages, sexes and diagnoses were exchanged between records."""
    with pytest.raises(tm.PromiseError, match=NO_TWIN) as error:
        tm.protect(*table(**columns), tm.RandomSwapping(), seed=1)
    return {(tuple(one["columns"]), one["of"]) for one in error.value.leaks}


@pytest.mark.parametrize(
    ("of", "values"),
    [
        pytest.param(of, values, id=f"{of}: {guise}")
        for of, guises in (("sex", OF_SEX), ("dx", OF_DX), ("age", OF_AGE))
        for guise, values in guises.items()
    ],
)
def test_how_values_are_written_is_looked_at(of: str, values: Any) -> None:
    assert leaks_of(x=values) == {(("x",), of)}


@pytest.mark.parametrize("of", TOGETHER)
def test_columns_that_tell_only_together_are_found(of: str) -> None:
    found = leaks_of(**TOGETHER[of])
    assert {one for _, one in found} == {of}
    assert {name for names, _ in found for name in names} <= set(TOGETHER[of])


def test_what_nothing_tells_before_the_last_column_is_there_is_not_found() -> None:
    """As docs/leaks.md says: three numbers that add up to the diagnosis."""
    a, b = RNG.integers(0, 8, (2, N))
    columns = {"a": a.tolist(), "b": b.tolist(), "c": ((np.array(DX) - a - b) % 8).tolist()}
    assert tm.protect(*table(**columns), tm.RandomSwapping(), seed=1)


def test_ways_of_writing_that_tell_nothing_pass() -> None:
    other = [values[place] for values in [list(range(N))] for place in RNG.permutation(N)]
    columns = {
        "ends": [TEXTS[n] + " " * SEX[m] for n, m in enumerate(other)],
        "decimals": [round(FLOATS[n], 1 + SEX[m]) for n, m in enumerate(other)],
        "gaps": pa.array([None if SEX[m] else NAN for m in other], pa.float64()),
        "times": [TIMES[n].replace(second=AGES[m] % 60) for n, m in enumerate(other)],
        "lengths": [drawn(6 + DX[m]) for m in other],
        **{f"flag{place}": [bool(DX[m] >> place & 1) for m in other] for place in range(3)},
    }
    assert tm.protect(*table(**columns), tm.RandomSwapping(), seed=1)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_an_empty_text_tells_where_a_file_keeps_it(tmp_path: Path, suffix: str) -> None:
    """In a CSV file it is no value, and so is nothing."""
    rows, schema = table(x=OF_SEX["an empty text or nothing"])
    pq.write_table(rows, tmp_path / "in.parquet")
    lines = [f"  - {{name: {one.name}, role: {one.role.value}{f', kind: {one.kind.value}' if one.kind else ''}}}"
             for one in schema.values()]  # fmt: skip
    plan = tmp_path / "plan.yaml"
    plan.write_text("\n".join(["data: in.parquet", "attributes:", *lines, "method: {name: random_swapping}", "seed: 3",
                               "practice: true", ""]))  # fmt: skip
    target = str(tmp_path / f"out.{suffix}")
    if suffix == "csv":
        assert tm.run(plan, output=target)
    else:
        with pytest.raises(tm.PromiseError, match="x tells sex"):
            tm.run(plan, output=target)


# --------------------------------------------------------------------------------------- identifiers

NUMBERS = RNG.choice(np.arange(100_000, 999_999), N, replace=False).tolist()
FIRST = ["Anna", "Berta", "Carla", "Dora", "Emil", "Franz", "Gerd", "Ines", "Jan", "Klaus"]
NAMES = [
    f"{FIRST[int(first)]} {drawn(7).capitalize()}{'-' if sure < 0.1 else ''}{drawn(3)}"
    for first, sure in zip(RNG.integers(0, 10, N), SURE, strict=True)
]
LOOKS_ALIKE = str.maketrans("aeopcxAEOPCX", "аеорсхАЕОРСХ")
SPLIT: dict[str, dict[str, list[Any]]] = {
    "two digits each": {name: [one // 100**place % 100 for one in NUMBERS] for place, name in enumerate("abc")},
    "two digits each, as text": {name: [f"{one:06}"[2 * place : 2 * place + 2] for one in NUMBERS]
                                 for place, name in enumerate("abc")},
    "one digit each": {name: [one // 10**place % 10 for one in NUMBERS] for place, name in enumerate("abcdef")},
    "every other digit": {"a": [str(one)[::2] for one in NUMBERS], "b": [str(one)[1::2] for one in NUMBERS]},
    "one of them": {"a": [str(one)[::2] for one in NUMBERS]},
}  # fmt: skip
OF_NAMES: dict[str, list[Any]] = {
    "initials": [f"{one[0]}.{one.split()[1][0]}." for one in NAMES],
    "initials, the last first": [f"{one.split()[1][0]}{one[0]}" for one in NAMES],
    "first names": [one.split()[0].upper() for one in NAMES],
    "letters that look alike": some([f"seen {one.translate(LOOKS_ALIKE)}" for one in NAMES], ["no"] * N, 0.3),
    "characters of no width": some([f"seen {one[:7]}\u200b{one[7:]}" for one in NAMES], ["no"] * N, 0.3),
}


def with_identifier(values: list[Any], **columns: Any) -> tm.Release:
    attributes = [SCHEMA[0], tm.Attribute("id", role="identifier")]
    schema = tm.Schema([*attributes, *(tm.Attribute(name, role="other") for name in columns)])
    return tm.protect(pa.table({"age": AGES, "id": values, **columns}), schema, tm.Microaggregation(5), seed=1)


@pytest.mark.parametrize("guise", SPLIT)
@pytest.mark.parametrize("letters", [False, True], ids=["numbers", "texts"])
def test_an_identifier_that_was_split_among_columns_is_found(guise: str, letters: bool) -> None:
    with pytest.raises(tm.PromiseError, match=f"{NO_IDENTIFIER} .*digits of id") as error:
        with_identifier([f"P-{one}" for one in NUMBERS] if letters else NUMBERS, **SPLIT[guise])
    assert {name for one in error.value.leaks for name in one["columns"]} == set(SPLIT[guise])


@pytest.mark.parametrize("guise", OF_NAMES)
def test_parts_of_names_that_others_share_are_found(guise: str) -> None:
    with pytest.raises(tm.PromiseError, match=NO_IDENTIFIER) as error:
        with_identifier(NAMES, x=OF_NAMES[guise])
    assert [(one["columns"], one["of"]) for one in error.value.leaks] == [(["x"], "id")]


def test_digits_and_names_of_their_own_are_no_parts() -> None:
    other = RNG.permutation(N)
    columns = {f"d{place}": [NUMBERS[m] // 10**place % 10 for m in other] for place in range(3)}
    sites = [["VIE", "BER", "ROM"][dx % 3] for dx in DX]
    assert with_identifier(NUMBERS, **columns)
    assert with_identifier([f"{site}-{one}" for site, one in zip(sites, NUMBERS, strict=True)], site=sites)
    assert with_identifier(NAMES, doctor=[NAMES[m].split()[0] for m in other], two=[drawn(2) for _ in NAMES])
