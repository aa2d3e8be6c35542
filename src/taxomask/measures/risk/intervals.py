"""How close released values stay to the original ones: interval disclosure and rank correlation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_number
from ..._support.sorting import in_order
from ...microdata import CategoricalColumn, Column, Kind, Microdata, Role, TaxonomicColumn
from ..measure import Measure
from ..plain import Result
from ..ranks import places, ranks
from ..side_by_side import side_by_side
from .inputs import check_linked, chosen
from .rates import Rate

__all__ = [
    "INTERVALS", "RANK_CORRELATION", "IntervalDisclosure", "RankCorrelation", "interval_disclosure", "rank_correlation",
]  # fmt: skip

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class IntervalDisclosure(Result):
    """For each attribute, the share of original values inside a narrow interval around the released one."""

    percent: float
    attributes: Mapping[str, Rate]

    @property
    def mean(self) -> float:
        """The mean over the attributes."""
        return float(np.mean([rate.value for rate in self.attributes.values()]))

    @property
    def baseline(self) -> float:
        """The mean of what random guesses reach."""
        return float(np.mean([rate.baseline for rate in self.attributes.values()]))


def interval_disclosure(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None, *, percent: float = 5.0
) -> IntervalDisclosure:
    """The share of records whose original value lies in the interval around the released one.

    Continuous and ordinal (rank interval): the interval of a released value reaches as many ranks up and down, among
    the released values, as ``percent`` of the records; of equal values the outermost ranks count. Taxonomic and nominal
    (semantic interval): the categories nearest to the released one that together hold at most ``percent`` of the
    released records, those at equal distance all or none; the released category itself always belongs to it.

    The baseline is the share of all original values that lie in the intervals, as if they belonged to other records.
    Records where either value is missing are left out.

    References
    ----------
    Domingo-Ferrer, Torra (2001), A quantitative comparison of disclosure control methods for microdata.
    """
    check_number("percent", percent, above=0, at_most=100)
    names = chosen(original, released, attributes)
    check_linked(original, released, "interval disclosure")
    columns = side_by_side(original, released, names)
    return IntervalDisclosure(percent, {name: _disclosure(*pair, percent) for name, pair in columns.items()})


def _disclosure(before: Column, after: Column, percent: float) -> Rate:
    present = ~(before.missing | after.missing)
    n = int(present.sum())
    if not n:
        return Rate.of(0, 0, 0.0)
    x, z = before.take(present), after.take(present)
    reach = int(percent * n / 100)
    if isinstance(x, CategoricalColumn) and isinstance(z, CategoricalColumn) and z.attribute.kind != Kind.ORDINAL:
        return _semantic(x, z, reach)
    return _ranked(x.numbers(), z.numbers(), reach)


def _ranked(x: Float, z: Float, reach: int) -> Rate:
    """In the order of the released values: what is looked up one after the other lies side by side."""
    order, new = in_order(z)
    released, known, n = z[order], np.sort(x), len(z)
    edges = np.concatenate([[0], np.flatnonzero(new) + 1, [n]])
    first, last = edges[:-1], edges[1:] - 1
    low, high = released[np.maximum(first - reach, 0)], released[np.minimum(last + reach, n - 1)]
    chance = np.searchsorted(known, high, "right") - np.searchsorted(known, low, "left")
    times = np.diff(edges)
    owner = x[order]
    inside = (np.repeat(low, times) <= owner) & (owner <= np.repeat(high, times))
    return Rate.of(int(inside.sum()), n, float(chance @ times) / n / n)


def _semantic(x: CategoricalColumn, z: CategoricalColumn, reach: int) -> Rate:
    n = len(z)
    if not isinstance(z, TaxonomicColumn):
        if reach >= n and np.count_nonzero(z.counts) > 1:  # all categories are equally far, and all of them are inside
            return Rate.of(n, n, 1.0)
        return Rate.of(int((x.codes == z.codes).sum()), n, float(x.counts @ z.counts) / n**2)
    radius, chance = np.zeros(len(z.categories)), 0.0
    for category in np.flatnonzero(z.counts).tolist():
        radius[category] = reached(z.table[category], z.counts, reach)
        inside = x.counts[z.table[category] <= radius[category]].sum()
        chance += float(z.counts[category]) * float(inside)
    hits = int((z.table[z.codes, x.codes] <= radius[z.codes]).sum())
    return Rate.of(hits, n, chance / n**2)


def reached(distances: Float, counts: Whole, most: int) -> float:
    """The largest distance within which there are at most ``most`` records; at least 0."""
    used = np.flatnonzero(counts)
    order = used[np.argsort(distances[used], kind="stable")]
    near, held = distances[order], np.cumsum(counts[order])
    last = np.append(near[1:] != near[:-1], True)  # of those at equal distance
    inside = near[last & (held <= most)]
    return float(max(inside.max(initial=0.0), 0.0))


@dataclass(frozen=True)
class RankCorrelation:
    """r_xz of an attribute with a 95 % interval; 0 is what a random permutation has."""

    value: float
    low: float
    high: float
    baseline: float
    n: int


def rank_correlation(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None
) -> dict[str, RankCorrelation]:
    """r_xz: for each attribute the rank correlation of the original and the released values.

    1 means that the released ranks give the original values away; 0 that they say nothing. Equal values have their mean
    rank. Categories are ranked by their marginality in the original table, then in the order of the taxonomy (or of the
    categories). Records where either value is missing are left out; an attribute that does not vary has 0.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, section 4.
    """
    names = chosen(original, released, attributes)
    check_linked(original, released, "rank correlation")
    return {name: _correlation(*pair) for name, pair in side_by_side(original, released, names).items()}


def _correlation(before: Column, after: Column) -> RankCorrelation:
    x, z = places(before, after)
    present = (x >= 0) & (z >= 0)
    n = int(present.sum())
    (u, size_u), (v, size_v) = ranks(x[present]), ranks(z[present])
    spread = size_u * size_v
    if spread == 0:
        return RankCorrelation(0.0, -1.0, 1.0, 0.0, n)
    r = float(np.clip((u * v).sum() / spread, -1, 1))
    half = 1.959963984540054 * np.sqrt(1.06 / (n - 3)) if n > 3 else np.inf  # of Fisher's z of a rank correlation
    middle = np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15))
    low, high = (r, r) if abs(r) == 1 and n > 3 else np.tanh([middle - half, middle + half])
    return RankCorrelation(r, float(low), float(high), 0.0, n)


INTERVALS = Measure(
    "intervals",
    title="disclosed in an interval",
    about="The share of original values close to the released one: within 5 % of the ranks, or among the nearest "
    "codes.",
    paper="rank-interval disclosure",
    compute=lambda tables, _: interval_disclosure(*tables.both),
    seconds=lambda tables: 2e-7 * tables.n * tables.known,
    sampled=True,
    where="attributes.*.value",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    headline=True,
    rates=lambda found: {
        f"{name} within {found.percent:g} % of the ranks": rate for name, rate in found.attributes.items()
    },
)
RANK_CORRELATION = Measure(
    "rank_correlation",
    title="ranks kept",
    about="The rank correlation of original and released values: 1 gives the order away, 0 is a random order.",
    paper="r_xz",
    unit="correlation",
    compute=lambda tables, _: rank_correlation(*tables.both),
    seconds=lambda tables: 1e-7 * tables.n * tables.known,
    sampled=True,
    where="*.value",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    otherwise={},
)
