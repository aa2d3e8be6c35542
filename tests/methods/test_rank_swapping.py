from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import taxomask as tm
from taxomask.methods._column_swaps import _neighbours
from taxomask.methods.rank_swapping import RankSwapping
from taxomask.microdata import ContinuousColumn, Kind, TaxonomicColumn

from .conftest import SCHEMA, release_of, released, tables
from .naive_swapping import Float, judge, judge_ranking, outermost, swap

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


def first_permutation(seed: int, n: int) -> NDArray[np.int64]:
    """When each record is drawn in the permutation that breaks ties."""
    return np.argsort(np.random.default_rng(seed).permutation(n))


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
        draws = first_permutation(seed, len(rows))
        present = np.ones((1, len(rows)), dtype=bool)
        judge(pairwise(data.columns[name]), present, [log], min(k, len(rows) - 1), interval, draws)


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
        judge(distance, present, [swaps[name] for name in names], k, interval, first_permutation(seed, data.n))


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


@pytest.mark.parametrize("interval", ["paper", "open"])
@pytest.mark.parametrize("names", [("dx01",), ("dx01", "sex"), ("care_days",)])
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
            judge(distance, present, [swaps[name] for name in names], k, interval, first_permutation(3, data.n))


def test_the_judge_can_say_no(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    data = tm.Microdata.from_frame(discharges, discharge_schema).take(np.arange(0, 2000, 20))
    _, swaps = masked(data, RankSwapping(5, attributes=["dx01"]), 3)
    log = swaps["dx01"].copy()
    log[3, 1], log[4, 1] = log[4, 1], log[3, 1]
    present, draws = np.ones((1, data.n), dtype=bool), first_permutation(3, data.n)
    with pytest.raises(AssertionError):
        judge(pairwise(data.columns["dx01"]), present, [log], 5, "paper", draws)
    with pytest.raises(AssertionError):
        judge(pairwise(data.columns["dx01"]), present, [swaps["dx01"]], 4, "paper", draws)


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
    by_p = tm.protect(discharges, discharge_schema, RankSwapping(p=5), seed=2)
    by_k = tm.protect(discharges, discharge_schema, RankSwapping(k=100), seed=2)
    assert by_p.data.equals(by_k.data)
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
