"""Numbers that columns give with weights: a total of many parts, a score of its items, a body mass index, another unit.

Fits by least squares to the records that they fit best, begun with all of them, so that wrong cells do not count. They
are made from some records and must hold in others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .computed import Computed, numbers_to_combine
from .seen import Seen
from .telling import few

__all__ = ["COLUMNS", "HALVED", "to_weight", "weighted", "within_groups"]

COLUMNS = 48  # of numbers that are added up at most: those with the most values,
_FOR_EACH = 16  # and records that a weight is found from
_RECORDS = 1_024  # for all weights together, and as many others that the sum is tried on
_STEPS = 20
_FITTING = 0.6  # of the records, from which weights are found
_NEAR = 0.15  # of how far a number is from its median: nearer half of the records must be
_PRESENT = 0.9  # of the numbers that must be above zero to be multiplied
_IN_A_GROUP = 20  # records
HALVED = 0.6  # of what one column leaves open: more may not be left open by it and another one together
_LARGEST = 1e100  # numbers

Floats = NDArray[np.float64]


def to_weight(columns: Sequence[Seen], records: int, left_out: Collection[int] = ()) -> list[int]:
    """The places of the columns of numbers that are added up: as many as so many records allow to find weights for."""
    records = min(records, 2 * _RECORDS)
    most = min(COLUMNS, records // 2 // _FOR_EACH) if records >= 4 * _FOR_EACH else 0
    numeric = {place for place, one in enumerate(columns) if one.size > 1 and _can_be_squared(one.amounts)}
    return sorted(sorted(numeric.difference(left_out), key=lambda place: -columns[place].size)[:most])


def _can_be_squared(numbers: Floats | None) -> bool:
    """Numbers of any length come; nothing is known of sums of such as overflow."""
    return numbers is not None and bool((np.abs(numbers[~np.isnan(numbers)]) < _LARGEST).all())


def weighted(columns: Sequence[Seen], left_out: set[int], numbers: Floats) -> Iterator[Computed]:
    """Sums of columns with weights, and products of powers of them, that are near a number in most records.

    Columns ``left_out`` tell it by themselves. A number that is missing counts as nothing in a sum.
    """
    some = _some(numbers)
    places = to_weight(columns, len(some), left_out)
    if len(places) < 2 or not _can_be_squared(numbers):
        return
    every = [columns[place].amounts for place in places]
    known = {place: one for place, one in zip(places, every, strict=True) if one is not None}
    for multiplied in (False, True):
        y = _as_parts(numbers[some], multiplied)
        parts = {place: _as_parts(one[some], multiplied) for place, one in known.items()}
        fit = _fewest(parts, y) if np.isfinite(y).mean() >= _PRESENT else None
        if fit is not None and len(fit.weights) > 1:
            made = fit.rest + sum(weight * _as_parts(known[place], multiplied) for place, weight in fit.weights.items())
            yield Computed(tuple(fit.weights), _words(columns, fit, multiplied), _back(np.asarray(made), multiplied))


def within_groups(columns: Sequence[Seen], left_out: set[int], numbers: Floats) -> Iterator[Computed]:
    """Numbers that are near another one once it is multiplied and moved as the value of a further column says.

    Such as an amount and its currency, or a score by school and the school.
    """
    some = _some(numbers)
    y = numbers[some]
    if not _can_be_squared(numbers):
        return
    for group, named in enumerate(columns):
        if group in left_out or not 1 < named.size <= len(some) // _IN_A_GROUP:
            continue
        alone = _in_each(named.codes[some], np.zeros(len(some)), y, named.size)
        without = np.abs(y - alone.of(named.codes[some], np.zeros(len(some))))
        for place in numbers_to_combine(columns):
            x = columns[place].amounts
            if place in left_out or place == group or x is None or not _can_be_squared(x):
                continue
            fitted = _in_each(named.codes[some], x[some], y, named.size)
            off = np.abs(y - fitted.of(named.codes[some], x[some]))
            if _is_near(off, y) and np.nanmedian(off) <= HALVED * np.nanmedian(without):
                words = f"{columns[place].name}, by {named.name},"
                yield Computed((group, place), words, fitted.of(named.codes, x))


def _some(numbers: Floats) -> NDArray[np.int64]:
    """Records that fits are made from and tried on, in random order."""
    rows = few(len(numbers))
    return np.random.default_rng(0).permutation(rows[np.isfinite(numbers[rows])])[: 2 * _RECORDS]


def _is_near(off: Floats, y: Floats) -> bool:
    """Whether half of all records are much nearer than they are to the median."""
    y = y[np.isfinite(y)]
    return len(y) > 0 and float(np.median(np.nan_to_num(off, nan=np.inf))) < _NEAR * _spread(y)


def _spread(y: Floats) -> float:
    return float(np.median(np.abs(y - np.median(y))))


# --------------------------------------------------------------------------------------- sums


@dataclass(frozen=True, eq=False)
class _Fit:
    """The weights of columns by their places, what is added to their sum, and how far half of some records are off."""

    weights: dict[int, float]
    rest: float
    off: float


def _as_parts(numbers: Floats, multiplied: bool) -> Floats:
    """As they are added up: logarithms of what is multiplied (NaN: none); what is missing adds nothing to a sum."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(numbers) if multiplied else np.nan_to_num(numbers)
    return np.where(np.isfinite(found), found, np.nan)


def _back(made: Floats, multiplied: bool) -> Floats:
    with np.errstate(over="ignore"):
        found = np.exp(made) if multiplied else made
    return np.where(np.isfinite(found), found, np.nan)


def _fewest(parts: dict[int, Floats], y: Floats) -> _Fit | None:
    """Of columns that give a number together as few as give it as well; None if all of them do not."""
    parts = {place: one for place, one in parts.items() if np.isfinite(one).mean() >= _PRESENT and np.ptp(one) != 0}
    whole = np.isfinite(np.column_stack([y, *parts.values()])).all(axis=1)
    y, parts = y[whole], {place: one[whole] for place, one in parts.items()}
    first = best = _fit(parts, y)
    spread = _spread(y[len(y) // 2 :]) if len(y) else 0.0
    if first is None or best is None or first.off >= _NEAR * spread:
        return None
    enough = 1.5 * first.off + 1e-6 * spread
    for place in sorted(parts, key=lambda place: abs(first.weights[place]) * float(parts[place].std())):
        fewer = _fit({one: parts[one] for one in best.weights if one != place}, y)
        if fewer is not None and fewer.off <= enough:
            best = fewer
    return best


def _fit(parts: dict[int, Floats], y: Floats) -> _Fit | None:
    """Weights from the first half of the records, those of them that fit best, and how far half of the others are."""
    half = len(y) // 2
    if not parts or half < _FOR_EACH * len(parts):
        return None
    columns = np.column_stack(list(parts.values()))
    middle, scale = columns.mean(axis=0), columns.std(axis=0) + 1e-300
    level, unit = float(y.mean()), float(y.std()) + 1e-300
    scaled = np.column_stack([np.ones(len(y)), (columns - middle) / scale])
    wanted = (y - level) / unit
    weights = _weights(scaled[:half], wanted[:half])
    off = float(np.median(np.abs(wanted - scaled @ weights)[half:])) * unit
    each = weights[1:] * unit / scale
    rest = level + weights[0] * unit - float(middle @ each)
    return _Fit(dict(zip(parts, each.tolist(), strict=True)), rest, off)


def _weights(scaled: Floats, wanted: Floats) -> Floats:
    """By least squares from the records that they fit best, begun with all of them."""
    fitting = np.ones(len(wanted), dtype=bool)
    for _ in range(_STEPS):
        some = scaled[fitting]
        square = some.T @ some + 1e-9 * np.eye(scaled.shape[1])
        weights = np.asarray(np.linalg.solve(square, some.T @ wanted[fitting]), dtype=np.float64)
        off = np.abs(wanted - scaled @ weights)
        nearest = off <= np.quantile(off, _FITTING)
        if (nearest == fitting).all():
            break
        fitting = nearest
    return weights


def _words(columns: Sequence[Seen], fit: _Fit, multiplied: bool) -> str:
    """The sum or the product as one would write it.

    Without what is added to the sum, or multiplied with it.
    """
    pairs = [(columns[place].name, weight) for place, weight in fit.weights.items()]
    if multiplied:
        return " × ".join(name if abs(power - 1) < 0.005 else f"{name}^{power:.3g}" for name, power in pairs)
    return " + ".join(name if abs(weight - 1) < 0.0005 else f"{weight:.4g} × {name}" for name, weight in pairs)


# --------------------------------------------------------------------------------------- groups


@dataclass(frozen=True, eq=False)
class _InEach:
    """For each group what a number is multiplied with, and what is added."""

    slopes: Floats
    rests: Floats

    def of(self, groups: NDArray[np.int32], x: Floats) -> Floats:
        return np.asarray(np.append(self.slopes, np.nan)[groups] * x + np.append(self.rests, np.nan)[groups])


def _in_each(groups: NDArray[np.int32], x: Floats, y: Floats, size: int) -> _InEach:
    """By least squares in each group, once more from the records that fit best."""
    there = (groups >= 0) & np.isfinite(x)
    middle = float(x[there].mean()) if there.any() else 0.0
    fitting = there
    for _ in range(3):
        count, a, b, aa, ab = (
            np.bincount(groups[fitting], weights=one, minlength=size)
            for one in _moments(x[fitting] - middle, y[fitting])
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (ab - a * b / count) / (aa - a * a / count)
            slopes = np.where(np.isfinite(slopes), slopes, 0.0)
            rests = (b - slopes * a) / count - slopes * middle
        found = _InEach(slopes, rests)
        off = np.abs(y - found.of(groups, x))
        fitting = there & (off <= np.nanquantile(off, 0.8)) if there.any() else there
    return found


def _moments(x: Floats, y: Floats) -> tuple[Floats, ...]:
    return np.ones(len(x)), x, y, x * x, x * y
