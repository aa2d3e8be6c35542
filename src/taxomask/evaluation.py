"""What a release costs and what it risks, measured on both tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import DataError, SchemaError
from .measures import Utility, measure_utility, overall_loss
from .measures.risk import (
    ClassSizes,
    Closeness,
    Diversity,
    IndividualRisk,
    Inference,
    IntervalDisclosure,
    Linkage,
    RankCorrelation,
    Reidentification,
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
from .methods import Method
from .microdata import Column, Microdata, Role, Schema
from .microdata.frames import Frame
from .release import Release

__all__ = ["Evaluation", "Risk", "evaluate", "evaluate_release", "measure_risk", "summary"]

SMALL = 20_000  # records up to which linkage by every pair of attributes is a matter of seconds


@dataclass(frozen=True, eq=False)
class Risk:
    """What a release risks. What needs to know which record is which is None for unlinked tables."""

    classes: ClassSizes
    reidentification: Reidentification
    linkage: Linkage | None
    partial_linkage: tuple[Linkage, ...]
    intervals: IntervalDisclosure | None
    rank_correlation: Mapping[str, RankCorrelation]
    diversity: Mapping[str, Diversity]
    closeness: Mapping[str, Closeness]
    inference: Mapping[str, Inference]
    individual: IndividualRisk | None = None

    def to_dict(self) -> dict[str, Any]:
        """The numbers in plain values."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Utility and risk of a release, with a few numbers that sum it up.

    ``headline`` has ``risk`` (the expected share of right links; NaN for unlinked tables), ``loss`` (0 is none, 1 is
    every record replaced by the mean), ``score`` (their mean in percent, with interval disclosure as a half of the
    risk) and what else fits on a line.
    """

    original: Microdata
    released: Microdata
    utility: Utility
    risk: Risk
    headline: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """All numbers in plain values, for JSON."""
        return {
            "headline": _plain(self.headline),
            "utility": self.utility.to_dict(),
            "risk": self.risk.to_dict(),
        }

    def to_frame(self) -> Any:
        """All numbers as a pyarrow table with one row each: where it stands, and its value."""
        import pyarrow as pa

        rows = list(_flat(self.to_dict()))
        return pa.table({"measure": [name for name, _ in rows], "value": pa.array([v for _, v in rows], pa.float64())})

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        release: Release | None = None,
        method: Method | None = None,
        compared: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a report for the custodian as one HTML page; with the release, its promises too.

        ``compared`` is the ``page()`` of a risk-utility map to be shown with it.
        """
        from .evaluation_page import page
        from .report import write_page

        write_page(path, "evaluation.html", compared=compared, **page(self, release, method))


def evaluate(
    original: Any,
    protected: Any,
    schema: Schema,
    *,
    order: ArrayLike | None = None,
    linked: bool | None = None,
    control: Any = None,
    weights: ArrayLike | str | None = None,
    seed: int = 0,
) -> Evaluation:
    """Measure a protected table against the original one.

    Parameters
    ----------
    original, protected
        The tables (pandas, polars or pyarrow).
    schema
        What the columns are.
    order
        Row i of the protected table is row ``order[i]`` of the original; by default both are in the same order.
    linked
        Whether the rows correspond at all, which those of fully synthetic tables do not; by default if there are as
        many in both.
    control
        A table of people who are not in the original: what is guessed about them is no disclosure.
    weights
        How many people of the population each protected record stands for, or the name of the column that says it, for
        the individual risk of a survey.
    seed
        For the subsamples of some measures.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.Microaggregation(k=2))
    >>> found = tm.evaluate(table, release.data, schema)
    >>> round(found.headline["loss"], 4), found.headline["risk"], found.headline["k"]
    (0.001, 0.5, 2)
    """
    before = Microdata.from_frame(original, schema)
    after = Microdata.from_frame(protected, _released(schema, Frame(protected)))
    if order is not None:
        after = _in_order(after, np.asarray(order, dtype=np.int64))
    others = None if control is None else Microdata.from_frame(control, _released(schema, Frame(control)))
    alike = before.n == after.n if linked is None else linked
    return _measured(before, after, linked=alike, control=others, weights=weights, seed=seed)


def evaluate_release(release: Release, *, seed: int = 0) -> Evaluation:
    """Measure what `protect` returned."""
    return _measured(release.original, release.released, linked=release.linked, seed=seed)


def _measured(
    original: Microdata,
    released: Microdata,
    *,
    linked: bool,
    control: Microdata | None = None,
    weights: ArrayLike | str | None = None,
    seed: int,
) -> Evaluation:
    utility = measure_utility(original, released, rng=np.random.default_rng(seed), linked=linked)
    risk = measure_risk(original, released, linked=linked, control=control, weights=weights)
    loss = utility.overall.overall if utility.overall is not None else math.nan
    return Evaluation(original, released, utility, risk, _headline(loss, risk.linkage, risk.intervals, risk.classes))


def measure_risk(
    original: Microdata,
    released: Microdata,
    *,
    linked: bool = True,
    control: Microdata | None = None,
    weights: ArrayLike | str | None = None,
) -> Risk:
    """Every measure of risk that needs no further knowledge."""
    tables = original, released
    hidden = [name for name in original.schema.confidential if name in released.columns]
    most = 2 if original.n <= SMALL else 1
    return Risk(
        classes=class_sizes(*tables),
        reidentification=reidentification(*tables),
        linkage=record_linkage(*tables) if linked else None,
        partial_linkage=partial_linkage(*tables, most=most) if linked else (),
        intervals=interval_disclosure(*tables) if linked else None,
        rank_correlation=rank_correlation(*tables) if linked else {},
        diversity={name: l_diversity(*tables, name) for name in hidden},
        closeness={name: t_closeness(*tables, name) for name in hidden if _quick(original, name)},
        inference={name: inference(*tables, name, control=control) for name in hidden},
        individual=None if weights is None else individual_risk(*tables, weights),
    )


def summary(release: Release) -> dict[str, float]:
    """The few numbers that sum up a release, without the slower measures."""
    if not release.linked:
        raise DataError(
            "records of the release are not linked to original ones, so that risk and loss by record are not defined.",
            hint="Look at it with evaluate(…, linked=False).",
        )
    tables = release.original, release.released
    loss = overall_loss(*tables).overall
    return _headline(loss, record_linkage(*tables), interval_disclosure(*tables), class_sizes(*tables))


def _headline(
    loss: float, linkage: Linkage | None, intervals: IntervalDisclosure | None, classes: ClassSizes
) -> dict[str, float]:
    """Score = (IL + DR) / 2 with IL = 100·loss and DR = 100·mean(right links, interval disclosure)."""
    risk = linkage.expected.value if linkage is not None else math.nan
    interval = intervals.mean if intervals is not None else math.nan
    return {
        "risk": risk,
        "loss": loss,
        "score": 50 * (loss + (risk + interval) / 2),
        "interval_disclosure": interval,
        "k": classes.k,
        "uniques": classes.uniques,
    }


# --------------------------------------------------------------------------------------- inside


def _released(schema: Schema, frame: Frame) -> Schema:
    """The schema of a table without identifiers."""
    absent = [name for name, one in schema.items() if one.role != Role.IDENTIFIER and name not in frame.names]
    if absent:
        raise SchemaError(
            f"the protected table has no column {', '.join(map(repr, absent))}.",
            hint="Compare a table with all columns that are not identifiers.",
        )
    return Schema(one for name, one in schema.items() if name in frame.names)


def _in_order(data: Microdata, order: NDArray[np.int64]) -> Microdata:
    if not np.array_equal(np.sort(order), np.arange(data.n)):
        raise DataError(f"order is not an order of the {data.n:,} rows.", hint="Pass each row number once, from 0.")
    inverse = np.empty(data.n, dtype=np.int64)
    inverse[order] = np.arange(data.n)
    return data.take(inverse)


def _quick(data: Microdata, name: str) -> bool:
    """Whether the earth mover's distance of many classes is a matter of seconds: not on a taxonomy that is no tree."""
    attribute = data.schema[name]
    return attribute.taxonomy is None or all(taxonomy.is_tree for taxonomy, _ in attribute.taxonomies)


def _plain(value: Any) -> Any:
    """Plain values; what there is one of per record is left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: _plain(one) for name, one in pairs if not isinstance(one, np.ndarray | Column)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _flat(value: Any, place: str = "") -> Any:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{place}.{number}")
    elif value is None or isinstance(value, int | float):
        yield place, None if value is None else float(value)
