"""The search for the smallest k that keeps to a limit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taxomask as tm
from taxomask.comparison.search import _families, search
from taxomask.errors import DataError, TaxomaskError
from taxomask.evaluation import Summary
from taxomask.methods import Method


def summary(risk: float) -> Summary:
    return Summary({}, (), {"nearest": risk}, {}, risk, risk, 2, 0)


class Bench:
    """Methods whose risk is 1/k, or a little more for all attackers; it remembers what was measured."""

    def __init__(self, over: float = 1.0, largest: int = 10**9) -> None:
        self.over, self.largest, self.full, self.quick = over, largest, list[int](), list[int]()

    def measure(self, methods: list[Method]) -> list[Summary | TaxomaskError]:
        return [self._one(one, self.over, self.full) for one in methods]

    def cheaply(self, methods: list[Method]) -> list[Summary | TaxomaskError]:
        return [self._one(one, 1.0, self.quick) for one in methods]

    def _one(self, method: Any, over: float, seen: list[int]) -> Summary | TaxomaskError:
        seen.append(method.k)
        if method.k > self.largest:
            return DataError("too few records", hint="A smaller k.")
        return summary(over / method.k)

    def search(self, tried: list[int], limit: float, most: int = 10_000, **more: Any) -> Any:
        known = [(tm.Microaggregation(k), summary(self.over / k)) for k in tried]
        keeps = lambda one: one.risk <= limit  # noqa: E731
        return search(known, keeps, keeps, self.measure, self.cheaply, most=most, **{"seconds": 60.0, **more})


@given(st.sets(st.integers(2, 60), min_size=1, max_size=4), st.integers(2, 300), st.sampled_from([1.0, 1.3, 2.0]))
def test_it_finds_the_smallest(tried: set[int], answer: int, over: float) -> None:
    bench = Bench(over)
    limit = 1 / answer + 1e-12
    found, (family,) = bench.search(sorted(tried), limit)
    smallest = next(k for k in range(2, 10_000) if over / k <= limit)
    assert family.meeting == smallest
    measured = {method.k for method, _ in found} | tried
    assert smallest in measured  # by all attackers, not by the cheap one alone
    assert len(bench.full) <= 24


def test_cheap_attackers_come_first() -> None:
    bench = Bench()
    bench.search([5], 0.01)
    assert all(k in bench.quick for k in bench.full)
    assert all(1 / k <= 0.01 for k in bench.full)  # the others were ruled out cheaply


def test_what_was_found_in_words() -> None:
    assert Bench().search([3, 20], 0.1)[1][0].words() == "microaggregation(k=10) keeps to the limits, k = 9 does not."
    assert Bench().search([2], 1.0)[1][0].words() == (
        "microaggregation(k=2) keeps to the limits with the smallest k there is."
    )
    assert Bench().search([3, 20], 0.1, seconds=0.0)[1][0].words() == (
        "microaggregation(k=20) keeps to the limits; k from 4 to 19 were not tried, and may do so as well."
    )
    assert "no k up to 64 was found" in Bench().search([2], 1e-9, most=64)[1][0].words()
    assert "no k up to 32 was found" in Bench(largest=40).search([2], 1e-9)[1][0].words()


def test_methods_without_k_are_left_alone() -> None:
    known = [(tm.RankSwapping(p=5), summary(0.5)), (tm.Recoding(level={"dx": 2}), summary(0.5))]
    found, families = search(known, lambda one: False, lambda one: False, Bench().measure, None, most=9, seconds=9.0)
    assert (found, families) == ([], [])


def test_on_a_table(tmp_path: Any) -> None:
    ages = [20 + i for i in range(40)]
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    table = pa.table({"age": ages})
    found = tm.compare(
        table,
        schema,
        [tm.Microaggregation(2), tm.Microaggregation(10)],
        attackers=["nearest"],
        max_risk=0.25,
        cache=tmp_path,
    )
    best = found.best(0.25)
    assert best.point.risk <= 0.25
    risks = {point.method: point.risk for point in found.points}
    assert all(risk > 0.25 for method, risk in risks.items() if method.k < best.method.k)  # type: ignore[attr-defined]
    assert found.searched
    assert found.to_dict()["searched"] == list(found.searched)
    both = [tm.Microaggregation(2), tm.MicroHybrid(2)]
    kept = tm.compare(table, schema, both, attackers=["nearest"], max_risk=0.25, promise="k_anonymity", cache=tmp_path)
    assert [point.label for point in kept.points if "hybrid" in point.label] == ["micro_hybrid(k=2)"]
    assert len(kept.searched) == 1  # what does not promise it is not searched
    alone = tm.compare(table, schema, [tm.Microaggregation(2)], attackers=["nearest"], cache=tmp_path)
    assert alone.searched == ()
    with pytest.raises(tm.PlanError):
        tm.compare(table, schema, [tm.Microaggregation(2)], max_risk=2.0)


def test_methods_that_differ_in_the_middle_of_a_long_list_are_two() -> None:
    names = [f"column_{place}" for place in range(40)]
    other = [*names[:20], "another", *names[21:]]
    methods = [tm.Microaggregation(5, attributes=one) for one in (names, other)]
    assert repr(methods[0]) == repr(methods[1])
    assert len(_families([(method, summary(0.5)) for method in methods], lambda one: False, 50)) == 2
