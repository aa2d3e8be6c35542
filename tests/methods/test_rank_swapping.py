from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import taxomask as tm
from taxomask.methods import rank_swapping
from taxomask.methods._column_swaps import _neighbours
from taxomask.methods.numerical_swapping import NumericalSwapping
from taxomask.methods.rank_swapping import RankSwapping
from taxomask.microdata import ContinuousColumn, Kind, TaxonomicColumn

from .conftest import SCHEMA, release_of, released, tables
from .naive_swapping import Float, Logs, judge, judge_ranking, law, outermost, swap

QUASI = ("number", "grade", "plain", "concept")
INTERVALS = st.sampled_from(["paper", "open"])


def pairwise(column: Any) -> Float:
    """The distances of all values of a column, missing ones left out."""
    if isinstance(column, ContinuousColumn):
        values = column.values[~column.missing]
        return np.abs(values[:, None] - values)
    codes = column.codes[~column.missing]
    if isinstance(column, TaxonomicColumn):
        return column.table[np.ix_(codes, codes)]
    away = np.abs(codes[:, None] - codes).astype(float)
    return away if column.attribute.kind == Kind.ORDINAL else np.minimum(away, 1.0)


def record_distances(data: tm.Microdata, names: tuple[str, ...]) -> Float:
    """The mean of the distances of plain and taxonomic values, or squared S-distance; missing values are far away."""
    if not set(names) <= {"plain", "concept", "dx01", "pc01", "sex", "region"}:
        distance = tm.RecordDistance(data, names)
        return np.stack([distance.squared_to_all(i) for i in range(data.n)])
    total = np.zeros((data.n, data.n))
    for name in names:
        column: Any = data.columns[name]
        gone = column.missing
        away = np.where(gone[:, None] & gone, 0.0, 1.0)
        if isinstance(column, TaxonomicColumn):
            away *= column.table.max(initial=0.0)
        away[np.ix_(~gone, ~gone)] = pairwise(column)
        total += (1 / len(names)) * away
    return total


def masked(data: tm.Microdata, method: RankSwapping, seed: int) -> tuple[Any, Any]:
    result = method.mask(data, np.random.default_rng(seed))
    assert result.swaps is not None
    return result, result.swaps


@given(tables(), st.integers(1, 12), INTERVALS, st.sampled_from(QUASI), st.integers(0, 1000))
@settings(max_examples=150)
def test_every_swap_of_algorithm_2_obeys_the_interval(
    table: pa.Table, k: int, interval: Any, name: str, seed: int
) -> None:
    data = tm.Microdata.from_frame(table, SCHEMA)
    k = min(k, data.n - 1)
    _, swaps = masked(data, RankSwapping(k, interval=interval, attributes=[name]), seed)
    rows = np.flatnonzero(~data.columns[name].missing)
    log = np.searchsorted(rows, swaps[name])
    assert (rows[log] == swaps[name]).all() if len(rows) else not len(log)
    if len(rows):
        present = np.ones((1, len(rows)), dtype=bool)
        if len(rows) > 1:
            judge(pairwise(data.columns[name]), present, [log], min(k, len(rows) - 1), interval)


@given(
    tables(),
    st.integers(1, 12),
    INTERVALS,
    st.sampled_from([("plain", "concept"), ("concept",), ("number",), QUASI]),
    st.integers(0, 1000),
)
@settings(max_examples=150)
def test_every_swap_of_algorithm_3_obeys_the_interval(
    table: pa.Table, k: int, interval: Any, names: tuple[str, ...], seed: int
) -> None:
    data = tm.Microdata.from_frame(table, SCHEMA)
    k = min(k, data.n - 1)
    _, swaps = masked(data, RankSwapping(k, algorithm=3, interval=interval, attributes=names), seed)
    present = np.stack([~data.columns[name].missing for name in names])
    distance = record_distances(data, names)
    if present.any() and set(np.flatnonzero(present.any(axis=0))) & set(outermost(distance)):
        judge(distance, present, [swaps[name] for name in names], k, interval)


@given(tables(complete=True), st.integers(1, 12), INTERVALS, st.sampled_from(QUASI), st.integers(0, 1000))
@settings(max_examples=100)
def test_every_swap_of_algorithm_1_is_with_one_of_the_next_k(
    table: pa.Table, k: int, interval: Any, name: str, seed: int
) -> None:
    data = tm.Microdata.from_frame(table, SCHEMA)
    k = min(k, data.n - 1)
    _, swaps = masked(data, RankSwapping(k, algorithm=1, interval=interval, attributes=[name]), seed)
    distance = pairwise(data.columns[name])
    first = int(swaps[name][0, 0])  # a record with the most distant value
    assert first in outermost(distance)
    rng = np.random.default_rng(seed)
    known = np.unique(distance[outermost(distance)], axis=0)
    rng.choice(len(known))  # which of the most distant values comes first
    judge_ranking(distance[first], swaps[name], k, interval, np.argsort(rng.permutation(data.n)))


@given(tables(), st.integers(1, 20), st.sampled_from([1, 2, 3]), INTERVALS, st.integers(0, 1000))
@settings(max_examples=100)
def test_the_release_is_a_permutation_that_the_log_explains(
    table: pa.Table, k: int, algorithm: Any, interval: Any, seed: int
) -> None:
    method = RankSwapping(min(k, table.num_rows - 1), algorithm=algorithm, interval=interval)
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # nothing changed, by chance or because equal values were swapped
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    assert release.swaps is not None
    for name in QUASI:
        values = table[name].to_pylist()
        logged = release.swaps[name].tolist()
        present = [i for i, value in enumerate(values) if value is not None]
        assert sorted({i for pair in logged for i in pair}) == present
        assert sum(1 if i == j else 2 for i, j in logged) == len(present)
        for i, j in logged:
            values[i], values[j] = values[j], values[i]
        assert values == release.data[name].to_pylist()
        if interval == "open":
            assert sum(i == j for i, j in logged) == len(present) % 2


DISEASES = tm.Taxonomy.from_edges(
    [
        ("varicella", "disorder"), ("coma", "disorder"), ("neuropathy", "disorder"), ("ophthalmicus", "varicella"),
        ("auricularis", "varicella"), ("hepatic", "coma"), ("hypoglycemic", "coma"),
    ]
)  # fmt: skip


def disease_schema() -> tm.Schema:
    attribute = tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=DISEASES, distance="wu_palmer")
    return tm.Schema([attribute])


def test_the_example_of_the_paper() -> None:
    """Figure 4: the most distant value of these eight, and what may be swapped with hepatic coma at k = 2."""
    values = [name for name in DISEASES if name != "disorder"] + ["disorder"]
    table = pa.table({"x": values})
    partners: dict[str, set[str]] = {name: set() for name in values}
    first = set()
    for seed in range(60):
        release = tm.protect(table, disease_schema(), RankSwapping(2, algorithm=2), seed=seed)
        assert release.swaps is not None
        first.add(values[release.swaps["x"][0, 0]])
        for i, j in release.swaps["x"].tolist():
            partners[values[i]].add(values[j])
    assert first == {"neuropathy"}
    assert partners["neuropathy"] <= {"neuropathy", "disorder", "coma", "varicella"}
    assert partners["hepatic"] <= {"hepatic", "coma", "hypoglycemic"}
    assert partners["ophthalmicus"] <= {"ophthalmicus", "varicella", "auricularis"}


def test_values_that_are_frequent_enough_do_not_change() -> None:
    """P3 on its Dataset2: if every combination occurs more than k times, nothing changes, and nothing needs to."""
    table = pa.table({"x": ["hepatic"] * 5 + ["varicella"] * 4 + ["disorder"] * 3})
    for algorithm in (2, 3):
        method = RankSwapping(2, algorithm=algorithm)  # type: ignore[arg-type]
        masked = method.mask(tm.Microdata.from_frame(table, disease_schema()), np.random.default_rng(1))
        assert masked.data.to_frame().equals(table)
        assert "0.0 % changed" in masked.notes[0]
        assert "From about k = 7 (p = 58 %) on, half of them would." in masked.notes[1]
        assert release_of(table, disease_schema(), method, seed=1) is None


def error(data: tm.Microdata, names: tuple[str, ...], swaps: Any) -> float:
    """The root mean square error, over all attributes."""
    total = 0.0
    for name in names:
        away = pairwise(data.columns[name])
        i, j = np.asarray(swaps[name]).T
        total += float(2 * np.square(away[i, j]).sum())
    return float(np.sqrt(total / data.n / len(names)))


def _events(logs: Logs) -> Iterator[Any]:
    """What is counted of an outcome: itself, each pair, and what the attributes have in common."""
    yield logs
    yield from {(a, pair) for a, log in enumerate(logs) for pair in log}
    yield "stayed", sum(i == j for log in logs for i, j in log)
    if len(logs) > 1:
        yield "same pairs", len(set(logs[0]) & set(logs[1]))


TINY: dict[str, tuple[dict[str, list[Any]], int]] = {
    "equal codes": ({"concept": ["b11"] * 4 + ["a1"] * 2}, 2),
    "one code": ({"concept": ["b11"] * 5}, 2),
    "codes at equal distances": ({"concept": ["a1", "a2", "a1", "b1", "b11", "b2"]}, 2),
    "numbers": ({"number": [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]}, 1),
    "equal numbers": ({"number": [1.0, 1.0, 1.0, 1.0, 5.0]}, 2),
    "ordered": ({"grade": ["low", "mid", "mid", "high", "high"]}, 2),
    "plain": ({"plain": ["x", "x", "y", "y", "z"]}, 2),
    "two attributes": ({"plain": ["x", "x", "x", "y", "y"], "concept": ["a1", "a1", "a1", "a1", "b1"]}, 2),
    "two attributes, all equal": ({"plain": ["x"] * 4, "concept": ["a1"] * 4}, 2),
    "with missing values": ({"plain": ["x", "x", None, "x"], "concept": ["a1", "a1", "a1", None]}, 2),
    "three attributes": ({"plain": ["x"] * 4, "concept": ["a1"] * 4, "grade": ["low", "low", "low", "mid"]}, 2),
    "mixed records": ({"number": [1.0, 1.0, 1.0, 2.0, 9.0], "plain": ["x", "x", "y", "y", "x"]}, 2),
}


@pytest.mark.parametrize(
    ("case", "interval"),
    [*((case, "paper") for case in TINY), *((case, "open") for case in ("plain", "numbers", "two attributes"))],
)
def test_every_outcome_has_the_chance_that_the_definition_gives_it(case: str, interval: Any) -> None:
    """Exact chances, from all that can be drawn, against how often 1,000 fixed seeds give each outcome."""
    values, k = TINY[case]
    names, seeds = tuple(values), 1000
    data = tm.Microdata.from_frame(pa.table(values), tm.Schema([SCHEMA[name] for name in names]))
    distance = record_distances(data, names) if len(names) > 1 else pairwise(data.columns[names[0]])
    chances = law(distance, np.stack([~data.columns[name].missing for name in names]), k, interval)
    assert sum(chances.values()) == 1
    method = RankSwapping(k, algorithm=3 if len(names) > 1 else 2, interval=interval)
    seen: Counter[Logs] = Counter()
    for seed in range(seeds):
        swaps = masked(data, method, seed)[1]
        seen[tuple(tuple((i, j) for i, j in swaps[name].tolist()) for name in names)] += 1
    assert set(seen) <= set(chances)
    events: Counter[Any] = Counter()
    expected: dict[Any, Fraction] = {}
    for logs, chance in chances.items():
        for event in _events(logs):
            expected[event] = expected.get(event, Fraction(0)) + chance
            events[event] += seen[logs]
    for event, chance in expected.items():
        off = 5 * np.sqrt(float(seeds * chance * (1 - chance))) + 1
        assert abs(events[event] - seeds * chance) <= off, (event, events[event] / seeds, float(chance))


@pytest.mark.parametrize("interval", ["paper", "open"])
@pytest.mark.parametrize(
    "names", [("dx01",), *(pytest.param(names, marks=pytest.mark.slow) for names in (("dx01", "sex"), ("care_days",)))]
)
def test_results_are_distributed_as_those_of_a_naive_version(
    discharges: pa.Table, discharge_schema: tm.Schema, interval: Any, names: tuple[str, ...]
) -> None:
    data = tm.Microdata.from_frame(discharges, discharge_schema).take(np.arange(0, 2000, 14))
    distance = record_distances(data, names) if len(names) > 1 else pairwise(data.columns[names[0]])
    present = np.ones((len(names), data.n), dtype=bool)
    for k in (3, 12):
        ours, naive = [], []
        for seed in range(60):
            method = RankSwapping(k, algorithm=3 if len(names) > 1 else 2, interval=interval, attributes=names)
            ours.append(error(data, names, masked(data, method, seed)[1]))
            logs = swap(distance, present, k, interval, np.random.default_rng(seed))
            naive.append(error(data, names, dict(zip(names, logs, strict=True))))
        sampling = np.sqrt((np.var(ours, ddof=1) + np.var(naive, ddof=1)) / len(ours))
        assert abs(np.mean(ours) - np.mean(naive)) < 4 * sampling, (k, np.mean(ours), np.mean(naive), sampling)


@pytest.mark.parametrize("interval", ["paper", "open"])
def test_every_swap_of_real_discharges_is_legal(
    discharges: pa.Table, discharge_schema: tm.Schema, interval: Any
) -> None:
    data = tm.Microdata.from_frame(discharges, discharge_schema).take(np.arange(0, 2000, 5))
    for names in (("dx01",), ("dx01", "region"), ("age", "dx01", "n_beds")):
        for k in (5, 60):
            method = RankSwapping(k, algorithm=2 if len(names) == 1 else 3, interval=interval, attributes=names)
            _, swaps = masked(data, method, 3)
            distance = record_distances(data, names) if len(names) > 1 else pairwise(data.columns[names[0]])
            present = np.ones((len(names), data.n), dtype=bool)
            judge(distance, present, [swaps[name] for name in names], k, interval)


def test_the_judge_can_say_no(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    data = tm.Microdata.from_frame(discharges, discharge_schema).take(np.arange(0, 2000, 20))
    _, swaps = masked(data, RankSwapping(5, attributes=["dx01"]), 3)
    log = swaps["dx01"].copy()
    log[3, 1], log[4, 1] = log[4, 1], log[3, 1]
    present = np.ones((1, data.n), dtype=bool)
    judge(pairwise(data.columns["dx01"]), present, [swaps["dx01"]], 5, "paper")
    with pytest.raises(AssertionError):
        judge(pairwise(data.columns["dx01"]), present, [log], 5, "paper")
    with pytest.raises(AssertionError):
        judge(pairwise(data.columns["dx01"]), present, [swaps["dx01"]], 2, "paper")


@pytest.mark.parametrize(
    ("total", "marked", "taken"),
    [(10, 4, 3), (60, 30, 45), (100, 60, 40), (100, 30, 90), (1000, 300, 500), (1000, 13, 990), (5000, 2500, 60)],
)
def test_how_many_of_those_taken_are_marked(total: int, marked: int, taken: int) -> None:
    """Against the hypergeometric distribution, drawn one by one and by the ratio of uniforms."""
    from taxomask.methods import _swap_kernels

    how_many = njit(_swap_kernels.how_many.py_func)
    state, times = np.array([5], dtype=np.uint64), 20_000
    seen = Counter(how_many(total, marked, taken, state) for _ in range(times))
    left = times
    for x in range(max(0, taken + marked - total), min(taken, marked) + 1):
        chance = comb(marked, x) * comb(total - marked, taken - x) / comb(total, taken)
        assert abs(seen[x] - times * chance) <= 5 * np.sqrt(times * chance * (1 - chance)) + 1, (x, seen[x], chance)
        left -= seen[x]
    assert left == 0
    assert [how_many(*case, state) for case in ((9, 0, 4), (9, 9, 4), (9, 4, 0), (9, 4, 9))] == [0, 4, 0, 4]


def test_distances_that_hardly_tie_are_ordered_as_well() -> None:
    rng = np.random.default_rng(1)
    table = np.triu(rng.random((300, 300)), 1)
    table += table.T
    attribute = tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")
    positions = np.arange(300)
    for values in (table, np.round(table, 2)):
        column = TaxonomicColumn(attribute, positions, tuple(map(str, positions)), positions=positions)
        column._shared["table"] = values
        marked = _neighbours(column)
        order, last = marked & 0x7FFF, marked >= 0x8000
        for c in range(300):
            assert sorted(order[c]) == list(range(300))
            away = values[c, order[c]]
            assert (np.diff(away) >= 0).all()
            assert last[c].tolist() == [*(np.diff(away) > 0), True]


def test_a_percentage_is_a_percentage(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    """p = 5 of 2,000 records is k = 100."""
    data = tm.Microdata.from_frame(discharges, discharge_schema)
    by_p, by_k = (
        method.mask(data, np.random.default_rng(2)).data for method in (RankSwapping(p=5), RankSwapping(k=100))
    )
    assert by_p.to_frame().equals(by_k.to_frame())
    assert tm.protect(discharges, discharge_schema, RankSwapping(p=100), seed=2).promise[-1].holds


def test_values_that_are_all_equal_are_swapped_with_each_other() -> None:
    for algorithm in (1, 2, 3):
        table = pa.table({"concept": ["b11"] * 3})
        schema = tm.Schema([SCHEMA["concept"]])
        assert released(table, schema, RankSwapping(1, algorithm=algorithm), seed=1).equals(table)  # type: ignore[arg-type]


def test_more_missing_values_than_k() -> None:
    table = pa.table({"x": pa.array(["coma", None, None, None, "hepatic", None], pa.string())})
    for algorithm in (1, 2, 3):
        release = tm.protect(table, disease_schema(), RankSwapping(4, algorithm=algorithm), seed=1)  # type: ignore[arg-type]
        assert release.data["x"].to_pylist() == ["hepatic", None, None, None, "coma", None]
    empty = pa.table({"x": pa.array([None] * 6, pa.string())})
    for algorithm in (1, 2, 3):
        release = tm.protect(empty, disease_schema(), RankSwapping(4, algorithm=algorithm), seed=1)  # type: ignore[arg-type]
        assert "x: all values are missing; nothing was swapped." in release.notes


SPANS = ([-1.7e308, 1.7e308, 0.0, 1.0], [1.7e308, 1.6e308, 1.5e308, 0.0], [1e-300, 2e-300, 3e-300, 9e-300])


@pytest.mark.parametrize("values", SPANS)
@pytest.mark.parametrize("method", [*(RankSwapping(3, algorithm=a) for a in (1, 2, 3)), NumericalSwapping(3)])  # type: ignore[arg-type]
def test_numbers_of_any_size_are_swapped(values: list[float], method: Any) -> None:
    """Also those whose differences, sums or squares are more, or less, than a number can be."""
    table = pa.table({"number": values * 3})
    for seed in range(20):
        release = tm.protect(table, tm.Schema([SCHEMA["number"]]), method, seed=seed)
        assert sorted(release.data["number"].to_pylist()) == sorted(values * 3)
        if method.name == "rank_swapping" and method.algorithm == 2:
            assert {abs(values[i % 4] - values[j % 4]) for i, j in release.swaps["number"].tolist()} <= {
                0.0,
                *_steps(values),
            }


def _steps(values: list[float]) -> set[float]:
    """The distances from each number to the one closest to it, which is the fourth closest record."""
    return {min(abs(x - y) for y in values if y != x) for x in values}


def test_numbers_on_one_side_tie_where_their_distance_is_rounded() -> None:
    """1e16 - 1 and 1e16 - 0.25 are the same number: all four small ones are equally far from the large one."""
    table = pa.table({"number": [1e16, 1.0, 0.75, 0.5, 0.25]})
    data = tm.Microdata.from_frame(table, tm.Schema([SCHEMA["number"]]))
    distance = pairwise(data.columns["number"])
    assert len(set(distance[0, 1:])) == 1
    chances = law(distance, np.ones((1, 5), dtype=bool), 2, "paper")
    seen = set()
    for seed in range(300):
        log = masked(data, RankSwapping(2), seed)[1]["number"].tolist()
        assert (tuple(map(tuple, log)),) in chances
        seen.add(tuple(log[0]))
    assert seen == {(0, 1), (0, 2), (0, 3), (0, 4)}


def test_more_attributes_than_bits_are_an_error() -> None:
    names = [f"x{i}" for i in range(65)]
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in names])
    table = pa.table({name: ["a", "b", "a", "b"] for name in names})
    with pytest.raises(tm.PlanError, match=r"algorithm 3 swaps at most 64 attributes together; got 65\."):
        tm.protect(table, schema, RankSwapping(2, algorithm=3))
    release = tm.protect(
        table.select(names[:64]), tm.Schema([schema[name] for name in names[:64]]), RankSwapping(2, algorithm=3), seed=1
    )
    assert release.promise[-1].holds


def test_a_longer_table_is_cut_into_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_swapping, "_ONE_PIECE", 100)
    monkeypatch.setattr(rank_swapping, "_BLOCK", 20)
    rng = np.random.default_rng(4)
    table = pa.table({"number": rng.normal(size=101), "plain": rng.choice(["a", "b"], 101)})
    data = tm.Microdata.from_frame(table, tm.Schema([SCHEMA["number"], SCHEMA["plain"]]))
    for method, block in ((RankSwapping(p=5, algorithm=3), 25), (RankSwapping(1, algorithm=3), 20)):
        found = method.mask(data, np.random.default_rng(1))
        same = RankSwapping(method.k or 5, algorithm=3, block_size=block).mask(data, np.random.default_rng(1))
        assert found.swaps is not None
        assert same.swaps is not None
        assert all((found.swaps[name] == same.swaps[name]).all() for name in found.swaps)
        assert found.notes[:-1] == same.notes
        assert f"101 records: similar ones were looked for within blocks of at most {block} " in found.notes[-1]
    whole = RankSwapping(p=5, algorithm=3, block_size=101).mask(data, np.random.default_rng(1))
    monkeypatch.setattr(rank_swapping, "_ONE_PIECE", 101)
    short = RankSwapping(p=5, algorithm=3).mask(data, np.random.default_rng(1))
    assert not any("blocks" in note for note in (*whole.notes, *short.notes))


def test_bad_parameters_are_errors(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    wrong: Any = RankSwapping
    for method, message in (
        (wrong(), "give either k or p; got k=None and p=None."),
        (wrong(5, 5), "give either k or p; got k=5 and p=5."),
        (wrong(0), "k must be an integer of at least 1; got 0."),
        (wrong(2.5), "k must be an integer of at least 1; got 2.5."),
        (wrong(2000), "k must be less than the number of records; got k = 2000 for 2,000 records."),
        (wrong(p=0), "p must be a number above 0 and at most 100; got 0."),
        (wrong(p=101), "p must be a number above 0 and at most 100; got 101."),
        (wrong(5, algorithm=4), "algorithm must be 1, 2 or 3; got 4."),
        (wrong(5, interval="closed"), "interval must be 'paper' or 'open'; got 'closed'."),
        (wrong(5, attributes=["race"]), "there is no coded column 'race' to protect."),
        (wrong(5, attributes=[]), "the table has no quasi-identifier to protect."),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)


def test_too_many_categories_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.methods import _column_swaps

    monkeypatch.setattr(_column_swaps, "_MOST", 3)
    table = pa.table({"x": ["coma", "hepatic", "disorder", "neuropathy"]})
    with pytest.raises(tm.DataError, match=r"column 'x' has 4 different categories; rank swapping can treat 3\."):
        tm.protect(table, disease_schema(), RankSwapping(1), seed=1)
