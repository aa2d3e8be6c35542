"""Unbiased counts from a table whose categories were replaced at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, SchemaError, did_you_mean
from ..microdata import Microdata, Schema
from ..microdata.coding import code
from ..microdata.frames import Frame
from ._ancestors import cut
from ._transition import Transition
from .base import Method

__all__ = ["EstimatedCounts", "estimate_counts"]

Float = NDArray[np.float64]
MOST_VALUES = 5_000  # without classes: a table of 5,000 x 5,000 probabilities takes 200 MB
ILL = 1e10  # of a condition number: ten of the sixteen digits are lost
AT_ONCE = 500  # groups of values


@dataclass(frozen=True, eq=False)
class EstimatedCounts:
    """Estimated counts of values, or of what is above them in a taxonomy, with their standard errors.

    The counts are unbiased: over all the releases that could have been drawn, their mean is the original count. So one
    of them may be negative or no whole number.
    """

    values: tuple[object, ...]
    counts: Float
    errors: Float

    def to_dict(self) -> dict[object, tuple[float, float]]:
        """Of each value its count and the standard error."""
        return dict(zip(self.values, zip(self.counts.tolist(), self.errors.tolist(), strict=True), strict=True))

    def __repr__(self) -> str:
        return f"<EstimatedCounts of {len(self.values):,} values: {self.counts.sum():,.1f} records>"


def estimate_counts(
    released: Any,
    schema: Schema,
    method: Method,
    name: str,
    *,
    level: int | None = None,
    original: Any = None,
) -> EstimatedCounts:
    """How often each value stood in a column before a method replaced values at random, as far as the release tells.

    With P the transition matrix and t* the released counts, t = t*·P⁻¹ is unbiased, and so is Σ_o t*_o·Q_oc² - t_c for
    its variance, with Q = P⁻¹; for a group of values Q is summed over the group first.

    Parameters
    ----------
    released
        The released table.
    schema
        What its columns are.
    method
        How it was made: `SemanticNoise` or `Pram`, with its parameters.
    name
        The column.
    level
        For codes: count what is above them at this depth of the taxonomy (1 is its root), such as chapters.
    original
        For `Pram`, whose matrix comes from the original counts: the original table, which only its custodian has.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"sex": ["f"] * 700 + ["m"] * 300})
    >>> schema = tm.Schema([tm.Attribute("sex", role="quasi_identifier", kind="nominal")])
    >>> method = tm.SemanticNoise(1, domain={"sex": ["f", "m"]})
    >>> release = tm.protect(table, schema, method, seed=1)
    >>> release.data["sex"].to_pylist().count("f")
    598
    >>> found = tm.estimate_counts(release.data, schema, method, "sex")
    >>> {value: (round(count), round(error)) for value, (count, error) in found.to_dict().items()}
    {'f': (712, 30), 'm': (288, 30)}
    """
    if name not in schema or schema[name].kind is None:
        raise SchemaError(f"there is no column {name!r} with a kind.", hint=did_you_mean(name, schema))
    frame = Frame(released)
    if name not in frame.names:
        raise SchemaError(f"the table has no column {name!r}.", hint=did_you_mean(name, frame.names))
    part = Schema([schema[name]])
    source = Frame(released if original is None else original)
    alone = source.rebuild({}, drop=[other for other in source.names if other != name])
    table = Microdata.from_frame(alone, part)
    transition = (
        method.transition(table, name) if original is not None or not method.transition_needs_original else None
    )
    if transition is None:
        raise DataError(
            f"how {method.name} distributes released values of {name!r} is not known here.",
            hint="Pass original= the original table."
            if method.transition_needs_original
            else "Counts can be estimated after semantic_noise and pram.",
        )
    column = code(frame, schema[name]).column
    numbers = transition.numbers(column)
    stray = (numbers < 0) & ~column.missing
    if stray.any():
        raise DataError(
            f"{int(stray.sum()):,} cells of {name!r} hold values that {method.name} with these parameters cannot "
            "release.",
            hint="Pass the method with the parameters that made the table.",
        )
    counts = np.bincount(numbers[numbers >= 0], minlength=len(transition.values)).astype(float)
    groups, labels = _groups(transition, schema, name, level)
    totals, variances = _corrected(transition, counts, groups, len(labels), f"column {name!r}")
    return EstimatedCounts(tuple(labels), totals, np.sqrt(np.maximum(variances, 0.0)))


def _groups(
    transition: Transition, schema: Schema, name: str, level: int | None
) -> tuple[NDArray[np.int64], list[object]]:
    """The group of each value, and what the groups are called."""
    if level is None:
        return np.arange(len(transition.values)), list(transition.values)
    if transition.positions is None:
        raise SchemaError(f"column {name!r} has no levels; its values are not in a taxonomy.", hint="Leave level out.")
    attribute = schema[name]
    taxonomy = attribute.taxonomies[0][0]
    above, groups = np.unique(cut(taxonomy, transition.positions, level), return_inverse=True)
    match: Any = attribute.match
    labels: list[object] = list(taxonomy.names(above[above >= 0], match=match))
    return groups, [None, *labels] if above[0] < 0 else labels


def _corrected(
    transition: Transition, counts: Float, groups: NDArray[np.int64], several: int, what: str
) -> tuple[Float, Float]:
    """The estimated totals of groups of values, and their variances.

    P = K + E·p·Eᵀ, with K the diagonal of what values keep, E which value is in which class, and p between classes. So
    P⁻¹ = K⁻¹ - K⁻¹·E·M·Eᵀ·K⁻¹ with M = (1 + p·S)⁻¹·p and S the sums of 1/K in the classes: a system of classes only.
    """
    if (transition.kept > 0).all():
        return _by_classes(transition, counts, groups, several, what)
    size = len(counts)
    if size > MOST_VALUES:
        raise DataError(
            f"{what} has {size:,} values, too many for a table (at most {MOST_VALUES:,}).",
            hint="Recode the column to a higher level first, or declare a coarser grid.",
        )
    member = np.zeros((size, several))
    member[np.arange(size), groups] = 1.0
    summed = _Solved(transition.matrix(), what)(member)
    return counts @ summed, counts @ np.square(summed) - counts @ summed


def _by_classes(
    transition: Transition, counts: Float, groups: NDArray[np.int64], several: int, what: str
) -> tuple[Float, Float]:
    classes, kept, between = transition.classes, transition.kept, transition.between
    solved = _Solved(np.eye(len(kept)) + between * (transition.sizes / kept), what)
    released = _summed(classes, counts, len(kept))
    totals = _summed(groups, counts / kept[classes], several)
    squares = _summed(groups, counts / kept[classes] ** 2, several)
    for first in range(0, several, AT_ONCE):
        here = np.flatnonzero((groups >= first) & (groups < first + AT_ONCE))
        inside = np.zeros((len(kept), min(AT_ONCE, several - first)))
        np.add.at(inside, (classes[here], groups[here] - first), 1.0)
        # Q summed over a group is [value in group] / K - rest[class, group] / K.
        rest = solved(between @ (inside / kept[:, None]))
        some = slice(first, first + AT_ONCE)
        totals[some] -= (released / kept) @ rest
        own = counts[here] / kept[classes[here]] ** 2 * rest[classes[here], groups[here] - first]
        squares[some] += (released / kept**2) @ np.square(rest)
        squares[some] -= 2 * _summed(groups[here] - first, own, rest.shape[1])
    return totals, squares - totals


def _summed(groups: NDArray[np.int64], weights: Float, several: int) -> Float:
    return np.asarray(np.bincount(groups, weights=weights, minlength=several), dtype=np.float64)


class _Solved:
    """Solutions X of A·X = B for a matrix A that can be inverted; an error for others."""

    def __init__(self, matrix: Float, what: str) -> None:
        from scipy.linalg import lapack

        size = float(np.abs(matrix).sum(axis=0).max())
        self._factors, self._pivots, _ = lapack.dgetrf(matrix)
        share, _ = lapack.dgecon(self._factors, size)
        if not share > 1 / ILL:
            shown = f"{1 / share:.1e}" if share else "infinite"
            raise DataError(
                f"{what}: the transition matrix cannot be inverted (its condition number is {shown}): different "
                "originals give nearly the same releases.",
                hint="Release with a larger epsilon or keep; from this release counts cannot be told.",
            )

    def __call__(self, right: Float) -> Float:
        from scipy.linalg import lapack

        found: Float = lapack.dgetrs(self._factors, self._pivots, right)[0]
        return found
