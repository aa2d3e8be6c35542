"""How many records meet a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import PlanError
from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates, effective
from .condition import parse
from .cross_table import counted
from .records import Records, Sides
from .side import Side

__all__ = ["Count"]


@dataclass(frozen=True)
class Count(Analysis):
    """How many records meet a condition, with sampling weights how many people, and the interval of Wilson.

    Records of which a value is missing, so that it is not known whether they meet it, are left out.

    Parameters
    ----------
    condition
        Such as ``age > 65 and dx under 390-459``; it is parsed, and never run as code.
    """

    condition: str

    kind = "count"
    about = "How many records meet a condition, such as age > 65 and dx under 390-459."

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return {}

    def conditions(self) -> tuple[str, ...]:
        return (*super().conditions(), self.condition)

    def check_parameters(self) -> None:
        if not self.condition.strip():
            raise PlanError(f"analysis {self.name!r}: it needs a condition.", hint="Write condition: age > 65")
        super().check_parameters()

    def words(self) -> str:
        return f"Records with {self.condition}{f', where {self.where}' if self.where else ''}"

    def estimates(self, records: Records, both: Sides) -> Estimates:
        total, squares, there, known, unknown = records.fold(_counted, np.add, self.condition).tolist()
        number: Estimate = counted(there, total, effective(total, squares), self.confidence)
        return Estimates({"records": number}, int(known), int(unknown))


def _counted(side: Side, condition: str) -> NDArray[np.float64]:
    """What the records count of which it is known whether they meet a condition, and its squares; what those count that
    do; and of how many it is known, and is not."""
    truth = parse(condition).on(side)
    w = (np.ones(side.n) if side.weights is None else side.weights)[truth.known]
    there = w[truth.true[truth.known]]
    return np.array([w.sum(), (w**2).sum(), there.sum(), len(w), side.n - len(w)])
