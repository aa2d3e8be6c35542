from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..errors import SchemaError
from ..microdata import Column, Microdata
from ..microdata.alike import alike, places_of_both
from ..microdata.coding import code
from ..microdata.combinations import combined, numbered
from ..microdata.frames import Frame
from ._long_swaps import cells_on, each_swapped_on, swapped_within_on
from ._swapping import Swaps, swapped
from .base import Check, Masked, Method, Progress, Promise, chosen
from .promises import Permutation

__all__ = ["KeptTables", "RandomSwapping"]


@dataclass(frozen=True)
class RandomSwapping(Method):
    """Every value is swapped with that of another record, chosen at random.

    With ``within``, only among records that agree in these columns: all tables of a swapped attribute with them stay
    exactly as they are. Missing cells stay where they are.

    Parameters
    ----------
    attributes
        The columns to swap, each by itself; by default all quasi-identifiers.
    within
        Columns whose values the two records of a swap must share; a missing value is a value of its own.

    References
    ----------
    Dalenius, Reiss (1982), Data-swapping: a technique for disclosure control, Journal of Statistical Planning and
    Inference 6.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 30, 40, 50], "sex": ["f", "f", "m", "m"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("sex", role="other", kind="nominal"),
    ... ])
    >>> release = tm.protect(table, schema, tm.RandomSwapping(within=["sex"]))
    >>> release.data["age"].to_pylist()
    [30, 20, 50, 40]
    """

    attributes: Sequence[str] | None = None
    within: Sequence[str] = ()

    name = "random_swapping"
    about = "Swaps values at random, if asked only between records that agree in some columns."
    reference = "Dalenius, Reiss (1982), Data-swapping: a technique for disclosure control, JSPI 6"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        cells, _ = numbered((data.columns[name].numbered()[0] for name in self._within(data)), data.n)
        return swapped(data, {name: _pairs(data.columns[name], cells, rng) for name in self._attributes(data)})

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        columns = [data.columns[name] for name in self._within(data)]
        cells = cells_on(engine, columns, data.n)
        swap = lambda engine, column, rng: swapped_within_on(engine, column, cells, rng)  # noqa: E731
        return each_swapped_on(engine, data, self._attributes(data), swap, rng)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names, within = self._attributes(data), self._within(data)
        promises: tuple[Promise, ...] = (Permutation(names),)
        return (*promises, KeptTables(names, within)) if within else promises

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _within(self, data: Microdata) -> tuple[str, ...]:
        within = chosen(data, self.within, (), "column") if self.within else ()
        both = [name for name in within if name in self._attributes(data)]
        if both:
            raise SchemaError(
                f"{', '.join(map(repr, both))} cannot be swapped and kept at once.",
                hint="Name the attributes to swap, without those of within.",
            )
        return within


@dataclass(frozen=True)
class KeptTables(Promise):
    """The counts of each attribute by the columns ``within`` are the original ones."""

    attributes: tuple[str, ...]
    within: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        both = {}
        for name in (*self.attributes, *self.within):
            pair = alike(original.columns[name], code(released, original.schema[name]).column)
            both[name] = np.concatenate(places_of_both(*pair))
        cells = combined((both[name] for name in self.within), 2 * original.n)
        differ = 0
        for name in self.attributes:
            key = combined([cells, both[name]], 2 * original.n)
            differ += not np.array_equal(np.sort(key[: original.n]), np.sort(key[original.n :]))
        return Check(
            f"the counts of {', '.join(self.attributes)} by {', '.join(self.within)} are the original ones",
            not differ,
            f"{differ} of {len(self.attributes)} tables differ",
        )


def _pairs(column: Column, cells: NDArray[np.int64], rng: np.random.Generator) -> Swaps:
    """Random pairs of records of the same cell; one of an odd number stays."""
    rows = np.flatnonzero(~column.missing)
    shuffled = rows[rng.permutation(len(rows))]
    shuffled = shuffled[np.argsort(cells[shuffled], kind="stable")]
    sizes = np.bincount(cells[shuffled], minlength=1)
    within = np.arange(len(shuffled)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    first = np.flatnonzero(within % 2 == 0)
    second = first + (within[first] + 1 < size[first])
    return Swaps(np.column_stack([shuffled[first], shuffled[second]]), size[first] - within[first] - 1)
