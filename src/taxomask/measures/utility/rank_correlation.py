"""How attributes hang together by rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...methods import Progress
from ...microdata import Microdata
from ..measure import Measure
from ..ranks import Places, places, ranks
from ..side_by_side import side_by_side
from ._moments import sum_of_products
from .result import Loss, mean_of, twice

__all__ = ["RANK_CORRELATIONS", "rank_correlations"]


def rank_correlations(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> Loss:
    """|r(X', Y') - r(X, Y)| of every pair of attributes, r being Spearman's rank correlation.

    Nominal and taxonomic values are ranked by their marginality in the original table, then in the order of the
    categories. 0 if either attribute does not vary. Over the records that have both values.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, PSD 2014.
    """
    columns = side_by_side(original, released, attributes)
    found = {name: places(x, y) for name, (x, y) in columns.items()}
    before, after = twice(
        columns, lambda when: _Ranks({name: both[when] for name, both in found.items()}).correlation, progress
    )
    each = {key: abs(after[key] - before[key]) for key in before}
    return Loss(mean_of(each.values()), each, before, after)


class _Ranks:
    """Ranks of a table; those of a column without missing values are made once."""

    def __init__(self, columns: Mapping[str, Places]) -> None:
        self.columns = columns
        self.whole = {name: ranks(one) for name, one in columns.items() if one.min(initial=0) >= 0}

    def correlation(self, a: str, b: str) -> float:
        """Spearman's, over the records that have both values; 0 if either does not vary."""
        if a in self.whole and b in self.whole:
            (u, size_u), (v, size_v) = self.whole[a], self.whole[b]
        else:
            x, y = self.columns[a], self.columns[b]
            both = (x >= 0) & (y >= 0)
            (u, size_u), (v, size_v) = ranks(x[both]), ranks(y[both])
        return sum_of_products(u, v) / (size_u * size_v) if size_u * size_v > 0 else 0.0


RANK_CORRELATIONS = Measure(
    "rank_correlations",
    title="rank correlations",
    about="The mean absolute change of Spearman's rank correlation, over all pairs.",
    paper="|r_sz − r_sx|",
    unit="change",
    compute=lambda tables, told: rank_correlations(*tables.aligned, progress=told),
    seconds=lambda tables: (1e-4 + 3.5e-9 * tables.n) * (tables.pairs + tables.changed_pairs),
    sampled=True,
)
