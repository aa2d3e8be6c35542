from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.methods import estimated_counts
from taxomask.methods._transition import Transition
from taxomask.microdata import Microdata

from .conftest import SCHEMA, TREE

CONCEPTS = tm.Schema([tm.Attribute("concept", role="quasi_identifier", kind="taxonomic", taxonomy=TREE)])
VALUES = ["a1"] * 50 + ["a2"] * 30 + ["b"] * 5 + ["b11"] * 40 + ["b12"] * 10 + ["b2"] * 65


def naive(
    transition: Transition, counts: np.ndarray, groups: np.ndarray, several: int
) -> tuple[np.ndarray, np.ndarray]:
    """t* P⁻¹ summed over groups, and Σ_o t*_o Q_og² - t_g."""
    q = np.linalg.inv(transition.matrix()) @ np.eye(several)[groups]
    totals = counts @ q
    return totals, counts @ q**2 - totals


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("level", [None, 2])
def test_classes_give_what_the_whole_matrix_gives(
    sharp: bool, level: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimated_counts, "AT_ONCE", 3)
    table = pa.table({"concept": VALUES})
    method = tm.SemanticNoise(4, sharp=sharp)
    release = tm.protect(table, CONCEPTS, method, seed=1).data
    found = tm.estimate_counts(release, CONCEPTS, method, "concept", level=level)
    transition = method.transition(Microdata.from_frame(table, CONCEPTS), "concept")
    assert transition is not None
    counts = np.array([release["concept"].to_pylist().count(one) for one in transition.values], dtype=float)
    top = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b11": "b", "b12": "b"}
    named = [top.get(str(one), one) if level else one for one in transition.values]
    groups = np.array([found.values.index(one) for one in named])
    totals, variances = naive(transition, counts, groups, len(found.values))
    np.testing.assert_allclose(found.counts, totals, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.errors, np.sqrt(np.maximum(variances, 0)), rtol=1e-8, atol=1e-8)
    assert found.counts.sum() == pytest.approx(200)


@pytest.mark.parametrize(
    "method",
    [tm.SemanticNoise(6), tm.SemanticNoise(6, missing="value"), tm.Pram(0.6), tm.Pram(0.6, semantic=False)],
    ids=str,
)
def test_estimates_are_unbiased_and_their_errors_right(method: tm.SemanticNoise | tm.Pram) -> None:
    """Both are linear in the released counts: from the expected counts t P come t and its variance."""
    data = Microdata.from_frame(pa.table({"concept": [*VALUES, None, None]}), CONCEPTS)
    transition = method.transition(data, "concept")
    assert transition is not None
    truth = np.array([VALUES.count(str(one)) if one else 2 for one in transition.values], dtype=float)
    groups = np.arange(len(truth)) // 2
    several = int(groups.max()) + 1
    p, member = transition.matrix(), np.eye(several)[groups]
    totals, variances = estimated_counts._corrected(transition, truth @ p, groups, several, "it")
    np.testing.assert_allclose(totals, truth @ member, rtol=1e-8, atol=1e-8)
    q = np.linalg.inv(p) @ member
    each = [np.einsum("o,og,oh->gh", row, q, q).diagonal() - (row @ q) ** 2 for row in p]  # E X² - (E X)²
    np.testing.assert_allclose(variances, truth @ np.array(each), rtol=1e-7, atol=1e-7)


def test_estimates_of_many_releases() -> None:
    data = Microdata.from_frame(pa.table({"concept": VALUES}), CONCEPTS)
    method, rng = tm.SemanticNoise(8), np.random.default_rng(7)
    transition = method.transition(data, "concept")
    assert transition is not None
    original = transition.numbers(data.columns["concept"])
    mechanism = method._domain(data, "concept").mechanism(8, False)
    every = np.arange(len(transition.values))
    found = []
    for _ in range(300):
        counts = np.bincount(mechanism.draw(original, rng), minlength=len(every)).astype(float)
        found.append(estimated_counts._corrected(transition, counts, every, len(every), "it"))
    totals, variances = (np.array(one) for one in zip(*found, strict=True))
    spread = totals.std(axis=0, ddof=1)
    truth = np.bincount(original, minlength=len(every))
    np.testing.assert_array_less(np.abs(totals.mean(axis=0) - truth), 4 * spread / np.sqrt(300))
    np.testing.assert_allclose(np.sqrt(variances.mean(axis=0)), spread, rtol=0.2)


def test_two_categories_by_hand() -> None:
    """P = [[3/4, 1/4], [1/4, 3/4]]: P⁻¹ = [[3/2, -1/2], [-1/2, 3/2]]; 60 f and 40 m were 70 and 30."""
    schema = tm.Schema([tm.Attribute("sex", role="quasi_identifier", kind="nominal")])
    method = tm.SemanticNoise(np.log(3), domain={"sex": ["f", "m"]})
    found = tm.estimate_counts(pa.table({"sex": ["f"] * 60 + ["m"] * 40}), schema, method, "sex")
    np.testing.assert_allclose(found.counts, [70, 30], rtol=1e-4)
    # 60·9/4 + 40/4 - 70 = 75 for both
    np.testing.assert_allclose(found.errors, np.sqrt(75), rtol=1e-4)
    assert repr(found) == "<EstimatedCounts of 2 values: 100.0 records>"


def test_numbers_and_ordered_categories() -> None:
    table = pa.table({"number": [0, 1, 1, 2] * 50, "grade": ["low", "mid", "top", "top"] * 50})
    schema = tm.Schema([SCHEMA["number"], SCHEMA["grade"]])
    method = tm.SemanticNoise(6, domain={"number": [0, 3, 1]})
    release = tm.protect(table, schema, method, seed=3).data
    for name, truth in (("number", [50, 100, 50, 0]), ("grade", [50, 50, 0, 100])):
        found = tm.estimate_counts(release, schema, method, name)
        assert (np.abs(found.counts - truth) <= 4 * found.errors + 1).all()


def test_what_cannot_be_estimated() -> None:
    table = pa.table({"concept": VALUES})
    with pytest.raises(tm.DataError, match="not known here") as error:
        tm.estimate_counts(table, CONCEPTS, tm.Pram(), "concept")
    assert error.value.hint == "Pass original= the original table."
    with pytest.raises(tm.DataError, match="not known here"):
        tm.estimate_counts(table, CONCEPTS, tm.RankSwapping(k=2), "concept")
    with pytest.raises(tm.DataError, match="cannot release"):
        tm.estimate_counts(table, CONCEPTS, tm.SemanticNoise(2, domain={"concept": ["a1", "b2"]}), "concept")
    with pytest.raises(tm.SchemaError, match="no column"):
        tm.estimate_counts(table, CONCEPTS, tm.SemanticNoise(2), "concpet")
    schema = tm.Schema([SCHEMA["grade"]])
    with pytest.raises(tm.SchemaError, match="no levels"):
        tm.estimate_counts(pa.table({"grade": ["low"]}), schema, tm.SemanticNoise(2), "grade", level=2)


@pytest.mark.parametrize("method", [tm.Pram(1e-12, semantic=False)], ids=str)
def test_a_matrix_that_cannot_be_inverted_is_an_error(method: tm.Pram) -> None:
    table = pa.table({"concept": VALUES})
    with pytest.raises(tm.DataError, match="cannot be inverted"):
        tm.estimate_counts(table, CONCEPTS, method, "concept", original=table)
