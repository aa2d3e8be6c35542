from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.risk import rank_swapping_attack, reverse_mapping_attack

from .conftest import GRADES, NAMES, TREE, cells, pairs, table, tables
from .test_intervals import X


def rounded(column: Any) -> Any:
    """A deterministic mechanism with ties: numbers to tens, categories to the one before."""
    if hasattr(column, "values"):
        return column.with_values(np.round(column.values, -1))
    return column.with_codes(np.where(column.codes > 0, column.codes // 2 * 2, column.codes))


def test_whoever_holds_the_masked_values_recovers_the_original_ones() -> None:
    """P4 section 2: Y = f(X) and Z together give X away, here completely, as f makes no ties."""
    original = table(number=[int(value) for value in X.split()])
    column: Any = original.columns["number"]
    masked = column.with_values(3 * column.values + 2)
    released = original.replace(number=column.take(np.random.default_rng(1).permutation(25)))
    attack = reverse_mapping_attack(
        original,
        released,
        masked,
        "number",
        lambda z: z.with_values(3 * z.values + 2),  # type: ignore[attr-defined]
    )
    np.testing.assert_array_equal(attack.recovered.values, column.values)  # type: ignore[attr-defined]
    assert attack.certain.value == attack.expected.value == 1
    assert attack.certain.baseline == 1 / 25


@given(tables(most=15), st.sampled_from(NAMES), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_up_to_ties(original: tm.Microdata, name: str, random: Any) -> None:
    column: Any = original.columns[name]
    rows = list(range(original.n))
    random.shuffle(rows)
    released = original.replace({name: column.take(np.array(rows))})
    masked = rounded(column)
    attack = reverse_mapping_attack(original, released, masked, name, rounded)
    x, y = cells(original, name), cells(original.replace({name: masked}), name)
    groups = [[x[j] for j in range(len(x)) if y[j] == y[i]] for i in range(len(x))]
    assert attack.expected.value == pytest.approx(
        np.mean([g.count(v) / len(g) for g, v in zip(groups, x, strict=True)])
    )
    assert attack.certain.value == pytest.approx(np.mean([len(set(group)) == 1 for group in groups]))
    recovered = cells(original.replace({name: attack.recovered}), name)
    assert all(value in group for value, group in zip(recovered, groups, strict=True))


def test_masked_values_of_all_records_are_needed() -> None:
    data = table(number=[1, 2])
    with pytest.raises(tm.DataError, match="1 masked values for 2 records"):
        reverse_mapping_attack(data, data, data.columns["number"].take([0]), "number", rounded)


def possible(name: str, known: list[Any], x: Any, z: Any, k: int) -> bool:
    """Whether x can have become z when no value moves farther than k ranks."""
    if x is None or z is None:
        return x is z
    present = [value for value in known if value is not None]
    if name in ("number", "grade"):
        key = GRADES.index if name == "grade" else float
        ranked = sorted(key(value) for value in present)
        ranks = [i for i, value in enumerate(ranked) if value == key(x)]
        low, high = max(ranks[0] - k, 0), min(ranks[-1] + k, len(ranked) - 1)
        return bool(ranked[low] <= key(z) <= ranked[high])

    def distance(a: Any, b: Any) -> float:
        return TREE.distance(a, b) if name == "concept" else float(a != b)

    def reaches(one: Any, other: Any) -> bool:
        nearer = sum(distance(one, value) < distance(one, other) for value in present)
        return nearer < k + 1

    return reaches(x, z) or reaches(z, x)


@given(pairs(), st.integers(1, 4), st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
@settings(max_examples=30)
def test_naive_intersection(both: tuple[tm.Microdata, tm.Microdata], k: int, names: list[str]) -> None:
    original, released = both
    attack = rank_swapping_attack(original, released, k, names)
    before, after = ({name: cells(data, name) for name in names} for data in both)
    n = original.n
    fits = np.array(
        [
            [all(possible(name, before[name], before[name][i], after[name][j], k) for name in names) for j in range(n)]
            for i in range(n)
        ]
    )
    count, own = fits.sum(axis=1), np.diag(fits)
    np.testing.assert_array_equal(attack.candidates, count)
    assert attack.possible.value == pytest.approx(own.mean())
    assert attack.unique.value == pytest.approx((own & (count == 1)).mean())
    assert attack.expected.value == pytest.approx(np.mean(own / np.maximum(count, 1)))


def test_many_attributes_narrow_a_swapped_record_down() -> None:
    """Numerical rank swapping with windows of 20 of 2,000: one attribute hides among 40, four give most away."""
    rng = np.random.default_rng(4)
    n, k = 2000, 20
    schema = tm.Schema([tm.Attribute(f"a{i}", role="quasi_identifier", kind="continuous") for i in range(4)])
    import pyarrow as pa

    original = tm.Microdata.from_frame(pa.table({f"a{i}": rng.normal(size=n) for i in range(4)}), schema)
    columns = {}
    for name, column in original.columns.items():
        values = np.array(column.values)  # type: ignore[attr-defined]
        order, free = np.argsort(values), np.ones(n, dtype=bool)
        for rank in range(n):
            partner = rank + int(rng.integers(1, k + 1))
            if free[rank] and partner < n and free[partner]:
                values[order[[rank, partner]]] = values[order[[partner, rank]]]
                free[[rank, partner]] = False
        columns[name] = column.with_values(values)  # type: ignore[attr-defined]
    released = original.replace(columns)
    one = rank_swapping_attack(original, released, k, ["a0"])
    assert one.possible.value == 1
    assert one.unique.value == 0
    assert one.candidates.min() >= k
    four = rank_swapping_attack(original, released, k)
    assert four.possible.value == 1
    assert four.unique.value > 0.95


def test_one_record() -> None:
    data = table(number=[3], concept=["a"], plain=[None])
    attack = rank_swapping_attack(data, data, 1)
    assert attack.candidates.tolist() == [1]
    assert attack.unique.value == attack.unique.baseline == 1
