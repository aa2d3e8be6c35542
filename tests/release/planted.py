"""Random tables with a leak that is known, and clean ones: what the leak check must find, and what it must not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm

Rng = np.random.Generator
WORDS = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "hazel", "ivory", "jade", "karst", "larch"]


@dataclass(frozen=True)
class Case:
    """A table with what is planted in it: the columns that let something out, and what they let out."""

    table: pa.Table
    schema: tm.Schema
    method: tm.methods.Method
    guilty: tuple[str, ...] = ()
    of: str = ""
    kind: str = "clean"


# --------------------------------------------------------------------------------------- columns


def categories(rng: Rng, n: int, least: int = 10) -> np.ndarray[Any, Any]:
    """Codes, equally common or not; at least so many different ones."""
    size = int(rng.integers(least, max(n // 8, least) + 1))
    weights = np.ones(size) if rng.random() < 0.5 else 1 / np.arange(1, size + 1) ** 0.7
    codes = rng.choice(size, n, p=weights / weights.sum())
    codes[: min(size, n)] = np.arange(min(size, n))
    return rng.permutation(codes)


def numbers(rng: Rng, n: int) -> np.ndarray[Any, Any]:
    """Ages, money, lengths of stay, measurements."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(18, 95, n).astype(float)
    if kind == 1:
        return np.round(rng.lognormal(10, 0.8, n), 2)
    return rng.integers(0, 5000, n).astype(float) if kind == 2 else np.round(rng.normal(75, 12, n), 1)


def independent(rng: Rng, n: int) -> Any:
    """A column that has nothing to do with any other."""
    kind = int(rng.integers(10))
    if kind == 0:
        return rng.choice(["f", "m"], n).tolist()
    if kind == 7:
        return [
            one if there else None for one, there in zip(numbers(rng, n).tolist(), rng.random(n) < 0.4, strict=True)
        ]
    if kind == 8:
        return [f"{number}: {' '.join(rng.choice(WORDS, 2))}" for number in rng.integers(0, 6, n)]  # some repeat
    if kind == 9:
        return (rng.random(n) < rng.uniform(0.02, 0.5)).tolist()
    if kind == 1:
        return [f"c{code}" for code in categories(rng, n)]
    if kind == 2:
        return numbers(rng, n).tolist()
    if kind == 3:
        return rng.integers(0, 10**6, n).tolist()  # hardly repeats
    if kind == 4:
        return rng.normal(0, 1, n).tolist()
    if kind == 5:
        return [dt.date(2000, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 6000, n)]
    words = rng.integers(0, len(WORDS), (n, 2))
    return [f"{WORDS[a]} {WORDS[b]}" for a, b in words]


def identifier(rng: Rng, n: int) -> tuple[list[Any], bool]:
    """An identifier, and whether it has letters."""
    kind = int(rng.integers(5))
    if kind == 0:
        return list(range(10_000, 10_000 + n)), False
    if kind == 1:
        return rng.choice(10**7, n, replace=False).tolist(), False
    if kind == 2:
        return [f"P-{code}" for code in rng.choice(90_000, n, replace=False) + 10_000], True
    if kind == 3:  # people with several rows
        return [f"P-{code}" for code in rng.integers(10_000, 10_000 + n // 2, n)], True
    return [
        f"{WORDS[a]} {WORDS[b]}son{code}" for a, b, code in zip(*rng.integers(0, 12, (2, n)), range(n), strict=True)
    ], True


def spoiled(rng: Rng, values: list[Any], others: list[Any] | None = None, most: float = 0.1) -> list[Any]:
    """With some values replaced by others of the column, or empty: at most one of ten."""
    share = rng.uniform(0, most)
    bad = rng.random(len(values)) < share
    empty = rng.random(len(values)) < 0.5
    draw = rng.integers(0, len(values), len(values))
    pool = others or values
    return [
        (None if none else pool[place]) if wrong else value
        for value, wrong, none, place in zip(values, bad, empty, draw, strict=True)
    ]


# --------------------------------------------------------------------------------------- leaks


def _twin(rng: Rng, n: int, code: np.ndarray[Any, Any]) -> list[Any]:
    texts = rng.permutation(int(code.max()) + 1)
    return spoiled(rng, [f"about {texts[one]}" for one in code])


def _finer(rng: Rng, n: int, code: np.ndarray[Any, Any]) -> list[Any]:
    """An office that lies in one district: up to three for each code."""
    return spoiled(rng, [f"office {3 * one + part}" for one, part in zip(code, rng.integers(0, 3, n), strict=True)])


def _in_remarks(rng: Rng, n: int, code: np.ndarray[Any, Any]) -> list[Any]:
    """Among other words, in texts of which each stands in one record only."""
    free, other = rng.integers(10**5, 10**6, n), rng.integers(0, len(WORDS), n)
    return spoiled(
        rng,
        [f"{number}: {WORDS[word]}, about {one}." for number, word, one in zip(free, other, _named(code), strict=True)],
    )


def _in_lists(rng: Rng, n: int, code: np.ndarray[Any, Any]) -> list[Any]:
    free, first = rng.integers(10**5, 10**6, n), rng.random(n) < 0.5
    pairs = [([one, f"{number}"], way) for one, number, way in zip(_named(code), free, first, strict=True)]
    return spoiled(rng, [pair if way else pair[::-1] for pair, way in pairs])


def _named(code: np.ndarray[Any, Any]) -> list[str]:
    return [f"sign{one}" for one in code]


def _unit(rng: Rng, n: int, number: np.ndarray[Any, Any]) -> list[Any]:
    return spoiled(rng, (number * rng.choice([0.4536, 1.1, 12, 100]) + rng.choice([0, 32, -7])).tolist())


def _binned(rng: Rng, n: int, number: np.ndarray[Any, Any]) -> list[Any]:
    bins = int(rng.integers(10, 25))
    edges = np.unique(np.quantile(number, np.linspace(0, 1, bins + 1)[1:-1]))
    return spoiled(rng, [f"{place:02}" for place in np.searchsorted(edges, number, side="right")])


OF_CODES: dict[str, Callable[..., list[Any]]] = {
    "a twin": _twin,
    "a finer twin": _finer,
    "in remarks": _in_remarks,
    "in lists": _in_lists,
}
OF_NUMBERS: dict[str, Callable[..., list[Any]]] = {"another unit": _unit, "binned": _binned}
OF_IDENTIFIERS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "a copy": lambda ids: list(ids),
    "in a text": lambda ids: [f"Patient {one} came on Monday" for one in ids],
    "in other letters": lambda ids: [f"  {one} ".upper().replace("-", "") for one in ids],
    "with zeros": lambda ids: [f"000{_digits(one)}" for one in ids],
    "with an affix": lambda ids: [f"ID{_digits(one)}/a" for one in ids],
    "a list": lambda ids: [["x", str(one)] for one in ids],
    "a structure": lambda ids: [{"ref": {"of": str(one)}, "n": 1} for one in ids],
    "+ c": lambda ids: [_digits(one) + 0.5 for one in ids],
    "x c": lambda ids: [_digits(one) / 100 for one in ids],
}


def _digits(one: Any) -> int:
    return int("".join(letter for letter in str(one) if letter.isdigit()))


# --------------------------------------------------------------------------------------- tables


def clean(number: int) -> Case:
    """A table in which no column tells another one, or only below the threshold."""
    return _case(np.random.default_rng([number, 1]), None)


def with_leak(number: int) -> Case:
    """A table with a leak of a kind that follows from its number."""
    kinds = [*OF_CODES, *OF_NUMBERS, *OF_IDENTIFIERS, "a pair"]
    return _case(np.random.default_rng([number, 2]), kinds[number % len(kinds)])


def _case(rng: Rng, kind: str | None) -> Case:
    n = int(rng.integers(200, 600))
    code, number = categories(rng, n), numbers(rng, n)
    ids, _ = identifier(rng, n)
    columns: dict[str, Any] = {"id": ids, "code": [f"{one:03}" for one in code], "number": number.tolist()}
    columns |= {f"free{place}": independent(rng, n) for place in range(int(rng.integers(1, 5)))}
    below = rng.uniform(0, 0.4)
    columns["half"] = [f"h{one if copied else other}" for one, other, copied in
                       zip(code, rng.permutation(code), rng.random(n) < below, strict=True)]  # fmt: skip
    scores = (np.argsort(np.argsort(number + 1e-9 * rng.random(n))) + 0.5) / n
    r = rng.uniform(0, 0.8)
    from scipy.stats import norm

    columns["linked"] = np.round(r * norm.ppf(scores) + np.sqrt(1 - r * r) * rng.normal(0, 1, n), 3).tolist()
    guilty: tuple[str, ...] = ()
    of = ""
    if kind in OF_CODES:
        columns["planted"], guilty, of = OF_CODES[kind](rng, n, code), ("planted",), "code"
    elif kind in OF_NUMBERS:
        columns["planted"], guilty, of = OF_NUMBERS[kind](rng, n, number), ("planted",), "number"
    elif kind in OF_IDENTIFIERS:
        columns["planted"], guilty, of = spoiled(rng, OF_IDENTIFIERS[kind](ids)), ("planted",), "id"
    elif kind == "a pair":
        first, second = rng.integers(0, 5, n), rng.integers(0, 6, n)
        told = rng.permutation(30) % 12
        columns["code"] = [f"{one:03}" for one in told[6 * first + second]]
        columns.pop("half")
        columns["planted1"] = spoiled(rng, [f"a{one}" for one in first], most=0.04)
        columns["planted2"] = spoiled(rng, [f"b{one}" for one in second], most=0.04)
        guilty, of = ("planted1", "planted2"), "code"
    schema = tm.Schema(
        [
            tm.Attribute("id", role="identifier"),
            tm.Attribute("code", role="quasi_identifier", kind="nominal"),
            tm.Attribute("number", role="quasi_identifier", kind="continuous"),
            *(tm.Attribute(name, role="other") for name in list(columns)[3:]),
        ]
    )
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    methods = [tm.RandomSwapping(), tm.Microaggregation(5), tm.Microaggregation(3, attributes=["code", "number"])]
    return Case(table, schema, methods[int(rng.integers(len(methods)))], guilty, of, kind or "clean")
