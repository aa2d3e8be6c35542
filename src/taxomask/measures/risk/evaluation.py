"""All measures of risk at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ...methods import Progress
from ...microdata import Microdata
from ..plain import Result
from ..turns import in_turn
from . import (
    ChangeInRank,
    ClassSizes,
    Closeness,
    Diversity,
    IndividualRisk,
    Inference,
    IntervalDisclosure,
    Linkage,
    RankCorrelation,
    Reidentification,
    change_in_rank,
    class_sizes,
    individual_risk,
    inference,
    interval_disclosure,
    l_diversity,
    partial_linkage,
    rank_correlation,
    record_linkage,
    reidentification,
    t_closeness,
)

__all__ = ["Risk", "risk_measures", "risk_seconds"]

SMALL = 20_000  # records up to which linkage by every pair of attributes is a matter of seconds


@dataclass(frozen=True, eq=False)
class Risk(Result):
    """What a release risks. What needs to know which record is which is None for unlinked tables."""

    classes: ClassSizes
    reidentification: Reidentification
    linkage: Linkage | None
    partial_linkage: tuple[Linkage, ...]
    intervals: IntervalDisclosure | None
    rank_correlation: Mapping[str, RankCorrelation]
    change_in_rank: Mapping[str, ChangeInRank]
    diversity: Mapping[str, Diversity]
    closeness: Mapping[str, Closeness]
    inference: Mapping[str, Inference]
    individual: IndividualRisk | None = None

    def __repr__(self) -> str:
        links = "" if self.linkage is None else f"right links {self.linkage.expected.value:.4g}, "
        return f"<Risk: {links}k {self.classes.k}, uniques {self.classes.uniques}>"


def risk_measures(
    original: Microdata,
    released: Microdata,
    *,
    linked: bool,
    control: Microdata | None = None,
    weights: ArrayLike | str | None = None,
) -> dict[str, Callable[[Progress | None], Any]]:
    """What measures each field of `Risk`, given a progress to tell."""
    tables = original, released
    hidden = _hidden(original, released)
    quick = [name for name in hidden if _quick(original, name)]
    most = 2 if original.n <= SMALL else 1
    return {
        "classes": lambda _: class_sizes(*tables),
        "reidentification": lambda _: reidentification(*tables),
        "linkage": lambda _: record_linkage(*tables) if linked else None,
        "partial_linkage": lambda _: partial_linkage(*tables, most=most) if linked else (),
        "intervals": lambda _: interval_disclosure(*tables) if linked else None,
        "rank_correlation": lambda _: rank_correlation(*tables) if linked else {},
        "change_in_rank": lambda _: change_in_rank(*tables) if linked else {},
        "diversity": lambda told: _each(hidden, lambda name: l_diversity(*tables, name), told),
        "closeness": lambda told: _each(quick, lambda name: t_closeness(*tables, name), told),
        "inference": lambda told: _each(hidden, lambda name: inference(*tables, name, control=control), told),
        "individual": lambda _: None if weights is None else individual_risk(*tables, weights),
    }


def _each(names: Sequence[str], measure: Callable[[str], Any], progress: Progress | None) -> dict[str, Any]:
    def measured(name: str) -> Callable[[Progress | None], Any]:
        return lambda _: measure(name)

    return in_turn({name: measured(name) for name in names}, dict.fromkeys(names, 1.0), progress)


def _hidden(original: Microdata, released: Microdata) -> list[str]:
    return [name for name in original.schema.confidential if name in released.columns]


def risk_seconds(original: Microdata, released: Microdata) -> dict[str, float]:
    """Roughly what each measure takes, as seen on tables of 1,000 to 100,000 records."""
    known, hidden = len(original.schema.quasi_identifiers), len(_hidden(original, released))
    subsets = known * (known + 1) / 2 if original.n <= SMALL else known
    microsecond = 1e-6 * original.n
    return {
        "classes": 0.1 * known * microsecond,
        "reidentification": 0.05 * known * microsecond,
        "linkage": 2 * known * microsecond,
        "partial_linkage": 0.1 * subsets * microsecond,
        "intervals": 0.2 * known * microsecond,
        "rank_correlation": 0.1 * known * microsecond,
        "change_in_rank": 0.4 * known * microsecond,
        "diversity": 0.3 * hidden * microsecond,
        "closeness": 3 * hidden * microsecond,
        "inference": 2.5 * hidden * microsecond,
        "individual": 0.1 * microsecond,
    }


def _quick(data: Microdata, name: str) -> bool:
    """Whether the earth mover's distance of many classes is a matter of seconds: not on a taxonomy that is no tree."""
    attribute = data.schema[name]
    return attribute.taxonomy is None or all(taxonomy.is_tree for taxonomy, _ in attribute.taxonomies)
