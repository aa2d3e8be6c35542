"""Estimates from several synthetic copies of a table, combined into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal

import numpy as np

from .._support.parameters import check_choice, check_number
from ..errors import DataError

__all__ = ["Combined", "combine"]


@dataclass(frozen=True)
class Combined:
    """A combined estimate with its variance, and the degrees of freedom of the t distribution of its error."""

    estimate: float
    variance: float
    degrees_of_freedom: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval at a level."""
        from scipy.stats import t

        check_number("level", level, above=0, at_most=1)
        half = float(t.ppf((1 + level) / 2, self.degrees_of_freedom)) * sqrt(self.variance)
        return self.estimate - half, self.estimate + half


def combine(
    estimates: Sequence[float],
    variances: Sequence[float],
    synthesis: Literal["partial", "full"] = "partial",
    *,
    size: float = 1.0,
) -> Combined:
    """Combine the estimates of one quantity from m synthetic copies of a table.

    With q̄ and ū the means of the estimates and of their variances, and b the variance of the estimates (divisor
    m - 1), the estimate is q̄, and its variance

    - partly synthetic: T = ū + b/m, with (m - 1)(1 + ū/(b/m))² degrees of freedom;
    - fully synthetic: T = (1 + 1/m)b - ū, with (m - 1)(1 - ū/((1 + 1/m)b))² degrees of freedom. With few copies it can
      come out at 0 or less; it is size·ū then, with a normal distribution.

    Parameters
    ----------
    estimates
        The estimate from each copy, made as if it were the original table.
    variances
        The estimated variance (the squared standard error) of each.
    synthesis
        As in `Imputation`.
    size
        Fully synthetic: how many times as many records a copy has as the original table.

    References
    ----------
    Reiter (2003), Inference for partially synthetic, public use microdata sets, Survey Methodology 29; Raghunathan,
    Reiter, Rubin (2003), Multiple imputation for statistical disclosure limitation, Journal of Official Statistics 19;
    Reiter (2002), Satisfying disclosure restrictions with synthetic data sets, Journal of Official Statistics 18 (for
    variances that are not positive).

    Examples
    --------
    >>> combine([1.0, 3.0], [1.0, 1.0])
    Combined(estimate=2.0, variance=2.0, degrees_of_freedom=4.0)
    """
    check_choice("synthesis", synthesis, ["partial", "full"])
    check_number("size", size, above=0)
    q, u = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    m = len(q)
    if q.ndim != 1 or m < 2 or u.shape != q.shape:
        raise DataError(
            f"combine needs an estimate and a variance from each of at least 2 copies; got {q.size} and {u.size}.",
            hint="Make several copies, as with Imputation(copies=5).",
        )
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise DataError("estimates must be numbers, and variances not negative.", hint="Square the standard errors.")
    estimate, within, between = float(q.mean()), float(u.mean()), float(q.var(ddof=1))
    if synthesis == "partial":
        freedom = (m - 1) * (1 + within / (between / m)) ** 2 if between > 0 else inf
        return Combined(estimate, within + between / m, freedom)
    spread = (1 + 1 / m) * between
    if spread <= within:
        return Combined(estimate, size * within, inf)
    return Combined(estimate, spread - within, (m - 1) * (1 - within / spread) ** 2)
