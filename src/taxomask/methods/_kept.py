"""Promises about what a mechanism leaves as it is, and how to count what it changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, Microdata
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.frames import Frame
from .base import Check, Masked, Promise

__all__ = ["MissingStays", "OriginalOrMissing", "differs", "how_many", "released_column"]


@dataclass(frozen=True)
class MissingStays(Promise):
    """In these attributes the missing cells are those of the original; no cell was emptied and none filled."""

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        moved = sum(
            int((original.columns[name].missing != released_column(released, original, name).missing).sum())
            for name in self.attributes
        )
        return Check(
            f"the missing cells of {', '.join(self.attributes)} are those of the original",
            moved == 0,
            f"{moved:,} differ",
        )


@dataclass(frozen=True)
class OriginalOrMissing(Promise):
    """Every released cell of these attributes is missing or holds its original value."""

    attributes: tuple[str, ...]

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        changed = 0
        for name in self.attributes:
            before, after = original.columns[name], released_column(released, original, name)
            changed += int((differs(before, after) & ~after.missing).sum())
        return Check(
            f"every cell of {', '.join(self.attributes)} is missing or as in the original",
            changed == 0,
            f"{changed:,} differ",
        )


def released_column(released: Frame, original: Microdata, name: str) -> Column:
    """A column of the released table, coded as in the original."""
    return code(released, original.schema[name]).column


def differs(before: Column, after: Column) -> NDArray[np.bool_]:
    """Where two versions of a column differ; two missing cells do not."""
    before, after = alike(before, after)
    return ~before.same(after)


def how_many(part: int, whole: int) -> str:
    """A count with its share: "12 of 48 (25.0 %)"."""
    return f"{part:,} of {whole:,} ({part / max(whole, 1):.1%})".replace("%", " %")
