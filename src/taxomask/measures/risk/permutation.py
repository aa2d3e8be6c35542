"""The permutation paradigm: whatever a method does, how far has it moved each record in each attribute?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Microdata, Role
from ...microdata.combinations import numbered
from ..measure import Figure, Measure
from ..plain import Result
from ..ranks import Places, places
from ..side_by_side import side_by_side
from ._nearest_ranks import near_pairs
from .inputs import check_linked, chosen
from .rates import Rate

__all__ = [
    "PERMUTATION", "MaximumKnowledge", "Moved", "PermutationDistance", "permutation_distance", "permutation_distances",
]  # fmt: skip

Float = NDArray[np.float64]

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_ENDS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # where the rows of the histogram end
_RANDOM = 3  # tables in random order that the intruder is compared with
_LINKED = 5_000  # records of a longer table that are linked


@dataclass(frozen=True)
class Moved:
    """How far records moved, as a share of the ranks: the mean, quantiles and a histogram.

    ``smallest`` is the mean of the smallest distances that ties allow, ``unmoved`` the share of records for which that
    is 0, and ``baseline`` the mean in a random order.
    """

    n: int
    mean: float
    smallest: float
    unmoved: float
    baseline: float
    quantiles: Mapping[str, float]
    counts: Mapping[str, int]


@dataclass(frozen=True)
class MaximumKnowledge:
    """What an intruder reaches who knows all original and all released records, but not which is which.

    ``links`` is the share of records whose nearest released record, by ranks, is their own; its baseline is what the
    same intruder reaches where every column is in random order. ``nearest`` is the mean distance to that record, a
    share of the ranks per attribute, and ``nearest_at_random`` the same in random order: where they are about equal the
    intruder cannot tell links from chance.
    """

    links: Rate
    nearest: float
    nearest_at_random: float


@dataclass(frozen=True)
class PermutationDistance(Result):
    """The permutation distances of a table: by attribute, of whole records, and what the best informed intruder finds.

    ``records_mean`` and ``records_largest`` sum up, over the records, the mean and the largest of their attributes.
    """

    attributes: Mapping[str, Moved]
    records_mean: Moved
    records_largest: Moved
    intruder: MaximumKnowledge | None


def permutation_distance(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> PermutationDistance:
    """How far each record has moved in each attribute, as a share of the ranks, after reverse mapping.

    Any masked column can be turned into a permutation of the original one by giving each record the original value of
    the same rank; what is left is that permutation. The permutation distance of a record in an attribute is the change
    of its rank, divided by n - 1: 0 where it kept its place, 1 from one end to the other. Equal values, original or
    released, are ranked at random: what is given is the mean over all such orders, and beside it the smallest that is
    possible. In one random order of all records the mean is about a third.

    Values are ranked as for `change_in_rank`. Records where either value is missing are left out of that attribute.

    References
    ----------
    Domingo-Ferrer, Muralidhar (2016), New directions in anonymization: permutation paradigm, verifiability by subjects
    and intruders, transparency to users, arXiv 1501.04186.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> before = tm.Microdata.from_frame(pa.table({"age": [20, 30, 40, 50, 60]}), schema)
    >>> after = tm.Microdata.from_frame(pa.table({"age": [32, 25, 40, 70, 50]}), schema)
    >>> permutation_distances(before, after)["age"][0]
    array([0.25, 0.25, 0.  , 0.25, 0.25])
    >>> found = permutation_distance(before, after)
    >>> found.attributes["age"].mean, found.attributes["age"].baseline
    (0.2, 0.4)
    """
    names = chosen(original, released, attributes)
    check_linked(original, released, "the permutation distance")
    columns = side_by_side(original, released, names)
    distances = {name: _distances(*pair) for name, pair in columns.items()}
    expected = np.column_stack([one for one, _ in distances.values()])
    smallest = np.column_stack([one for _, one in distances.values()])
    known = ~np.isnan(expected).all(axis=1)
    found = {name: _summed_up(one[~np.isnan(one)], least[~np.isnan(one)]) for name, (one, least) in distances.items()}
    baseline = float(np.mean([one.baseline for one in found.values()]))
    return PermutationDistance(
        found,
        _summed_up(np.nanmean(expected[known], axis=1), np.nanmean(smallest[known], axis=1), baseline),
        _summed_up(np.nanmax(expected[known], axis=1), np.nanmax(smallest[known], axis=1), np.nan),
        _intruder(columns, np.random.default_rng(0) if rng is None else rng),
    )


def permutation_distances(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None
) -> dict[str, tuple[Float, Float]]:
    """For each attribute the permutation distance of each record: expected over ties, and the smallest possible.

    NaN where a value is missing; see `permutation_distance`.
    """
    names = chosen(original, released, attributes)
    check_linked(original, released, "the permutation distance")
    return {name: _distances(*pair) for name, pair in side_by_side(original, released, names).items()}


def _distances(before: Column, after: Column) -> tuple[Float, Float]:
    x, y = places(before, after)
    present = (x >= 0) & (y >= 0)
    expected, smallest = np.full(len(x), np.nan), np.full(len(x), np.nan)
    ranks = max(int(present.sum()) - 1, 1)
    mean, least = _between(*_ends_of_ties(x[present]), *_ends_of_ties(y[present]))
    expected[present], smallest[present] = mean / ranks, least / ranks
    return expected, smallest


def _ends_of_ties(places: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last rank that each record may have."""
    counts = np.bincount(places)
    last = np.cumsum(counts)
    return (last - counts + 1)[places], last[places]


def _between(
    a1: NDArray[np.int64], a2: NDArray[np.int64], b1: NDArray[np.int64], b2: NDArray[np.int64]
) -> tuple[Float, Float]:
    """The mean of |u - v| over u in a1 … a2 and v in b1 … b2, and the smallest.

    Where the two do not overlap the mean is the difference of their middles. Otherwise it comes from
    F(t) = (|t|³ - |t|) / 6, whose second difference is |t|: the sum over all pairs is
    F(a2 - b1 + 1) - F(a1 - b1) - F(a2 - b2) + F(a1 - b2 - 1).
    """
    gap = np.maximum(np.maximum(b1 - a2, a1 - b2), 0)
    middles = np.abs((a1 + a2) - (b1 + b2)) / 2

    def cubic(t: NDArray[np.int64]) -> Float:
        size = np.abs(t).astype(np.float64)
        return (size**3 - size) / 6

    total = cubic(a2 - b1 + 1) - cubic(a1 - b1) - cubic(a2 - b2) + cubic(a1 - b2 - 1)
    pairs = (a2 - a1 + 1).astype(np.float64) * (b2 - b1 + 1)
    return np.where(gap > 0, middles, total / pairs), gap.astype(np.float64)


def _summed_up(expected: Float, smallest: Float, baseline: float | None = None) -> Moved:
    n = len(expected)
    if not n:
        return Moved(0, np.nan, np.nan, np.nan, np.nan, {}, {})
    if baseline is None:
        baseline = (n + 1) / (3 * n)  # the mean of |u - v| over all pairs of ranks, (n² - 1) / 3n, as a share of n - 1
    cut = np.bincount(np.searchsorted(_ENDS, np.clip(expected, 0, 1) - 1e-12), minlength=len(_ENDS)).tolist()
    labels = ["0", *(f"up to {100 * end:g} %" for end in _ENDS[1:])]
    values = np.quantile(expected, QUANTILES).tolist()
    return Moved(
        n,
        float(expected.mean()),
        float(smallest.mean()),
        float((smallest == 0).mean()),
        baseline,
        {f"{100 * one:g} %": value for one, value in zip(QUANTILES, values, strict=True)},
        dict(zip(labels, cut, strict=True)),
    )


# --------------------------------------------------------------------------------------- who knows both tables


def _intruder(columns: Mapping[str, tuple[Column, Column]], rng: np.random.Generator) -> MaximumKnowledge | None:
    """Links by ranks, which is all that is left to an intruder once values are mapped back; None for a single record.

    Records with equal ranks in all attributes share the chance. A missing value is ranked in the middle.
    """
    ranked = [tuple(_rank_shares(one) for one in places(*pair)) for pair in columns.values()]
    x, y = np.column_stack([before for before, _ in ranked]), np.column_stack([after for _, after in ranked])
    n = len(x)
    if n < 2:
        return None
    rows = np.arange(n) if n <= 4 * _LINKED else np.sort(rng.choice(n, _LINKED, replace=False))
    hits, nearest = _links(x[rows], y, rows)
    at_random = []
    for _ in range(_RANDOM):
        orders = [rng.permutation(n) for _ in columns]
        at_random.append(_links(x[rows], np.column_stack([y[order, j] for j, order in enumerate(orders)]), rows))
    return MaximumKnowledge(
        Rate.of(hits, len(rows), float(np.mean([found for found, _ in at_random])) / len(rows)),
        nearest,
        float(np.mean([away for _, away in at_random])),
    )


def _rank_shares(places: Places) -> Float:
    """The mean rank of each record, from 0 to 1; a missing value is in the middle."""
    present = places >= 0
    shares = np.full(len(places), 0.5)
    first, last = _ends_of_ties(places[present])
    shares[present] = ((first + last) / 2 - 1) / max(int(present.sum()) - 1, 1)
    return shares


def _links(x: Float, y: Float, rows: NDArray[np.int64]) -> tuple[float, float]:
    """The expected number of right links of some original records, and how far their nearest released one is.

    Where there are more released records at the same distance than `near_pairs` tells apart, it is overstated.
    """
    twice = np.rint(2 * (len(y) - 1) * y).astype(np.int64)  # ranks, and halves of them, are whole numbers then
    own, first = numbered(twice.T, len(y))
    sizes, nearest = np.bincount(own), np.full(len(x), np.inf)
    hits = 0.0
    for query, place, away in near_pairs(y[first], x):
        np.minimum.at(nearest, query, away)
        tied = away <= nearest[query] * (1 + 1e-9) + 1e-12
        query, place = query[tied], place[tied]
        candidates = np.bincount(query, sizes[place], len(x))
        right = np.bincount(query, place == own[rows[query]], len(x))
        hits += float((right / np.maximum(candidates, 1)).sum())
    return hits, float(nearest.mean() / np.sqrt(x.shape[1]))


PERMUTATION = Measure(
    "permutation",
    title="permutation distance",
    about="How far records moved on average, as a share of the ranks, after reverse mapping; 0 gives the order away, a "
    "random order has about a third.",
    paper="permutation distance",
    compute=lambda tables, _: permutation_distance(*tables.both, rng=tables.rng),
    seconds=lambda tables: 4e-6 * tables.n * tables.known,
    sampled=True,
    where="attributes.*.mean",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    more=(
        Figure(
            "records_mean.mean",
            "permutation distance of a record",
            "The mean over its columns, on average over the records.",
        ),
        Figure(
            "intruder.links.value",
            "found by the maximum-knowledge intruder",
            "The share of records that an intruder finds by ranks who knows all original and all released records.",
            rates=lambda found: (
                {
                    "records found by ranks, knowing all original records": found.intruder.links,
                }
                if found.intruder is not None
                else {}
            ),
        ),
    ),
)
