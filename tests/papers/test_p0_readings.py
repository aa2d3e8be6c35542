"""P0: marginality is not one-to-one, and the page shows both readings of k and of ties."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import taxomask as tm
from papers.harness import PAGES, SEEDS
from papers.p0_marginality import sharing
from papers.p0_runs import data, hybrid, k_of_equal_risk, linked, methods, share_of, times_in_print
from taxomask.methods import Method
from taxomask.microdata import read_table

NHDS = PAGES.parents[1] / "tests" / "data" / "nhds2010"


@pytest.mark.parametrize(
    ("name", "shared", "siblings", "categories"), [("complete", 166, 128, 395), ("digestive", 55, 45, 323)]
)
def test_categories_that_share_their_marginality(name: str, shared: int, siblings: int, categories: int) -> None:
    values = read_table(NHDS / f"{name}.csv.gz", text=["dx01"])["dx01"].to_pylist()
    each = dict(zip(values, tm.marginality(values, "icd9cm", distance="edge_weight").tolist(), strict=True))
    same = Counter(each.values())
    assert (sum(same[m] > 1 for m in each.values()), len(each)) == (shared, categories)
    assert sharing(name)[:3] == (shared, siblings, categories)


def test_both_readings_are_run() -> None:
    table = data("complete")
    chosen = methods(table, 400)
    shuffling, corrected = chosen["shuffling"], chosen["shuffling, ties corrected"]
    assert isinstance(shuffling, tm.Shuffling)
    assert isinstance(corrected, tm.Shuffling)
    assert (shuffling.ties, corrected.ties) == ("paper", "corrected")
    assert chosen["micro_hybrid"] == hybrid(400)
    assert chosen["MicroHybrid, the same share"] == hybrid(173)
    assert share_of(table.n) == 173  # 600 of 19,502


@pytest.mark.slow
def test_the_k_of_equal_risk_is_the_first_hundred_with_the_printed_ratio() -> None:
    assert times_in_print("shuffling") == pytest.approx(7, abs=0.001)  # 7 records for 1
    assert times_in_print("imputation") == pytest.approx(7 / 3, abs=0.001)
    table = data("complete")

    def risk(method: Method) -> float:
        return float(
            np.mean([linked(table, method.mask(table, np.random.default_rng(seed)).data, "paper") for seed in SEEDS])
        )

    k, most = k_of_equal_risk(table), 7 * risk(methods(table, 100)["shuffling"])
    assert k % 100 == 0
    assert risk(hybrid(k)) <= most < risk(hybrid(k - 100))


def test_the_page_shows_both_readings() -> None:
    text = (PAGES / "p0.md").read_text(encoding="utf-8")
    header = next(line for line in text.splitlines() if "MicroHybrid, balanced" in line)
    assert "| shuffling |" in header
    assert "| shuffling, ties corrected |" in header
    assert "| micro_hybrid | " in header
    assert "| MicroHybrid, the same share |" in header
    assert "- **does not hold**: the mapping from categories to marginalities is one-to-one" in text
    assert "166 of 395 categories share their marginality" in text
