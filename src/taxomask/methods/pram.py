from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..engines import Engine, Memory
from ..errors import DataError
from ..microdata import CategoricalColumn, Column, Kind, Microdata, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.frames import Frame
from ._attributes import treatable
from ._kept import MissingStays, how_many, released_column, released_on
from ._neighbourhoods import rows_by_code
from ._transition import Transition
from .base import Check, Masked, Method, Progress, Promise, own_generators

__all__ = ["OnlySeen", "Pram", "invariant_flows"]

Float = NDArray[np.float64]
MOST_CATEGORIES = 5_000  # a table of 5,000 x 5,000 distances takes 200 MB


@dataclass(frozen=True)
class Pram(Method):
    """Post-randomisation: every category is kept or, with some probability, drawn anew.

    The transition matrix is P = keep·I + (1 - keep)·R. It is invariant: with t the counts of the categories, t P = t,
    so that the expected counts are the original ones and tables of counts need no correction. Flat redraws follow the
    frequencies: R(a→b) = t_b / n. Semantic ones prefer close categories: R(a→b) = x_a·exp(-d(a, b) / h)·x_b / t_a, with
    x the scaling that makes the sums right, and h = ``reach`` times the mean distance between two records; a category
    itself counts as far away as the nearest other one. It may be drawn again, so that a value is kept with at least the
    probability ``keep``; how many values are expected to change is in the notes.

    Ordered categories are as far apart as their positions, plain ones have no distances and are redrawn flat. Only
    categories that occur are drawn. Missing values stay missing.

    Parameters
    ----------
    keep
        The probability that a value is kept for sure; 1 changes nothing.
    semantic
        Whether close categories are more likely. Needs a table of distances between the categories, at most 5,000.
    reach
        How far a redrawn value goes, as a share of the mean distance between records; only if semantic.
    attributes
        The columns to protect; by default all nominal, ordinal and taxonomic quasi-identifiers.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg, de Wolf (1998), Post randomisation for statistical disclosure control: theory and
    implementation, Journal of Official Statistics 14.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"sex": ["f"] * 600 + ["m"] * 400})
    >>> schema = tm.Schema([tm.Attribute("sex", role="quasi_identifier", kind="nominal")])
    >>> release = tm.protect(table, schema, tm.Pram(keep=0.8), seed=1)
    >>> release.notes[0]
    'sex: 84 of 1,000 (8.4 %) values changed; 96.0 were expected to.'
    """

    keep: Annotated[float, Gt(0), Le(1), Slider(0.01, 1, 0.01), "0.8 is a common choice."] = 0.8
    semantic: bool = True
    reach: Annotated[float, Gt(0), Le(1e6), "0.05 is a good choice."] = 0.05
    attributes: Sequence[str] | None = None

    name = "pram"
    about = "Changes some categories at random, preferably to similar ones, so that the counts stay as expected."
    reference = "Gouweleeuw, Kooiman, Willenborg, de Wolf (1998), Journal of Official Statistics 14"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if engine.in_one_job(data.n):
            return super().mask_on(engine, data, rng)
        names = self._attributes(data)
        columns, notes = {}, []
        for name, own in zip(names, own_generators(rng, len(names)), strict=True):
            column = data.categorical(name)
            counts = engine.count(column)
            flows, stay = engine.run(_flows, self, column.outline(counts), what="masking")
            columns[name], found = engine.each(
                _redrawn, [column], self, counts, flows, what="masking", rng=own, main=True
            )
            changed, expected = how_many(int(sum(found)), int(counts.sum())), (1 - self.keep) * (counts.sum() - stay)
            notes.append(f"{name}: {changed} values changed; {expected:,.1f} were expected to.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        return MissingStays(names), OnlySeen(names)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return treatable(data, self.attributes, (Kind.NOMINAL, Kind.ORDINAL, Kind.TAXONOMIC), self.name)

    transition_needs_original = True

    def transition(self, data: Microdata, name: str) -> Transition:
        """P(released | original): the probability of each category that occurs to become each of them."""
        column = data.categorical(name)
        seen = np.flatnonzero(column.counts)
        counts = column.counts[seen]
        if self._is_flat(column):
            redrawn = np.broadcast_to(counts / max(counts.sum(), 1), (len(seen), len(seen)))
        else:
            redrawn = invariant_flows(_distances(column, seen), counts, self.reach) / counts[:, None]
        positions = column.positions[seen] if isinstance(column, TaxonomicColumn) and column.further is None else None
        return Transition(
            tuple(column.categories[i] for i in seen.tolist()),
            np.arange(len(seen)),
            self.keep * np.eye(len(seen)) + (1 - self.keep) * redrawn,
            np.zeros(len(seen)),
            positions,
        )

    def _is_flat(self, column: CategoricalColumn) -> bool:
        """Whether redraws follow the frequencies."""
        return not self.semantic or not (isinstance(column, TaxonomicColumn) or column.attribute.kind == Kind.ORDINAL)

    def _redrawn(
        self, column: CategoricalColumn, counts: NDArray[np.int64], flows: Float | None, rng: np.random.Generator
    ) -> tuple[CategoricalColumn, int]:
        """A column after randomisation, and how many values changed; ``flows`` is None for flat redraws."""
        codes = column.codes.copy()
        rows = np.flatnonzero(~column.missing)
        rows = rows[rng.random(len(rows)) >= self.keep]
        ticket = rng.random(len(rows))
        seen = np.flatnonzero(counts)
        if flows is None:
            n = max(int(counts.sum()), 1)
            codes[rows] = seen[np.searchsorted(np.cumsum(counts[seen]), np.floor(ticket * n), side="right")]
        else:
            number = np.full(len(column.categories), -1)
            number[seen] = np.arange(len(seen))
            for old, mine in rows_by_code(number[codes[rows]], len(seen)):
                total = np.cumsum(flows[old])
                new = np.searchsorted(total, ticket[mine] * total[-1], side="right")
                codes[rows[mine]] = seen[np.minimum(new, len(seen) - 1)]
        return column.with_codes(codes), int((codes != column.codes).sum())


def _flows(method: Pram, column: CategoricalColumn) -> tuple[Float | None, float]:
    """How many records of each category that occurs go to each, None if by frequency; and how many stay."""
    seen = np.flatnonzero(column.counts)
    counts = column.counts[seen]
    if method._is_flat(column):
        return None, float(np.square(counts).sum() / max(int(counts.sum()), 1))
    flows = invariant_flows(_distances(column, seen), counts, method.reach)
    return flows, float(np.trace(flows))


def _redrawn(column: CategoricalColumn, method: Pram, *rest: Any) -> tuple[CategoricalColumn, int]:
    return method._redrawn(column, *rest)


@dataclass(frozen=True)
class OnlySeen(Promise):
    """Only categories that occur in the original table are released."""

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        columns = [(original.categorical(name), released_column(released, original, name)) for name in self.attributes]
        return self._checked(sum(_new_categories(*both) for both in columns))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """By one record for each category that occurs."""
        new = 0
        for name in self.attributes:
            both = (original.columns[name].categorical, released_on(engine, released, original, name).categorical)
            seen = [one.with_cells(np.flatnonzero(engine.count(one)).astype(np.int32)) for one in both]
            new += _new_categories(*(one.categorical for one in seen))
        return self._checked(new)

    def _checked(self, new: int) -> Check:
        return Check(
            f"only original categories of {', '.join(self.attributes)} are released", new == 0, f"{new:,} others"
        )


def _new_categories(before: Column, after: Column) -> int:
    """How many categories occur after, and did not before."""
    first, second = alike(before, after)
    return int(((second.categorical.counts > 0) & (first.categorical.counts == 0)).sum())


def invariant_flows(distances: Float, counts: NDArray[np.int64], reach: float) -> Float:
    """F = X·W·X with X diagonal and row sums t: F(a, b) of the t_a records of category a go to b.

    W(a, b) = exp(-d(a, b) / h), and W(a, a) that of the nearest other category. F is symmetric, so that as many leave a
    category as arrive: R = F / t is invariant. Scaling stops when the sums are right to 1e-9; what is still missing
    then goes to the diagonal, so that they are right to the last bits.
    """
    t = counts.astype(float)
    n = t.sum()
    mean = float(t @ np.einsum("ij,j->i", distances, t)) / max(n * (n - 1), 1.0)
    flows = np.exp(-distances / (reach * mean)) if mean > 0 else np.ones_like(distances)
    np.fill_diagonal(flows, 0.0)
    np.fill_diagonal(flows, np.maximum(flows.max(axis=1, initial=0.0), 1e-200))
    x = np.sqrt(t / flows.diagonal())
    for _ in range(1_000):
        short = t / (x * np.einsum("ij,j->i", flows, x))
        if np.abs(short - 1).max(initial=0.0) <= 1e-9:
            break
        x *= np.sqrt(short)
    x *= np.minimum(t / (x * np.einsum("ij,j->i", flows, x)), 1.0)
    flows *= x[:, None]
    flows *= x
    flows[np.diag_indices(len(t))] += np.maximum(t - flows.sum(axis=1), 0.0)
    return flows


def _distances(column: CategoricalColumn, seen: NDArray[np.intp]) -> Float:
    """The distances between the categories that occur."""
    if len(seen) > MOST_CATEGORIES:
        raise DataError(
            f"column {column.attribute.name!r} has {len(seen):,} categories, too many for a table of distances "
            f"(at most {MOST_CATEGORIES:,}).",
            hint="Use semantic=False, or recode the column to a higher level of its taxonomy first.",
        )
    if not isinstance(column, TaxonomicColumn):
        return np.abs(seen[:, None] - seen).astype(float)
    if column.has_table or column.further is not None:
        return column.table[np.ix_(seen, seen)]
    scope = column.scopes[0]
    return scope.taxonomy.table(column.positions[seen], distance=column.attribute.distance, scope=scope)
