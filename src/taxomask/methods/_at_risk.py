"""Methods that are aimed at records at risk: who they are, and the promise that nobody else is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, MinLen
from numpy.typing import NDArray

from ..errors import PlanError, did_you_mean
from ..microdata import Column, Microdata
from ..microdata.class_risk import class_risk, survey_weights
from ..microdata.combinations import numbered
from ..microdata.frames import Frame
from ._kept import differs, released_column
from .base import Check, Masked, Promise

__all__ = ["AtRisk", "OnlyAtRisk", "at_risk", "check_at_risk", "risks"]

Float = NDArray[np.float64]

AtRisk = Annotated[
    Mapping[str, Annotated[float, Gt(0), Le(1)]],
    MinLen(1),
    "Write {'risk': 0.2} to touch only records that are found with a chance above 0.2.",
]


def check_at_risk(records: Mapping[str, float] | None) -> None:
    """The one key is ``risk``."""
    for key in records or ():
        if key != "risk":
            raise PlanError(f"records: {key!r} is not known.", hint=did_you_mean(str(key), ["risk"]))


def risks(original: Microdata, columns: list[Column]) -> Float:
    """The chance to find each record by some columns, from the size of its class.

    In the population, where the schema says how it was sampled (``sampling_weight``, ``population_size``), else in the
    table; of people, where it names them.
    """
    classes = numbered((column.numbered()[0] for column in columns), original.n)[0]
    return class_risk(classes, original.people, survey_weights(original))


def at_risk(data: Microdata, names: tuple[str, ...], risk: float) -> NDArray[np.bool_]:
    """Which records are found with a greater chance."""
    return risks(data, [data.columns[name] for name in names]) > risk


@dataclass(frozen=True)
class OnlyAtRisk(Promise):
    """Records that were found with a chance of at most ``risk`` by some attributes are as they were.

    What is left of the others is told, and not promised.
    """

    risk: float
    known: tuple[str, ...]
    attributes: tuple[str, ...]

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return ()

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        before = at_risk(original, self.known, self.risk)
        touched = np.zeros(original.n, dtype=np.bool_)
        for name in self.attributes:
            touched |= differs(original.columns[name], released_column(released, original, name))
        after = risks(original, [released_column(released, original, name) for name in self.known]) > self.risk
        wrong = int((touched & ~before).sum())
        remain = f"{int(after.sum()):,} records remain above it, {int(before.sum()):,} were"
        return Check(
            f"only records with a risk above {self.risk:g} by {', '.join(self.known)} are changed",
            wrong == 0,
            f"{wrong:,} others changed; {remain}" if wrong else remain,
        )
