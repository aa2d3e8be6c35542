from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..microdata import Column, Microdata
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.frames import Frame
from ._swapping import exchanged
from .base import Check, Masked, Method, Progress, Promise, chosen
from .distributional_swapping import DistributionalSwapping
from .imputation import Imputation
from .marginality_noise import MarginalityNoise
from .micro_hybrid import MicroHybrid
from .multiplicative_noise import MultiplicativeNoise
from .noise import Noise
from .numerical_swapping import NumericalSwapping
from .pipeline import Pipeline
from .pram import Pram
from .promises import multiset
from .random_swapping import RandomSwapping
from .rank_swapping import RankSwapping
from .reverse_mapping import ReverseMapping
from .shuffling import Shuffling
from .topological_swapping import TopologicalSwapping

__all__ = ["MISSING_CELLS", "MissingMoved", "MissingPermutation", "with_missing_cells"]

MISSING_CELLS = ("keep", "permute")
MOVABLE: tuple[type[Method], ...] = (
    DistributionalSwapping, Imputation, MarginalityNoise, MicroHybrid, MultiplicativeNoise, Noise, NumericalSwapping,
    Pram, RandomSwapping, RankSwapping, ReverseMapping, Shuffling, TopologicalSwapping,
)  # fmt: skip  # methods that keep missing cells where they are, and promise nothing about classes of records


@dataclass(frozen=True)
class MissingPermutation(Method):
    """The missing cells of each column are moved to records drawn at random.

    Which cells are missing is a fingerprint: in a table with many gaps whoever knows them finds a record by that alone,
    whatever was done to its values. Here each attribute by itself has as many missing cells as before, in a random set
    of records, all sets being equally likely. A record that loses its value gives it to one that had none, drawn at
    random. So every column keeps its values and the number of its gaps; a share of at most two cells for each missing
    one does not go together with the rest of its record any more.

    ``missing_cells: permute`` in a plan, or ``protect(…, missing_cells="permute")``, adds this as a last step after
    methods that keep missing cells where they are. Where a release has columns that the method leaves as they are,
    their gaps stay.

    Parameters
    ----------
    attributes
        The columns; by default all quasi-identifiers.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, None, 40, 50, 60, 70, None, 90]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.Noise(0.2), seed=3, missing_cells="permute")
    >>> release.data["age"].null_count, release.data["age"][1].is_valid
    (2, True)
    """

    attributes: Sequence[str] | None = None

    name = "missing_permutation"
    about = "Moves the missing cells of each column to records drawn at random; values make room for them."
    reference = "none"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        moves = {name: _moves(data.columns[name], rng) for name in self._attributes(data)}
        columns = {name: exchanged(data.columns[name], pairs) for name, pairs in moves.items()}
        return Masked(data.replace(columns), swaps=moves)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (MissingMoved(self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return chosen(data, self.attributes, data.schema.quasi_identifiers, "quasi-identifier")


@dataclass(frozen=True)
class MissingMoved(Promise):
    """Each of these attributes has the values and the number of missing cells that it had, in other records."""

    attributes: tuple[str, ...]

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        changed, gaps, stay = [], 0, 0
        for name in self.attributes:
            before, after = alike(original.columns[name], code(released, original.schema[name]).column)
            gaps += int(before.missing.sum())
            stay += int((before.missing & after.missing).sum())
            if not np.array_equal(multiset(before), multiset(after), equal_nan=True):
                changed.append(name)
        return Check(
            f"{', '.join(self.attributes)} have the values and as many missing cells as before, these in records drawn "
            "at random",
            not changed,
            f"differs: {', '.join(changed)}" if changed else f"{gaps - stay:,} of {gaps:,} missing cells moved",
        )


def with_missing_cells(method: Method, data: Microdata, how: str) -> Method:
    """A method that keeps missing cells where they are, or one that also moves those of the columns it protects."""
    if how not in MISSING_CELLS:
        raise PlanError(f"missing_cells must be 'keep' or 'permute'; got {how!r}.", hint="Leave it out to keep them.")
    if how == "keep":
        return method
    steps = list(method.methods) if isinstance(method, Pipeline) else [method]
    for step in steps:
        if not isinstance(step, MOVABLE) or getattr(step, "synthesis", "") == "full":
            able = ", ".join(one.name for one in MOVABLE)
            raise PlanError(
                f"missing_cells: permute does not go with {step.name}.",
                hint=f"It would undo what that promises, or has nothing to do. It goes with {able}.",
            )
    names = [name for name in method.protects(data) if data.columns[name].missing.any()]
    return Pipeline([*steps, MissingPermutation(names)]) if names else method


def _moves(column: Column, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs of records, one that had no value and one that has none from now on."""
    gone = column.missing
    drawn = np.zeros(len(gone), dtype=bool)
    drawn[rng.choice(len(gone), int(gone.sum()), replace=False)] = True
    filled, emptied = np.flatnonzero(gone & ~drawn), np.flatnonzero(drawn & ~gone)
    return np.column_stack([filled, rng.permutation(emptied)]).astype(np.int64)
