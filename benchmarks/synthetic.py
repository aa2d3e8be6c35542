"""Made-up taxonomies of any size."""

from __future__ import annotations

import numpy as np

from taxomask.taxonomy import Taxonomy
from taxomask.taxonomy.listing import Listing
from taxomask.taxonomy.order import arrange


def random_taxonomy(concepts: int, depth: int, second_parents: float = 0.0, seed: int = 0) -> Taxonomy:
    """Levels that grow by a constant factor; a share of the concepts has a second parent one or two levels up."""
    rng = np.random.default_rng(seed)
    growth = np.linspace(1, 100, 100_000)
    totals = sum(np.rint(growth**level) for level in range(depth))
    factor = growth[np.argmax(totals >= concepts)]
    start = np.concatenate([[0], np.cumsum([int(np.rint(factor**level)) for level in range(depth)])])
    listing = Listing("synthetic", ids=[f"{i:06}" for i in range(start[-1])])
    listing.labels = listing.codes = [""] * len(listing.ids)
    listing.lines = [0] * len(listing.ids)
    for level in range(1, depth):
        children = np.arange(start[level], start[level + 1])
        parents = rng.integers(start[level - 1], start[level], len(children))
        doubled = children[rng.random(len(children)) < second_parents]
        others = rng.integers(start[max(level - 2, 0)], start[level], len(doubled))
        for child, parent in zip([*children, *doubled], [*parents, *others], strict=True):
            listing.link(listing.ids[child], listing.ids[parent])
    return Taxonomy(arrange(listing), "synthetic")
