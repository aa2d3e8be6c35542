"""Real discharges: what k costs, by every measure."""

from __future__ import annotations

import numpy as np
import pytest

import taxomask as tm
from taxomask import examples
from taxomask.measures import Utility, measure_utility
from taxomask.microdata import TaxonomicColumn, read_table

BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]


@pytest.fixture(scope="module")
def discharges() -> tm.Microdata:
    names = ["age", "sex", "n_beds", "care_days"]
    table = read_table(examples.path(), names)
    table = table.append_column("dx01", read_table(examples.path(), ["dx01"], text=True)["dx01"])
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
            tm.Attribute("n_beds", role="quasi_identifier", kind="ordinal", order=BEDS),
            tm.Attribute("care_days", role="quasi_identifier", kind="continuous"),
            tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        ]
    )
    return tm.Microdata.from_frame(table, schema)


@pytest.fixture(scope="module")
def costs(discharges: tm.Microdata) -> dict[int, Utility]:
    rng = np.random.default_rng(1)
    released = {k: tm.Microaggregation(k).mask(discharges, rng).data for k in (2, 40)}
    return {k: measure_utility(discharges, one, rng=rng, samples=20) for k, one in released.items()}


def test_larger_groups_cost_more(costs: dict[int, Utility]) -> None:
    few, many = costs[2], costs[40]
    assert few.overall is not None
    assert many.overall is not None
    assert 0 < few.overall.overall < many.overall.overall < 1
    for name in (
        "squared_errors", "root_mean_square_errors", "total_distance", "entropy", "distance_variances",
        "distance_correlations", "rank_correlations", "regression", "information", "propensity",
    ):  # fmt: skip
        assert 0 < getattr(few, name).overall < getattr(many, name).overall, name
    assert few.differences.variances.overall < many.differences.variances.overall
    assert few.differences_in_samples.variances.overall < many.differences_in_samples.variances.overall
    assert few.probabilistic.quantiles.overall < many.probabilistic.quantiles.overall
    assert few.tables.per_cell.overall < many.tables.per_cell.overall


def test_chapters_survive_better_than_codes(discharges: tm.Microdata, costs: dict[int, Utility]) -> None:
    chapters = costs[40].chapters
    each = [chapters.loss.each["dx01", level] for level in (1, 2, 3, 4)]
    assert each == sorted(each)
    column = discharges.columns["dx01"]
    assert isinstance(column, TaxonomicColumn)
    codes = [column.categories[code] for code in column.codes]
    icd = tm.Taxonomy.builtin("icd9cm")
    neoplasms = sum("CH 140-239" in icd.ancestors(str(code)) for code in codes)
    assert chapters.counts["dx01"]["CH 140-239"][0] == neoplasms
    assert chapters.counts["dx01"]["ICD9CM"] == (discharges.n, discharges.n)


def test_a_permutation_keeps_what_is_of_one_column_and_breaks_what_is_between(discharges: tm.Microdata) -> None:
    rng = np.random.default_rng(3)
    released = discharges.replace(dx01=discharges.columns["dx01"].take(rng.permutation(discharges.n)))
    found = measure_utility(discharges, released, rng=rng, samples=5)
    assert found.differences.means.each["dx01"] == pytest.approx(0, abs=1e-12)
    assert found.semantic_means.overall == found.chapters.loss.overall == 0
    assert found.tables.relative.each["dx01"] == 0 < found.tables.relative.each["sex", "dx01"]
    moved = found.distance_correlations
    assert moved.each["age", "dx01"] > 0.1
    assert moved.after["age", "dx01"] < moved.before["age", "dx01"]
    assert moved.each["age", "care_days"] == 0
