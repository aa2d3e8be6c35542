from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import random_swapping
from taxomask.methods.distributional_swapping import DistributionalSwapping
from taxomask.methods.numerical_swapping import NumericalSwapping
from taxomask.methods.random_swapping import RandomSwapping
from taxomask.methods.rank_swapping import RankSwapping
from taxomask.methods.topological_swapping import TopologicalSwapping

from .conftest import SCHEMA, TREE, release_of, tables
from .naive_swapping import judge_ranking

RANKED: dict[str, Any] = {
    "number": NumericalSwapping,
    "grade": NumericalSwapping,
    "plain": DistributionalSwapping,
    "concept": TopologicalSwapping,
}


@given(tables(), st.integers(1, 12), st.sampled_from(sorted(RANKED)), st.integers(0, 1000))
@settings(max_examples=120)
def test_every_swap_is_with_one_of_the_next_k(table: pa.Table, k: int, name: str, seed: int) -> None:
    data = tm.Microdata.from_frame(table, SCHEMA)
    k = min(k, data.n - 1)
    method = RANKED[name](k=k, attributes=[name])
    swaps = method.mask(data, np.random.default_rng(seed)).swaps
    values = [value for value in table[name].to_pylist() if value is not None]
    rows = [i for i, value in enumerate(table[name].to_pylist()) if value is not None]
    order: dict[str, Any] = {
        "number": lambda x: x,
        "grade": ["low", "mid", "high", "top"].index,
        "plain": Counter(values).__getitem__,
        "concept": list(TREE).index,
    }
    draws = np.argsort(np.random.default_rng(seed).permutation(len(values)))
    ranks = np.array([order[name](value) for value in values], dtype=float)
    judge_ranking(ranks, np.searchsorted(rows, swaps[name]), k, "paper", draws)


@given(tables(), st.sampled_from([(), ("plain",), ("plain", "grade"), ("number",)]), st.integers(0, 1000))
@settings(max_examples=100)
def test_random_swaps_keep_the_tables_with_the_columns_within(
    table: pa.Table, within: tuple[str, ...], seed: int
) -> None:
    method = RandomSwapping(attributes=["concept"], within=within)
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # nothing changed, by chance or because equal values were swapped
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    names = ["concept", *within]

    def counts(frame: pa.Table) -> Counter[Any]:
        return Counter(zip(*(frame[name].to_pylist() for name in names), strict=True))

    assert counts(release.data) == counts(table)
    assert release.swaps is not None
    for i, j in release.swaps["concept"].tolist():
        assert all(table[name][i] == table[name][j] for name in within if i != j and table[name][i].is_valid)
    cells = Counter(zip(*(table.filter(table["concept"].is_valid())[n].to_pylist() for n in within), strict=True))
    stays = sum(i == j for i, j in release.swaps["concept"].tolist())
    present = table.num_rows - table["concept"].null_count
    assert stays == (sum(size % 2 for size in cells.values()) if within else present % 2)


def test_random_swapping_is_uniform() -> None:
    table = pa.table({"number": [1.0, 2.0, 3.0, 4.0]})
    schema = tm.Schema([tm.Attribute("number", role="quasi_identifier", kind="continuous")])
    seen = Counter(
        tuple(tm.protect(table, schema, RandomSwapping(), seed=s).data["number"].to_pylist()) for s in range(300)
    )
    assert set(seen) == {(2.0, 1.0, 4.0, 3.0), (3.0, 4.0, 1.0, 2.0), (4.0, 3.0, 2.0, 1.0)}
    assert min(seen.values()) > 60


def test_a_changed_table_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"number": [*range(40)], "plain": ["x", "y"] * 20})
    schema = tm.Schema(
        [
            tm.Attribute("number", role="quasi_identifier", kind="continuous"),
            tm.Attribute("plain", role="other", kind="nominal"),
        ]
    )
    honest = random_swapping._pairs
    monkeypatch.setattr(random_swapping, "_pairs", lambda column, cells, rng: honest(column, 0 * cells, rng))
    with pytest.raises(tm.PromiseError, match="DOES NOT HOLD: the counts of number by plain are the original ones"):
        tm.protect(table, schema, RandomSwapping(within=["plain"]), seed=0)


@given(
    st.lists(st.sampled_from(["a1", "a2", "b1", "a", "b", "r", "unknown", "other"]), min_size=3, max_size=25),
    st.sampled_from([RankSwapping, DistributionalSwapping, TopologicalSwapping, RandomSwapping]),
    st.sampled_from([1, 2, 3]),
    st.integers(0, 1000),
)
@settings(max_examples=80)
def test_a_code_at_the_root_is_the_root_of_all_taxonomies(
    values: list[str], make: Any, algorithm: Any, seed: int
) -> None:
    """Unknown codes are put at the root of the first taxonomy; the data may have its code too, known to the second."""
    other = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("a1", "b"), ("a2", "a"), ("b1", "b")])
    attribute = tm.Attribute(
        "concept", role="quasi_identifier", kind="taxonomic", taxonomy=[TREE, other], unmapped="root"
    )
    options: dict[str, Any] = {} if make is RandomSwapping else {"k": 2}
    method = make(**options, **({"algorithm": algorithm} if make is RankSwapping else {}))
    release = release_of(pa.table({"concept": values}), tm.Schema([attribute]), method, seed)
    known = [value if value in other else "r" for value in values]
    assert release is None or sorted(release.data["concept"].to_pylist()) == sorted(known)


def test_classical_rank_swapping_of_real_data(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    """Ranks move by at most 5 % of 2,000 records; the rank correlation stays high and falls with p."""
    correlations = []
    for p in (1, 5, 25):
        method = NumericalSwapping(p=p, attributes=["age"])
        release = tm.protect(discharges, discharge_schema, method, seed=3)
        before, after = (np.argsort(np.argsort(t["age"].to_numpy(), kind="stable")) for t in (discharges, release.data))
        correlations.append(np.corrcoef(before, after)[0, 1])
    assert correlations[0] > 0.999 > correlations[1] > 0.98 > correlations[2]


def test_columns_without_the_order_are_errors(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (NumericalSwapping(k=5, attributes=["dx01"]), "column 'dx01' has no order of numbers."),
        (TopologicalSwapping(k=5, attributes=["age"]), "column 'age' has no taxonomy to take an order from."),
        (DistributionalSwapping(k=5, attributes=["age"]), "column 'age' is continuous"),
        (DistributionalSwapping(attributes=["dx01"]), "give either k or p; got k=None and p=None."),
        (RandomSwapping(within=["age"]), "'age' cannot be swapped and kept at once."),
        (RandomSwapping(["dx01"], within=["ages"]), "there is no coded column 'ages' to protect."),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
