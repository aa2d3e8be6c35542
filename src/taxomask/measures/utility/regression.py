"""Do regressions on the release come to the same conclusions?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_number
from ...engines import Engine
from ...microdata import Column, Kind, Microdata
from ..measure import Measure, Tables
from ..side_by_side import side_by_side
from ._design import Design
from .result import Loss, mean_of

__all__ = ["REGRESSION", "regression_overlap"]

Float = NDArray[np.float64]
Fit = dict[int, tuple[float, float]]


def regression_overlap(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    confidence: float = 0.95,
) -> Loss:
    """1 - the overlap of the confidence intervals of regression coefficients, in [0, 1].

    Each continuous attribute is explained by all others (ordinary least squares): numbers and ordinal positions,
    indicators of frequent categories and of the chapters of a taxonomy, the rest and missing values being groups of
    their own. The overlap of two intervals is the mean of the shares that their common part has of each; 0 if they are
    disjoint or if the release cannot tell the coefficient any more. ``each`` has an entry for every attribute and term,
    ``before`` and ``after`` the coefficients, in standard deviations of the original. Records without the explained
    value are left out.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter, Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality, The American Statistician 60.
    """
    check_number("confidence", confidence, above=0, at_most=1)
    columns = side_by_side(original, released, attributes)
    design = Design.of(columns)
    both = ({name: pair[when] for name, pair in columns.items()} for when in (0, 1))
    tables = [_Table(design, _products(design, one), confidence) for one in both]
    gaps = {
        name: int(x.missing.sum() + y.missing.sum())
        for name, (x, y) in columns.items()
        if x.attribute.kind == Kind.CONTINUOUS
    }
    return _compared(design, tables, gaps)


def _overlap_on(engine: Engine, tables: Tables) -> Loss:
    """The same of long tables."""
    columns = tables.columns
    design, names = Design.on(engine, columns), list(columns)
    explained = [name for name, (x, _) in columns.items() if x.attribute.kind == Kind.CONTINUOUS]
    found, gaps = [], dict.fromkeys(names, 0)
    for when in (0, 1):
        some = [columns[name][when] for name in names]
        grams = engine.fold(_grams, _added, some, names, design, explained, what="adding up")
        found.append(_Table(design, grams.__getitem__, 0.95))
        for name in explained:
            gaps[name] += len(columns[name][when]) - round(float(grams[name][0, 0]))
    return _compared(design, found, {name: gaps[name] for name in explained})


def _grams(*columns_and_names: Any) -> dict[str, Float]:
    """The products of all columns of a design over the records of a chunk, with the value that is explained."""
    *columns, names, design, explained = columns_and_names
    table = dict(zip(names, columns, strict=True))
    products = _products(design, table)
    return {name: products(name) for name in explained}


def _added(one: dict[str, Float], other: dict[str, Float]) -> dict[str, Float]:
    return {name: products + other[name] for name, products in one.items()}


def _compared(design: Design, tables: Sequence[_Table], gaps: Mapping[str, int]) -> Loss:
    each: dict[tuple[str, str], float] = {}
    before: dict[tuple[str, str], float] = {}
    after: dict[tuple[str, str], float] = {}
    left_out: dict[str, int] = {}
    for name, gone in gaps.items():
        others = [0, *(i for one, place in design.places.items() if one != name for i in place)]
        true = tables[0].fit(name, others)
        found = tables[1].fit(name, list(true))
        for term in sorted(true.keys() - {0}):
            key = (name, design.names[term])
            before[key], after[key] = true[term][0], found[term][0] if term in found else math.nan
            each[key] = 1 - _overlap(true[term], found[term]) if term in found else 1.0
        if gone:
            left_out[name] = gone
    return Loss(mean_of(each.values()), each, before, after, left_out)


class _Table:
    """One table as a regression sees it: the products of all columns of its design, summed over the records."""

    def __init__(self, design: Design, products: Callable[[str], Float], confidence: float) -> None:
        self.design, self.products, self.confidence = design, products, confidence

    def fit(self, response: str, terms: list[int]) -> Fit:
        """Each coefficient that can be told with half its confidence interval; none if there are too few records."""
        from scipy.special import stdtrit

        target = self.design.places[response].start
        gram = self.products(response)
        n = gram[0, 0]
        kept = _independent(gram, terms)
        freedom = n - len(kept)
        if freedom <= 0:
            return {}
        inverse = np.linalg.inv(gram[np.ix_(kept, kept)])
        coefficients = inverse @ gram[kept, target]
        rest = gram[target, target] - coefficients @ gram[kept, target]
        if rest < 1e-10 * gram[target, target]:
            rest = 0.0  # a perfect fit, but for rounding
        half = stdtrit(freedom, (1 + self.confidence) / 2) * np.sqrt(rest / freedom * np.diag(inverse))
        return {term: (float(b), float(h)) for term, b, h in zip(kept, coefficients, half, strict=True)}


def _products(design: Design, columns: Mapping[str, Column]) -> Callable[[str], Float]:
    """The products of all columns of a design, summed over the records that have a value of some column."""

    @cache
    def whole() -> Float:
        return over(np.arange(len(next(iter(columns.values())))))

    def over(rows: NDArray[np.int64]) -> Float:
        total = np.zeros((design.width, design.width))
        for block in design.blocks(columns, rows):
            total += block.T @ block
        return total

    def products(response: str) -> Float:
        missing = columns[response].missing
        return over(np.flatnonzero(~missing)) if missing.any() else whole()

    return products


def _independent(gram: Float, terms: list[int]) -> list[int]:
    """The terms that are no combination of those before them."""
    kept: list[int] = []
    work = gram[np.ix_(terms, terms)].copy()
    size = np.diag(work).copy()
    for i, term in enumerate(terms):
        if work[i, i] > 1e-9 * size[i]:
            kept.append(term)
            work -= np.outer(work[:, i], work[i]) / work[i, i]
    return kept


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    away = other[0] - one[0]  # so that of two equal intervals nothing is lost by rounding
    common = min(one[1], away + other[1]) - max(-one[1], away - other[1])
    if common < -1e-9:
        return 0.0
    shares = [min(max(common, 0.0) / (2 * half), 1.0) if half > 0 else 1.0 for _, half in (one, other)]
    return sum(shares) / 2


REGRESSION = Measure(
    "regression",
    title="regression",
    about="How much of the confidence intervals of regressions no longer overlaps: 0 is nothing, 1 is all.",
    paper="1 − overlap",
    compute=lambda tables, _: regression_overlap(*tables.aligned),
    on_engine=_overlap_on,
    seconds=lambda tables: 2e-7 * tables.cells,
)
