from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..microdata import Kind, Microdata, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.frames import Frame
from ..semantics import category_marginality
from ._ancestors import cut
from ._attributes import treatable
from ._kept import MissingStays, differs, how_many, released_column
from ._neighbourhoods import rows_by_code
from .base import Check, Masked, Method, Progress, Promise

__all__ = ["InBlock", "MarginalityNoise"]


@dataclass(frozen=True)
class MarginalityNoise(Method):
    """Noise on the marginality of concepts, mapped back to the nearest marginality within a block of the taxonomy.

    A value x becomes the observed concept of its block whose marginality is nearest to m(x) + e, with e normal of mean
    0. Concepts far apart in the taxonomy may have similar marginalities; blocks keep them from being exchanged. The
    standard deviation of e is ``amount`` times that of the marginalities of the block. If several concepts are equally
    near, x stays if it is one of them, and otherwise one is drawn by frequency. A value alone in its block stays.
    Missing values stay missing.

    Parameters
    ----------
    amount
        The standard deviation of the noise as a share of that of the marginalities in the block.
    level
        The depth in τ(X) of the concepts whose descendants are the blocks: 1, the root of τ(X), makes one block of all,
        2 makes a block of each of its children. A value above this depth is a block of its own. With several parents
        a concept belongs to the block of the first one listed; with several taxonomies the first makes the blocks.
    attributes
        The columns to protect; by default all taxonomic quasi-identifiers.

    References
    ----------
    Marginality: Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Anonymization of nominal data based on semantic
    marginality, Information Sciences 242, which names blocks as the way to make noise possible and leaves it open.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["25001", "25001", "25002", "2720", "4019", "4010", "41401"]})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> release = tm.protect(table, schema, tm.MarginalityNoise(2.0), seed=1)
    >>> [code[0] for code in release.data["dx"].to_pylist()]
    ['2', '2', '2', '2', '4', '4', '4']
    """

    amount: Annotated[float, Gt(0), Le(100), Slider(0.01, 1, 0.01), "0.5 is a common choice."] = 0.5
    level: Annotated[int, Ge(1), Slider(1, 6), "The root of τ(X) is at depth 1."] = 2
    attributes: Sequence[str] | None = None

    name = "marginality_noise"
    about = (
        "Adds noise to how marginal each code is and takes the code nearest to that in the same part of the taxonomy."
    )
    reference = "Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Information Sciences 242 (future work)"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns, notes = {}, []
        for name in self._attributes(data):
            column = data.taxonomic(name)
            columns[name] = _noisy(column, blocks(column, self.level), self.amount, rng)
            changed = int(differs(column, columns[name]).sum())
            notes.append(f"{name}: {how_many(changed, int((~column.missing).sum()))} values changed.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        return MissingStays(names), InBlock(self.level, names)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return treatable(data, self.attributes, (Kind.TAXONOMIC,), self.name)


@dataclass(frozen=True)
class InBlock(Promise):
    """Every value stays in its block of the taxonomy: below the same concept at this depth of τ(X)."""

    level: int
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        outside = 0
        for name in self.attributes:
            before, after = alike(original.taxonomic(name), released_column(released, original, name))
            block = blocks(before, self.level)
            both = ~before.missing & ~after.missing
            outside += int((block[before.codes[both]] != block[after.codes[both]]).sum())
        return Check(
            f"every value of {', '.join(self.attributes)} stays in its block at depth {self.level} of the taxonomy",
            outside == 0,
            f"{outside:,} outside",
        )


def blocks(column: TaxonomicColumn, level: int) -> NDArray[np.int32]:
    """The block of each category, by the concept above it; what the first taxonomy does not know is one by itself."""
    scope = column.scopes[0]
    found = cut(scope.taxonomy, column.positions, level, scope.depth)
    unknown = found < 0
    found[unknown] = -1 - np.flatnonzero(unknown)
    return found


def _noisy(
    column: TaxonomicColumn, block: NDArray[np.int32], amount: float, rng: np.random.Generator
) -> TaxonomicColumn:
    marginality = category_marginality(column)
    largest = float(marginality.max(initial=0.0)) or 1.0
    marginality = np.round(marginality / largest, 12)  # sums differ in the last bits
    noise, ticket = rng.standard_normal(len(column)), rng.random(len(column))
    codes = column.codes.copy()
    _, number = np.unique(block, return_inverse=True)
    for _, rows in rows_by_code(np.append(number, -1)[column.codes], len(number)):
        inside = np.unique(column.codes[rows])
        own = marginality[column.codes[rows]]
        wanted = own + amount * own.std() * noise[rows]
        levels = np.unique(marginality[inside])
        nearest = levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, wanted)]
        moved = nearest != own
        codes[rows[moved]] = _drawn(
            inside, marginality[inside], column.counts[inside], nearest[moved], ticket[rows[moved]]
        )
    return column.with_codes(codes)


def _drawn(
    concepts: NDArray[np.int32],
    marginality: NDArray[np.float64],
    counts: NDArray[np.int64],
    wanted: NDArray[np.float64],
    ticket: NDArray[np.float64],
) -> NDArray[np.int32]:
    """For each wanted marginality one of the concepts that have it, by frequency."""
    order = np.argsort(marginality, kind="stable")
    total = np.concatenate([[0], np.cumsum(counts[order])])
    low = total[np.searchsorted(marginality[order], wanted, side="left")]
    high = total[np.searchsorted(marginality[order], wanted, side="right")]
    at = low + np.floor(ticket * (high - low)).astype(np.int64)
    return concepts[order[np.searchsorted(total, at, side="right") - 1]]
