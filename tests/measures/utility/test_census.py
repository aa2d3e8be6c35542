"""Domingo-Ferrer and Torra (2005), Tables 2 and 3: what our own MDAV loses on Census."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taxomask as tm
from taxomask.measures import information_loss, probabilistic_loss
from taxomask.microdata import read_table

CENSUS = Path(__file__).parents[2] / "data" / "casc" / "CASCrefmicrodata.csv"
PRINTED = {
    # (quasi-identifiers, k): IL1, IL4, IL5, IL; IL2 and IL3 are 0, and IL comes from the rounded parts
    (6, 3): (0.131, 0.036, 0.007, 3.48),
    (6, 6): (0.174, 0.075, 0.013, 5.24),
    (6, 9): (0.203, 0.129, 0.017, 6.98),
    (6, 12): (0.185, 0.166, 0.020, 7.42),
    (13, 3): (0.907, 0.058, 0.016, 19.62),
    (13, 6): (1.389, 0.134, 0.032, 31.10),
    (13, 9): (1.535, 0.161, 0.039, 34.70),
    (13, 12): (1.564, 0.164, 0.046, 35.48),
}
OTHER_LAST_GROUP = {(6, 6), (6, 9), (6, 12), (13, 12)}
"""Rows whose last group grew around the other end; papers/p2_program.py has the rule that selects them."""
PROBABILISTIC = {
    # PIL of covariances and of correlations; the printed PIL(Q) does not have each attribute's own bin width
    (6, 3): (0.161, 0.255),
    (13, 3): (0.363, 0.534),
    (13, 6): (0.548, 0.674),
    (13, 9): (0.598, 0.705),
}


def masked(length: int, k: int) -> tuple[tm.Microdata, tm.Microdata]:
    table = read_table(CENSUS)
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in table.column_names])
    data = tm.Microdata.from_frame(table, schema)
    method = tm.Microaggregation(k, keep_variance=True, attributes=table.column_names[:length])
    return data, method.mask(data, np.random.default_rng(0)).data


@pytest.mark.parametrize(("length", "k"), PRINTED)
def test_table_2(length: int, k: int) -> None:
    found = information_loss(*masked(length, k))
    assert found.values is not None
    parts = (found.values.overall, found.covariances.overall, found.correlations.overall)
    *printed, whole = PRINTED[length, k]
    assert found.means.overall == pytest.approx(0, abs=1e-12)
    assert found.variances.overall == pytest.approx(0, abs=1e-12)
    if (length, k) in OTHER_LAST_GROUP:
        assert found.overall == pytest.approx(whole, rel=0.02)
        assert parts == pytest.approx(printed, rel=0.03)
    else:
        assert parts == pytest.approx(printed, abs=5.1e-4)
        assert found.overall == pytest.approx(whole, abs=0.02)


@pytest.mark.parametrize(("length", "k"), PROBABILISTIC)
def test_table_3(length: int, k: int) -> None:
    found = probabilistic_loss(*masked(length, k))
    assert found.means.overall == pytest.approx(0, abs=1e-6)
    assert found.variances.overall == pytest.approx(0, abs=1e-6)
    assert (found.covariances.overall, found.correlations.overall) == pytest.approx(PROBABILISTIC[length, k], abs=6e-4)
