"""What a semantic distance is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import TaxonomyError
from ..scope import Scope

__all__ = ["Distance", "Float", "Positions"]

Positions = NDArray[np.int32]
Float = NDArray[np.float64]

_BLOCK_CELLS = 128_000  # cells that are worked on at a time: 1 MB of numbers, which a cache holds


class Distance(ABC):
    """A semantic distance between concepts of a taxonomy.

    To add one, write a file with a subclass of one of the families in `families.py` (or of this class) and register
    it in `distances/__init__.py`. Only `block` must be written here; `families.py` writes it for you.
    """

    name: ClassVar[str]
    """How users call it."""
    metric: ClassVar[bool]
    """Whether it obeys the triangle inequality."""
    trees_only: ClassVar[bool] = False
    """Whether it is undefined when a concept has two parents."""
    reference: ClassVar[str]
    """Where it comes from."""

    @abstractmethod
    def block(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        """The distances between some rows and some columns, both in taxonomy order."""

    def matrix(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        """The distances between all rows and columns, in any order."""
        self.check(scope)
        row_order, column_order = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
        columns = columns[column_order]
        plain = bool((np.diff(column_order) == 1).all())
        out = np.empty((len(rows), len(columns)))
        for part in _parts(len(rows), len(columns)):
            chosen = row_order[part]
            block = self.block(scope, rows[chosen], columns)
            if plain:
                out[chosen] = block
            else:
                out[chosen[:, None], column_order] = block
        return out

    def sums(self, scope: Scope, concepts: Positions, counts: NDArray[np.int64]) -> Float:
        """Σ_c count(c)·d(x, c) for each x of the concepts (distinct, in taxonomy order): their marginality."""
        self.check(scope)
        out = np.empty(len(concepts))
        for part in _parts(len(concepts), len(concepts)):
            out[part] = self.block(scope, concepts[part], concepts) @ counts
        return out

    def check(self, scope: Scope) -> None:
        """Refuse a taxonomy that the distance is not defined on."""
        taxonomy = scope.taxonomy
        if self.trees_only and not taxonomy.is_tree:
            several = int(np.argmax(np.diff(taxonomy.parent_start) > 1))
            raise TaxonomyError(
                f"the distance {self.name!r} is defined on trees only, but in {taxonomy.name} the concept "
                f"{taxonomy.ids[several]!r} has {len(taxonomy.parents_of(several))} parents.",
                hint="Use distance='ancestors' or 'wu_palmer'.",
            )


def _parts(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK_CELLS // max(columns, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
