"""What methods have in common that work inside the groups of microaggregation."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ..engines import Memory
from ..microdata import Microdata
from .base import Masked, Method, Progress
from .microaggregation import Microaggregation

__all__ = ["Grouped"]


class Grouped(Method):
    """A method that makes the groups of `Microaggregation`, and then something else than averages of them.

    Its parameters of the same names are those of the groups.
    """

    def check_parameters(self) -> None:
        super().check_parameters()
        self.grouping().check_parameters()

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def grouping(self) -> Microaggregation:
        """How the groups are made."""
        own = {one.name for one in fields(self)}
        return Microaggregation(
            **{one.name: getattr(self, one.name) for one in fields(Microaggregation) if one.name in own}
        )
