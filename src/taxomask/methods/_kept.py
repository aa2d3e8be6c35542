"""Promises about what a mechanism leaves as it is, and how to count what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine, coded_on
from ..microdata import Column, Microdata
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.frames import Frame
from .base import Check, Masked, Promise

__all__ = [
    "MissingStays",
    "OriginalOrMissing",
    "differs",
    "how_many",
    "missing_elsewhere",
    "released_column",
    "released_on",
]


@dataclass(frozen=True)
class MissingStays(Promise):
    """In these attributes the missing cells are those of the original; no cell was emptied and none filled."""

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        columns = [(original.columns[name], released_column(released, original, name)) for name in self.attributes]
        return self._checked(sum(missing_elsewhere(*both) for both in columns))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        columns = [(original.columns[name], released_on(engine, released, original, name)) for name in self.attributes]
        return self._checked(sum(engine.fold(missing_elsewhere, add, both, what="checking") for both in columns))

    def _checked(self, moved: int) -> Check:
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
        columns = [(original.columns[name], released_column(released, original, name)) for name in self.attributes]
        return self._checked(sum(_other_value(*both) for both in columns))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        columns = [(original.columns[name], released_on(engine, released, original, name)) for name in self.attributes]
        return self._checked(sum(engine.fold(_other_value, add, both, what="checking") for both in columns))

    def _checked(self, changed: int) -> Check:
        return Check(
            f"every cell of {', '.join(self.attributes)} is missing or as in the original",
            changed == 0,
            f"{changed:,} differ",
        )


def released_column(released: Frame, original: Microdata, name: str) -> Column:
    """A column of the released table, coded as in the original."""
    return code(released, original.schema[name]).column


def released_on(engine: Engine, released: Frame, original: Microdata, name: str) -> Column:
    """The same, wherever it lies; in chunks where that can be done."""
    return coded_on(engine, released, [original.schema[name]], dictionaries=True)[0].column


def _other_value(before: Column, after: Column) -> int:
    """How many cells hold a value that is not the original one."""
    return int((differs(before, after) & ~after.missing).sum())


def missing_elsewhere(before: Column, after: Column) -> int:
    """How many cells are missing in one of two versions of a column only."""
    return int((before.missing != after.missing).sum())


def differs(before: Column, after: Column) -> NDArray[np.bool_]:
    """Where two versions of a column differ; two missing cells do not."""
    before, after = alike(before, after)
    return ~before.same(after)


def how_many(part: int, whole: int) -> str:
    """A count with its share: "12 of 48 (25.0 %)"."""
    return f"{part:,} of {whole:,} ({part / max(whole, 1):.1%})".replace("%", " %")
