"""MDAV-generic against its text, written out naively, on every path; known answers on the CASC files."""

from __future__ import annotations

import csv
import sys
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive_centres import convex_median, median
from taxomask.errors import DataError, PlanError
from taxomask.microdata.people import class_owners
from taxomask.partition import mdav
from taxomask.partition.index import room_for_query
from taxomask.partition.points import Points
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm, Term

CASC = Path(__file__).parent.parent / "data" / "casc"
PATHS = ("plain", "scan", "index", None)

# ----------------------------------------------------------------------------------------------- the text of the paper


def naive(space: RecordDistance, k: int, ordinal: str = "median") -> list[int]:
    """Algorithm 5.1, with no thought of speed: every average and every distance computed afresh."""
    left, groups = list(range(space.n)), [-1] * space.n
    number = 0

    def cluster(around: int) -> None:
        nonlocal number
        away = _distances(space, [term.coordinates[around] for term in space.terms])
        left.remove(around)
        near = sorted(left, key=lambda i: (away[i], i))[: k - 1]
        for i in [around, *near]:
            groups[i] = number
        for i in near:
            left.remove(i)
        number += 1

    def farthest(point: list[Any], but: int = -1) -> int:
        away = _distances(space, point)
        return min((i for i in left if i != but), key=lambda i: (-away[i], i))

    while len(left) >= 3 * k:
        r = farthest([_average(term, left, space.n, ordinal) for term in space.terms])
        s = farthest([term.coordinates[r] for term in space.terms], but=r)
        left.remove(s)  # x_s never joins the cluster of x_r
        cluster(r)
        left.append(s)
        cluster(s)
    if len(left) >= 2 * k:
        cluster(farthest([_average(term, left, space.n, ordinal) for term in space.terms]))
    for i in left:
        groups[i] = number
    return groups


def _distances(space: RecordDistance, point: list[Any]) -> NDArray[np.float64]:
    """δ² of a point and every record: numbers first, then codes, as ``records/_kernels.py`` adds them."""
    pairs = sorted(zip(space.terms, point, strict=True), key=lambda pair: not isinstance(pair[0], NumberTerm))
    total = np.zeros(space.n)
    for term, value in pairs:
        total += term.between(value, term.coordinates)
    return total


def _average(term: Term, left: list[int], n: int, ordinal: str) -> Any:
    values = term.coordinates[left]
    if isinstance(term, NumberTerm):
        present = values[~np.isnan(values)]
        if 2 * len(present) < len(values) or not len(present):
            return np.nan
        if term.levels is None or ordinal == "mean":
            largest = np.abs(term.coordinates[~np.isnan(term.coordinates)]).max()
            one = 2.0 ** min(62 - n.bit_length() - int(np.frexp(largest)[1]), 60)
            whole = sum(int(np.rint(value * one)) for value in present)
            return np.float64(whole) / np.float64(len(present)) / one
        counts = np.bincount([level for level in term.levels[left] if level >= 0], minlength=term.categories)
        level = median(counts) if ordinal == "median" else convex_median(counts)
        return (level - term.origin) * term.scale
    missing = len(term.table) - 1 if isinstance(term, TableTerm) else term.categories
    present = values[values != missing]
    if 2 * len(present) < len(values) or not len(present):
        return missing
    if isinstance(term, EqualityTerm):
        return int(np.argmax(np.bincount(present)))
    table = term.table[:-1, :-1]
    sums = {code: fsum(table[code, present]) for code in sorted(set(present.tolist()))}
    return next(
        code for code, total in sums.items() if total <= min(sums.values()) + 1e-12 * len(present) * table.max()
    )


def naive_people(space: RecordDistance, k: int, people: list[int], ordinal: str = "median") -> list[int]:
    """The same where people count, who may have several records, as the docstring of `mdav` says it."""
    left, groups = list(range(space.n)), [-1] * space.n
    number = 0

    def cluster(around: int) -> None:
        nonlocal number
        away = _distances(space, [term.coordinates[around] for term in space.terms])
        left.remove(around)
        groups[around], have = number, {people[around]}
        while len(have) < k:
            nearest = min(left, key=lambda i: (away[i], i))
            left.remove(nearest)
            groups[nearest] = number
            have.add(people[nearest])
        number += 1

    def farthest(point: list[Any], but: int = -1) -> int:
        away = _distances(space, point)
        return min((i for i in left if i != but), key=lambda i: (-away[i], i))

    def here() -> int:
        return len({people[i] for i in left})

    while here() >= 3 * k:
        r = farthest([_average(term, left, space.n, ordinal) for term in space.terms])
        s = farthest([term.coordinates[r] for term in space.terms], but=r)
        left.remove(s)
        cluster(r)
        left.append(s)
        cluster(s)
    while here() >= 2 * k or (here() >= k and len(left) >= 2 * k):
        cluster(farthest([_average(term, left, space.n, ordinal) for term in space.terms]))
    if here() >= k:
        for i in left:
            groups[i] = number
        return groups
    grouped = [i for i in range(space.n) if i not in left]
    for i in left:
        away = _distances(space, [term.coordinates[i] for term in space.terms])
        groups[i] = groups[min(grouped, key=lambda j: (away[j], j))]
    return groups


# ------------------------------------------------------------------------------------------------ small tables


def space_of(*terms: Term) -> RecordDistance:
    space = RecordDistance.__new__(RecordDistance)
    space.names, space.n, space.terms = tuple(term.name for term in terms), len(terms[0].coordinates), terms
    return space


def number(values: Any, scale: float = 1.0) -> NumberTerm:
    values = np.asarray(values, dtype=float)
    present = values[~np.isnan(values)]
    origin = float(present.min()) if len(present) else 0.0
    return NumberTerm("number", (values - origin) * scale, origin, scale)


def ordinal_term(levels: Any, categories: int, scale: float = 1.0) -> NumberTerm:
    levels = np.asarray(levels, dtype=np.int32)
    values = np.where(levels < 0, np.nan, levels)
    origin = float(levels[levels >= 0].min(initial=categories)) if (levels >= 0).any() else 0.0
    return NumberTerm("level", (values - origin) * scale, origin, scale, levels=levels, categories=categories)


def flat(codes: Any, categories: int, weight: float = 1.0) -> EqualityTerm:
    codes = np.asarray(codes, dtype=np.int32)
    return EqualityTerm("flat", np.where(codes < 0, categories, codes).astype(np.int32), weight, categories)


def tree(codes: Any, table: NDArray[np.float64]) -> TableTerm:
    codes, c = np.asarray(codes, dtype=np.int32), len(table)
    wide = np.zeros((c + 1, c + 1))
    wide[:-1, :-1] = table
    wide[-1, :-1] = wide[:-1, -1] = table.max(initial=0.0)
    return TableTerm("tree", np.where(codes < 0, c, codes).astype(np.int32), wide)


@st.composite
def terms(draw: st.DrawFn, n: int) -> Term:
    """An attribute with many ties, perhaps constant, perhaps missing in places or altogether."""
    kind = draw(st.sampled_from(["whole", "whole", "real", "ordinal", "flat", "tree"]))
    spread = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    gone = rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.6, 1.0]))
    scale = draw(st.sampled_from([1.0, 0.3, 2.0**-0.5]))
    codes = np.where(gone, -1, rng.integers(0, spread, n))
    if kind == "whole":
        return number(np.where(gone, np.nan, rng.integers(0, spread, n)), scale)
    if kind == "real":
        return number(np.where(gone, np.nan, rng.lognormal(0, 1, n)), scale)
    if kind == "ordinal":
        return ordinal_term(codes, spread, scale)
    if kind == "flat":
        return flat(codes, spread, scale)
    table = rng.integers(0, 4, (spread, spread)) * scale
    table = np.triu(table, 1)
    return tree(codes, table + table.T)


@st.composite
def cases(draw: st.DrawFn, most: int = 60) -> tuple[RecordDistance, int]:
    k = draw(st.integers(2, 6))
    n = draw(st.integers(k, most))
    parts = draw(st.lists(terms(n), min_size=1, max_size=4))
    return space_of(*parts), k


# ------------------------------------------------------------------------------------------------ the tests


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=300)
@given(case=cases(), ordinal=st.sampled_from(["median", "convex_median", "mean"]))
def test_every_path_gives_the_partition_of_the_text(case: tuple[RecordDistance, int], ordinal: Any, path: Any) -> None:
    space, k = case
    assert mdav(space, k, ordinal=ordinal, path=path).tolist() == naive(space, k, ordinal)


@st.composite
def cases_of_people(draw: st.DrawFn, most: int = 60) -> tuple[RecordDistance, int, NDArray[np.int64]]:
    """People with any number of records each: from one each to a few who have nearly all."""
    space, k = draw(cases(most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    different = draw(st.integers(k, space.n))
    skew = draw(st.sampled_from([0.0, 1.0, 3.0]))
    share = (1.0 + np.arange(different)) ** -skew
    more = rng.choice(different, space.n - different, p=share / share.sum())
    return space, k, rng.permutation(np.concatenate([np.arange(different), more]))


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=200)
@given(case=cases_of_people(), ordinal=st.sampled_from(["median", "convex_median", "mean"]))
def test_people_with_any_number_of_records(
    case: tuple[RecordDistance, int, NDArray[np.int64]], ordinal: Any, path: Any
) -> None:
    space, k, people = case
    found = mdav(space, k, people=people, ordinal=ordinal, path=path)
    assert found.tolist() == naive_people(space, k, people.tolist(), ordinal)
    assert class_owners(found, people).min() >= k


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=10)
@given(case=cases_of_people(most=500))
def test_larger_tables_of_people(case: tuple[RecordDistance, int, NDArray[np.int64]], path: Any) -> None:
    space, k, people = case
    found = mdav(space, k, people=people, path=path)
    assert found.tolist() == naive_people(space, k, people.tolist())


@pytest.mark.parametrize("path", ["scan", "index"])
@settings(max_examples=100)
@given(case=cases())
def test_people_of_one_record_each_are_records(case: tuple[RecordDistance, int], path: Any) -> None:
    """By themselves, and as the kernels that count people see them."""
    space, k = case
    expected = mdav(space, k, path=path).tolist()
    people = np.random.default_rng(k).permutation(space.n)
    assert mdav(space, k, people=people, path=path).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[mdav.__module__], "several", lambda people: people.astype(np.int32))
        assert mdav(space, k, people=people, path=path).tolist() == expected
    assert naive_people(space, k, people.tolist()) == expected


def test_sixty_people_of_five_equal_records() -> None:
    people = np.repeat(np.arange(60), 5)
    found = mdav(space_of(number(20.0 + people)), 5, people=people)
    assert class_owners(found, people).min() == 5
    assert class_owners(found, people).max() < 10


def test_fewer_than_k_people_are_refused() -> None:
    with pytest.raises(DataError, match=r"6 records of 2 people .* too few for a group of k = 3"):
        mdav(space_of(number([1, 2, 3, 4, 5, 6])), 3, people=np.array([7, 7, 7, 9, 9, 9]))


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=15)
@given(case=cases(most=700))
def test_larger_tables(case: tuple[RecordDistance, int], path: Any) -> None:
    space, k = case
    assert mdav(space, k, path=path).tolist() == naive(space, k)


@settings(max_examples=100)
@given(case=cases(most=300))
def test_groups_have_k_records_and_the_last_fewer_than_2k(case: tuple[RecordDistance, int]) -> None:
    space, k = case
    sizes = np.bincount(mdav(space, k))
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_index_and_scan_agree_on_thousands_of_mixed_records(k: int, gone: float) -> None:
    n, rng = 6000, np.random.default_rng(k)
    missing = rng.random((n, 4)) < gone
    table = np.triu(rng.integers(1, 5, (60, 60)), 1) / 4
    space = space_of(
        number(np.where(missing[:, 0], np.nan, rng.integers(0, 90, n)), 1 / 30),
        number(np.where(missing[:, 1], np.nan, rng.lognormal(9, 1, n)), 1e-4),
        ordinal_term(np.where(missing[:, 2], -1, rng.integers(0, 5, n)), 5, 0.7),
        tree(np.where(missing[:, 3], -1, rng.integers(0, 60, n)), table + table.T),
        flat(rng.integers(0, 3, n), 3, 0.5),
    )
    assert (mdav(space, k, path="index") == mdav(space, k, path="scan")).all()


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1.0, 1e19, 1e25, 1e45])
@pytest.mark.parametrize("outlier", [0.0, 1e7])
@pytest.mark.parametrize("numbers", [3, 7])
def test_index_and_scan_agree_where_32_bits_are_too_few(size: float, outlier: float, numbers: int) -> None:
    """The index bounds distances in 32 bits: differences that these cannot hold, or whose squares they cannot."""
    rng = np.random.default_rng(32)
    values = rng.integers(0, 5, (3000, numbers)) ** 2 + rng.integers(0, 50, (3000, numbers)) * 1e-9
    values[::800] += outlier
    space = space_of(*(number(column, size) for column in values.T))
    assert (mdav(space, 3, path="index") == mdav(space, 3, path="scan")).all()


def test_one_attribute_by_hand() -> None:
    # The average is 17.25: 50 is farthest, 0 farthest from it; of 2, 3, 20, 22 it is 11.75 and 22.
    space = space_of(number([0, 1, 2, 3, 20, 22, 50, 40]))
    assert mdav(space, 2).tolist() == [1, 1, 3, 3, 2, 2, 0, 0]


def test_equal_records_are_grouped_in_their_order() -> None:
    assert mdav(space_of(number(np.zeros(7))), 2).tolist() == [0, 1, 0, 1, 2, 2, 2]


def test_too_few_records() -> None:
    with pytest.raises(DataError, match="2 records"):
        mdav(space_of(number([1, 2])), 3)


@pytest.mark.parametrize("k", [1, 0, 2.5, True, "3"])
def test_k_is_checked(k: Any) -> None:
    with pytest.raises(PlanError, match="k must be an integer of at least 2; got"):
        mdav(space_of(number([1, 2, 3])), k)


# ------------------------------------------------------------------------------------------------ real data

KNOWN = {
    "CASCrefmicrodata": (5.6922, 9.0884, 14.156),
    "Tarragona": (16.9326, 22.4619, 33.1929),
    "EIA": (0.4829, 1.6667, 3.8397),
}


def read(name: str) -> NDArray[np.float64]:
    with (CASC / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    columns = [0, *range(5, 15)] if name == "EIA" else range(13)
    return np.array([[float(row[column]) for column in columns] for row in rows])


def standardised(values: NDArray[np.float64]) -> RecordDistance:
    return space_of(*(number(column, 1 / column.std(ddof=1)) for column in values.T))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", KNOWN)
def test_known_loss(name: str, path: Any) -> None:
    values = read(name)
    space = standardised(values)
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    for k, known in zip((3, 5, 10), KNOWN[name], strict=True):
        groups = mdav(space, k, path=path)
        means = np.stack([np.bincount(groups, column) for column in z.T], axis=1) / np.bincount(groups)[:, None]
        assert 100 * np.square(z - means[groups]).sum() / np.square(z).sum() == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("path", PATHS)
def test_an_offset_changes_nothing(path: Any) -> None:
    values = read("Tarragona")
    moved = values.copy()
    moved[:, 3] += 1e9
    # Standard deviations of the column counted from its smallest value, as RecordDistance does.
    scales = (values - values.min(axis=0)).std(axis=0, ddof=1)
    one, two = (
        mdav(space_of(*(number(c, 1 / s) for c, s in zip(v.T, scales, strict=True))), 5, path=path)
        for v in (values, moved)
    )
    assert (one == two).all()


def test_before_there_is_a_query_its_codes_exist() -> None:
    """Their distances are looked up all the same: codes that other work left in memory may lie past the table."""
    codes = np.random.default_rng(1).integers(0, 5, 200).astype(np.int32)
    points = Points.of(space_of(TableTerm("tree", codes, 1.0 - np.eye(5))), "median")
    left = [np.full(1, 1 << 30, dtype=np.int32) for _ in range(64)]
    del left
    assert room_for_query(points)[1].tolist() == [0]
