"""Random replacements of values with a bound on what a released value tells about the original one.

The bound is P(o | c1) ≤ e^{ε·d(c1, c2)}·P(o | c2) for all values c1, c2 and o, with distances d of at most 1. It must
hold for the numbers that are computed with, not for those of the formula. So the work is done with ε·(1 - 1e-6), small
probabilities are drawn with 106 random bits and added up from the smallest to the largest, which keeps every one of
them right to about 1e-12 of itself, and the bound is checked afterwards on the very sums that are drawn from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._neighbourhoods import rows_by_code

__all__ = ["Exponential", "Geometric", "Mechanism", "Verified", "uniform"]

Float = NDArray[np.float64]
Numbers = NDArray[np.int64]

SHORT = 1 - 1e-6  # of ε: what rounding takes is far less
ROUNDING = 1e-13  # of the exponent of one step of a scale
ALL_TRIPLES = 1_000  # values up to which every triple is looked at


@dataclass(frozen=True)
class Verified:
    """The largest share of the bound's exponent ε·d that was found, and over what."""

    share: float
    over: str

    @property
    def holds(self) -> bool:
        return self.share <= 1


class Mechanism(ABC):
    """A random replacement of values that are numbered from 0."""

    epsilon: float
    classes: Numbers
    """The class of each value; see `Transition`."""

    @abstractmethod
    def draw(self, values: Numbers, rng: np.random.Generator) -> Numbers:
        """A replacement for each value."""

    @property
    @abstractmethod
    def probabilities(self) -> tuple[Float, Float]:
        """As they are drawn: between classes, for each value of the second; and what is added for the value itself."""

    @abstractmethod
    def distances(self, rows: Numbers) -> Float:
        """The distances of some values to all, between 0 and 1."""

    @abstractmethod
    def verified(self) -> Verified:
        """How much of the bound is used."""

    def _all_triples(self) -> Verified:
        between, kept = self.probabilities
        table = between[np.ix_(self.classes, self.classes)] + np.diag(kept[self.classes])
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        size, worst = len(table), 0.0
        for one in range(size - 1):
            apart = logs[one] - logs[one + 1 :]
            used = np.maximum(apart.max(axis=1), -apart.min(axis=1))
            allowed = self.epsilon * self.distances(np.array([one]))[0, one + 1 :]
            worst = max(worst, float((used / allowed).max()))
        return Verified(worst if np.isfinite(logs).all() else np.inf, f"all {size**3:,} triples of {size:,} values")


def uniform(count: int, rng: np.random.Generator) -> Float:
    """Random numbers in [0, 1) with 106 bits, so that small ones are as exact as large ones."""
    return rng.random(count) + rng.random(count) * 2.0**-53


class Exponential(Mechanism):
    """P(o | c) proportional to exp(-``factor``·ε·d(c, o)).

    With a metric d the triangle inequality gives exp(-ε·d(c1, o)/2) ≤ e^{ε·d(c1, c2)/2}·exp(-ε·d(c2, o)/2), and by
    summing over o the same for the normalisers: together the bound, with factor 1/2. Where all normalisers are equal,
    as for plain categories, 1 will do.

    Parameters
    ----------
    classes
        The class of each value.
    table
        The distances between classes, at most 1.
    inside
        The distance between two different values of a class.
    epsilon, factor
        As in the formula. None is the largest factor with which the normalisers leave the bound whole: what the table
        of distances needs of it, and no more.
    """

    def __init__(
        self, classes: Numbers, table: Float, inside: Float, epsilon: float, factor: float | None = 0.5
    ) -> None:
        self.classes, self.epsilon = classes, epsilon
        self._table, self._inside = table, inside
        self._order = np.argsort(classes, kind="stable")
        self._sizes = np.bincount(classes, minlength=len(table))
        self._start = np.concatenate([[0], np.cumsum(self._sizes)])
        self._rate = (self._largest_factor() if factor is None else factor) * epsilon * SHORT
        # From one value to another of its class; 0 where there is no other.
        self._own = np.where(self._sizes > 1, np.exp(-self._rate * inside), 0.0)

    def _largest_factor(self) -> float:
        """By halving: with it |log Z(c1) - log Z(c2)| ≤ (1 - factor)·ε·d(c1, c2) for all c1 and c2."""
        low, high = 0.5, 1.0  # a half always will do
        several = self._sizes > 1
        for _ in range(10):
            factor = (low + high) / 2
            rate = factor * self.epsilon
            weights = 1 + np.where(several, (self._sizes - 1) * np.exp(-rate * self._inside), 0.0)
            others = np.array([np.exp(-rate * row) @ self._sizes for row in self._table]) - self._sizes
            normaliser = np.log(weights + others)
            left = (1 - factor) * self.epsilon
            fits = all(
                (np.abs(normaliser[one] - normaliser) <= left * row).all() for one, row in enumerate(self._table)
            )
            low, high = (factor, high) if fits else (low, factor)
        return low

    def _row(self, one: int) -> tuple[Numbers, Float]:
        """What can come of a value of a class, the least likely first, and the sums of their weights.

        A number below that of the classes is a class, each of whose values is as likely; the last one the value itself.
        """
        weights = np.append(self._sizes * np.exp(-self._rate * self._table[one]), 1 - self._own[one])
        weights[one] = self._sizes[one] * self._own[one]
        order = np.argsort(weights, kind="stable")
        return order, np.cumsum(weights[order])

    def draw(self, values: Numbers, rng: np.random.Generator) -> Numbers:
        ticket, among = uniform(len(values), rng), np.empty(len(values), dtype=np.int64)
        classes = len(self._table)
        for one, rows in rows_by_code(self.classes[values], classes):
            order, sums = self._row(one)
            found = np.searchsorted(sums, ticket[rows] * sums[-1], side="right")
            among[rows] = order[np.minimum(found, classes)]
        stays = among == classes
        size = np.where(stays, 1, self._sizes[np.minimum(among, classes - 1)])
        place = self._start[np.minimum(among, classes - 1)] + rng.integers(0, size)
        return np.where(stays, values, self._order[np.minimum(place, len(self._order) - 1)])

    @cached_property
    def probabilities(self) -> tuple[Float, Float]:
        count = len(self._table)
        between, kept = np.empty((count, count)), np.empty(count)
        for one in range(count):
            order, sums = self._row(one)
            found = np.empty(count + 1)
            found[order] = np.diff(sums, prepend=0.0) / sums[-1]
            between[one], kept[one] = found[:-1] / self._sizes, found[-1]
        return between, kept

    def distances(self, rows: Numbers) -> Float:
        classes = self.classes[rows]
        out = self._table[np.ix_(classes, self.classes)]
        same = classes[:, None] == self.classes
        out[same] = np.broadcast_to(self._inside[classes][:, None], out.shape)[same]
        out[np.arange(len(rows)), rows] = 0.0
        return out

    def verified(self) -> Verified:
        return self._verified

    @cached_property
    def _verified(self) -> Verified:
        return self._all_triples() if len(self.classes) <= ALL_TRIPLES else self._normalisers()

    def _normalisers(self) -> Verified:
        """Each weight as the formula says, and log Z(c1) - log Z(c2) within what is left of the bound.

        The rest is the triangle inequality, which the distance is declared to obey.
        """
        between, kept = self.probabilities
        count = len(kept)
        away = self._table.copy()
        away[np.diag_indices(count)] = np.where(self._sizes > 1, self._inside, np.nan)
        normaliser = -np.log(kept + between.diagonal())  # a value itself has the weight 1
        off = worst = 0.0
        with np.errstate(divide="ignore"):
            for one in range(count):
                row = np.abs(np.log(between[one]) + normaliser[one] + self._rate * away[one])
                off = max(off, float(np.nanmax(row, initial=0.0)))
        for one in range(count):
            used = np.abs(normaliser[one] - normaliser) + self._rate * away[one] + 2 * off
            worst = max(worst, float(np.nanmax(used / (self.epsilon * away[one]), initial=0.0)))
        values = len(self.classes)
        return Verified(worst, f"the normalisers of all {values**2:,} pairs of {values:,} values")


class Geometric(Mechanism):
    """Two-sided geometric noise on a scale of steps, clamped to its ends: P(noise = z) proportional to α^|z|.

    With m steps, α = e^{-ε/m} and d = |i - j| / m, moving the original by one step changes each probability by a factor
    of α at most, and clamping adds up such probabilities.

    The size of the noise is drawn digit by digit: the binary digits of a geometric number are independent, the digit of
    2^j being 1 with odds α^(2^j). So every probability is a product of a few, each exact to the last bits.

    Where missing is a value, it is the last one, at distance 1 from all others. It is kept with the probability a, and
    otherwise becomes what noise on the middle of the scale makes; any other value becomes missing with the probability
    b. With h the distance of the middle to the farther end, 1 - b = e^{ε(1 - h)}·(1 - a) and a = e^ε·b use up what is
    allowed.
    """

    def __init__(self, size: int, epsilon: float, missing: bool = False) -> None:
        self.classes, self.epsilon = np.arange(size + missing), epsilon
        self._steps, self._missing = size - 1, missing
        step = epsilon / max(self._steps, 1)
        self._log = -(step * SHORT - ROUNDING)  # of α
        self._digits = max(self._steps - 1, 1).bit_length()
        self._middle = self._steps // 2

    @cached_property
    def _chances(self) -> tuple[tuple[float, float], Float, float]:
        """Of no noise and of some; of a 1 in each digit of (noise - 1); of more than all of them can say."""
        power = np.exp(self._log * 2.0 ** np.arange(self._digits + 1))
        none, some = float(-np.expm1(self._log) / (1 + power[0])), float(2 * power[0] / (1 + power[0]))
        return (none, some), power[:-1] / (1 + power[:-1]), float(power[-1])

    @cached_property
    def _missing_chances(self) -> tuple[float, float]:
        """Of missing to be filled, 1 - a, and of another value to become missing, b."""
        epsilon = self.epsilon * SHORT
        part = epsilon * self._middle / max(self._steps, 1)  # ε(1 - h)
        whole = np.expm1(part + epsilon)
        return float(np.expm1(epsilon) / whole), float(np.expm1(part) / whole)

    def draw(self, values: Numbers, rng: np.random.Generator) -> Numbers:
        n = len(values)
        (none, some), ones, more = self._chances
        ticket = uniform(n, rng)  # compared with the smaller chance, which is the more exact one
        noisy = ticket < some if some < none else ticket >= none
        size = np.ones(n, dtype=np.int64)
        for digit, chance in enumerate(ones.tolist()):
            size += (uniform(n, rng) < chance).astype(np.int64) << digit
        size[uniform(n, rng) < more] = self._steps + 1
        sign = np.where(rng.random(n) < 0.5, -1, 1)
        empty = values > self._steps
        out = np.clip(np.where(empty, self._middle, values) + np.where(noisy, sign * size, 0), 0, self._steps)
        if self._missing:
            filled, emptied = self._missing_chances
            below = uniform(n, rng) < np.where(empty, filled, emptied)
            out[below ^ empty] = self._steps + 1
        return out

    @cached_property
    def _noise(self) -> tuple[Float, Float]:
        """As they are drawn: P(noise = z), and P(noise ≥ z) on one side, for z = 0, 1, … up to the number of steps."""
        (none, some), ones, more = self._chances
        sizes = np.ones(1)
        for chance in ones.tolist():
            sizes = np.concatenate([sizes * (1 - chance), sizes * chance])
        exact = np.append(none, some / 2 * (1 - more) * sizes)
        beyond = np.append(some / 2 * more, exact[:0:-1]).cumsum()[:0:-1]
        return exact[: self._steps + 1], np.append(none + beyond[0], beyond)[: self._steps + 1]

    @cached_property
    def probabilities(self) -> tuple[Float, Float]:
        exact, beyond = self._noise
        places = np.arange(self._steps + 1)
        table = exact[np.abs(places[:, None] - places)]
        table[:, 0], table[:, -1] = beyond, beyond[::-1]
        if self._missing:
            filled, emptied = self._missing_chances
            table = np.vstack([table * (1 - emptied), table[self._middle] * filled])
            table = np.column_stack([table, np.append(np.full(len(places), emptied), 1 - filled)])
        return table, np.zeros(len(table))

    def distances(self, rows: Numbers) -> Float:
        every = np.arange(len(self.classes))
        away = np.abs(rows[:, None] - every) / max(self._steps, 1)
        if self._missing:
            away[:, -1] = 1.0
            away[rows > self._steps] = every <= self._steps
        return away

    def verified(self) -> Verified:
        """Step by step: values that are farther apart add up the exponents of the steps between them."""
        step, worst = self.epsilon / max(self._steps, 1), 0.0
        for chances in self._noise if self._steps else ():
            worst = max(worst, float(np.abs(np.diff(np.log(chances))).max()) / step)
        if self._missing:
            filled, emptied = self._missing_chances
            far = (self._steps - self._middle) * step * worst  # from the middle to the farther end
            value = abs(np.log1p(-emptied) - np.log(filled)) + far
            empty = abs(np.log1p(-filled) - np.log(emptied)) if emptied > 0 else 0.0
            worst = max(worst, value / self.epsilon, empty / self.epsilon)
        return Verified(worst, f"all triples of {len(self.classes):,} values, step by step")
