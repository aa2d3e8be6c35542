"""How many ranks each record has moved in each attribute: the change in rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Microdata, Role
from ..measure import Measure
from ..ranks import places, ranks
from ..side_by_side import side_by_side
from .inputs import check_linked, chosen
from .rates import Rate

__all__ = ["CHANGE_IN_RANK", "ChangeInRank", "change_in_rank", "ranks_moved"]

Float = NDArray[np.float64]

_PRINTED = (0, 1, 2, 3, 4, 5, 10, 15, 20)  # where the rows of the paper's table end


@dataclass(frozen=True)
class ChangeInRank:
    """How many ranks the records have moved in an attribute, with what a random order of the released values gives.

    ``unchanged`` is the share of records that kept their rank, ``mean`` the mean change and ``baseline`` that in a
    random order. ``counts`` has the number of records by change, in the rows of the paper's table (0, 1, …, 5, 6–10,
    11–15, 16–20) and beyond them 21–50, 51–100, 101–200 and so on. Half ranks, which ties make, count up: 0.5 as 1.
    """

    n: int
    unchanged: Rate
    mean: float
    baseline: float
    smallest: float
    lower_quartile: float
    median: float
    upper_quartile: float
    largest: float
    counts: Mapping[str, int]


def change_in_rank(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None
) -> dict[str, ChangeInRank]:
    """For each attribute, how many ranks the records have moved: |rank of x - rank of z|, summed up over the records.

    0 for all records means that the order gives the original values away. Values are ranked as for `rank_correlation`:
    numbers as they are, ordered categories by their place on the scale, all others by their marginality in the original
    table, then in the order of the taxonomy (or sorted). Equal values have their mean rank; a category that grows or
    shrinks therefore moves all that stand behind it. Records where either value is missing are left out, and ranks are
    those among the others.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, Table 5.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> before = tm.Microdata.from_frame(pa.table({"age": [20, 30, 40, 50]}), schema)
    >>> after = tm.Microdata.from_frame(pa.table({"age": [50, 30, 20, 40]}), schema)
    >>> ranks_moved(before, after)["age"]
    array([3., 0., 2., 1.])
    >>> found = change_in_rank(before, after)["age"]
    >>> found.unchanged.value, found.mean, found.baseline, found.largest, found.counts
    (0.25, 1.5, 1.25, 3.0, {'0': 1, '1': 1, '2': 1, '3': 1})
    """
    pairs = _pairs(original, released, attributes)
    return {name: _summed_up(*_ranked(*pair)[1:]) for name, pair in pairs.items()}


def ranks_moved(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> dict[str, Float]:
    """For each attribute, how many ranks each record moved, as for `change_in_rank`; NaN where a value is missing."""
    found = {}
    for name, pair in _pairs(original, released, attributes).items():
        present, x, z = _ranked(*pair)
        found[name] = np.full(original.n, np.nan)
        found[name][present] = np.abs(x - z)
    return found


def _pairs(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None
) -> dict[str, tuple[Column, Column]]:
    names = chosen(original, released, attributes)
    check_linked(original, released, "the change in rank")
    return side_by_side(original, released, names)


def _ranked(before: Column, after: Column) -> tuple[NDArray[np.bool_], Float, Float]:
    """The records with both values, and their ranks (less the mean rank) before and after."""
    x, z = places(before, after)
    present = (x >= 0) & (z >= 0)
    return present, ranks(x[present])[0], ranks(z[present])[0]


def _summed_up(x: Float, z: Float) -> ChangeInRank:
    moved, n = np.abs(x - z), len(x)
    kept, mean = _in_random_order(x, z) if n else (0.0, np.nan)
    smallest, lower, median, upper, largest = (
        np.quantile(moved, [0, 0.25, 0.5, 0.75, 1]).tolist() if n else [np.nan] * 5
    )
    return ChangeInRank(
        n,
        Rate.of(int((moved == 0).sum()), n, kept),
        float(moved.mean()) if n else np.nan,
        mean,
        smallest,
        lower,
        median,
        upper,
        largest,
        _counts(moved) if n else {},
    )


def _in_random_order(x: Float, z: Float) -> tuple[float, float]:
    """The share of records with the same rank and the mean change if z were in random order, over all pairs.

    The mean of |U - V| is the integral of F(1 - G) + G(1 - F), for U with distribution F and V with G.
    """
    steps = np.unique(np.concatenate([x, z]))
    f, g = (np.searchsorted(np.sort(one), steps, "right") / len(one) for one in (x, z))
    same = float(np.diff(f, prepend=0.0) @ np.diff(g, prepend=0.0))
    return same, float(np.diff(steps) @ (f * (1 - g) + g * (1 - f))[:-1])


def _counts(moved: Float) -> dict[str, int]:
    ends = _ends(moved.max())
    found = np.bincount(np.searchsorted(ends, moved), minlength=len(ends)).tolist()
    starts = [0, *(end + 1 for end in ends[:-1])]
    names = (str(end) if start == end else f"{start}–{end}" for start, end in zip(starts, ends, strict=True))
    return dict(zip(names, found, strict=True))


def _ends(largest: float) -> list[int]:
    """The last change of each row, as far as rows are needed: those of the paper, then 50, 100, 200, 500 and so on."""
    ends = list(_PRINTED)
    while ends[-1] < largest:
        ends.append(ends[-1] * 5 // 2 if str(ends[-1])[0] == "2" else ends[-1] * 2)
    return [end for before, end in zip([-1, *ends], ends, strict=False) if before < largest]


CHANGE_IN_RANK = Measure(
    "change_in_rank",
    title="change in rank",
    about="By how many ranks records moved on average; 0 gives the order away.",
    paper="change in rank",
    unit="ranks",
    compute=lambda tables, _: change_in_rank(*tables.both),
    seconds=lambda tables: 4e-7 * tables.n * tables.known,
    sampled=True,
    where="*.mean",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    otherwise={},
)
