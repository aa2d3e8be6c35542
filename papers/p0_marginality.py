"""P0: whether the marginality of a category tells which category it is, as shuffling by marginality assumes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

import taxomask as tm
from papers.harness import Claim, Page, number
from papers.p0_runs import data
from taxomask.semantics import category_marginality


def sharing(name: str) -> tuple[int, int, int, float]:
    """How many diagnoses share their marginality, with a sibling as frequent, of how many; the share of the records."""
    column: Any = data(name).columns["dx01"]
    marginality, counts = category_marginality(column).tolist(), column.counts.tolist()
    tree = tm.Taxonomy.builtin("icd9cm")
    parents = [tuple(parent.id for parent in tree[code].parents) for code in column.categories]
    same, siblings = Counter(marginality), Counter(zip(marginality, parents, counts, strict=True))
    shared = [same[m] > 1 for m in marginality]
    explained = sum(siblings[one] > 1 for one in zip(marginality, parents, counts, strict=True))
    return sum(shared), explained, len(shared), float(np.dot(shared, counts) / sum(counts))


def one_to_one(page: Page) -> None:
    shared, siblings, categories, records = sharing("complete")
    also, _, of, _ = sharing("digestive")
    page.key("categories that share their marginality", float(shared))
    page.text("## Marginality as a number")
    page.claim(
        Claim(
            "the mapping from categories to marginalities is one-to-one with great probability, so that shuffled "
            "marginalities can be mapped back",
            not shared,
            f"{shared} of {categories} categories share their marginality with another one, and so do "
            f"{number(100 * records, 2)} % of the records; {siblings} of them share it with a sibling that is as "
            f"frequent and so equally far from all others. Of the digestive diagnoses (below) {also} of {of} share "
            "theirs. Here nothing is mapped back: categories are ranked by marginality, then in the order of the "
            "taxonomy, and the categories themselves are shuffled.",
        )
    )
