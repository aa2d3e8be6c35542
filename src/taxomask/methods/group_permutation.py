from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column, ContinuousColumn, Microdata
from ..microdata.alike import alike
from ..microdata.combinations import combined, numbered
from ..microdata.frames import Frame
from ..microdata.people import class_owners
from ..partition import Groups, Ordinal
from ._grouped import Grouped
from ._kept import differs, released_column
from ._ranks import random_order
from .base import Check, Masked, Promise
from .microaggregation import Algorithm, BlockSize, GroupSize
from .promises import Permutation, smallest_of

__all__ = ["EqualChances", "GroupPermutation"]


@dataclass(frozen=True)
class GroupPermutation(Grouped):
    """Inside every group of at least k similar records the values of each column change places at random.

    The groups are those of `Microaggregation`. Each protected column has a random order of its own in every group, and
    missing cells take part. So each column holds exactly what it held before, in the table and in every group, and each
    released cell belongs to each record of its group with equal probability: at most 1/k.

    Values that are equal in a whole group stay what they are, and say it of all its records. Columns that are not
    permuted stand with their row: they are not covered.

    Parameters
    ----------
    k
        The smallest size of a group.
    algorithm, distance, scale, ordinal, block_size, objective, steps, seconds
        How the groups are made, as in `Microaggregation`.
    attributes
        The columns that groups are made by and that are permuted; by default all quasi-identifiers.

    References
    ----------
    Soria-Comas, Domingo-Ferrer (2012), Probabilistic k-anonymity through microaggregation and data swapping, FUZZ-IEEE,
    doi 10.1109/FUZZ-IEEE.2012.6251280.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72], "dx": ["25001", "25002", "4019", None]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> release = tm.protect(table, schema, tm.GroupPermutation(k=2), seed=11)
    >>> release.data.to_pydict()
    {'age': [20, 21, 70, 72], 'dx': ['25002', '25001', None, '4019']}
    >>> print(release.promise[-1])
    holds: each released cell of age, dx belongs to each record of its group with equal probability, at most
    1/k = 1/2 (the smallest of 2 groups has 2 records; in every group the values are those that were in it)
    """

    k: GroupSize
    algorithm: Algorithm = "auto"
    distance: Literal["s", "generic"] = "s"
    scale: Literal["balanced", "paper"] = "balanced"
    ordinal: Ordinal = "median"
    block_size: BlockSize | None = None
    objective: Literal["record", "semantic"] = "record"
    steps: Annotated[int, Ge(0)] | None = None
    seconds: Annotated[float, Gt(0)] | None = None
    attributes: Sequence[str] | None = None

    name = "group_permutation"
    about = "Makes groups of at least k similar records and puts the values of each column in random order inside them."
    reference = "Soria-Comas, Domingo-Ferrer (2012), doi 10.1109/FUZZ-IEEE.2012.6251280"

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        names = self._attributes(data)
        grouping, *each = rng.spawn(1 + len(names))
        groups = self.grouping().partition_on(engine, data, grouping)
        found = groups.each(_permuted, names, what="permuting", rngs=each)
        notes = [
            f"{name}: all values are equal in {sum(single):,} of {groups.count:,} groups, where their order hides "
            "nothing."
            for name, (_, single) in zip(names, found, strict=True)
            if sum(single)
        ]
        columns = dict(zip(names, (column for column, _ in found), strict=True))
        return Masked(data.replace(columns), groups.together(), (*groups.notes, *notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        return (Permutation(names, missing_move=True), EqualChances(self.k, names))


def _permuted(groups: Groups, column: Column, rng: np.random.Generator) -> tuple[Column, int]:
    """The column in a random order inside each group, and in how many groups all its values are equal."""
    source = np.empty(len(column), dtype=np.int64)
    source[groups.order] = random_order(groups.numbers, rng)
    numbers = column.numbered()[0][groups.order]
    starts = groups.start[:-1]
    single = np.minimum.reduceat(numbers, starts) == np.maximum.reduceat(numbers, starts)
    return column.take(source), int(single.sum())


@dataclass(frozen=True)
class EqualChances(Promise):
    """Each released cell of these attributes belongs to each record of its group with equal probability, at most 1/k.

    Where the schema names a person or a household, groups have records of at least k of them, and the promise says what
    share of a group's records one of them owns at most.

    It is checked that the groups are large enough, that each holds exactly the values that were in it, and that these
    stand where the generator has put them: no later step may move them. Nothing is said of what else an intruder knows,
    such as whose the other cells of a group are, nor of columns that are not permuted.
    """

    family: ClassVar[str] = "chances"
    by_chance: ClassVar[bool] = True

    k: int
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        assert masked.groups is not None
        groups, unit = masked.groups, original.unit
        people = class_owners(groups.numbers, original.units)
        smallest = int(people.min())
        differ, moved = [], 0
        for name in self.attributes:
            found = released_column(released, original, name)
            before, after = alike(original.columns[name], found)
            if not _same_in_groups(before, after, groups.numbers):
                differ.append(name)
            elif differs(masked.data.columns[name], found).any():
                moved += 1
        covered = {*self.attributes, *masked.data.schema.following(frozenset(self.attributes))}
        others = [name for name in released.names if name not in covered]
        stand = "stands with its row and is" if len(others) == 1 else "stand with their row and are"
        beyond = f"; {', '.join(others)} {stand} not covered" if others else ""
        inside = "in every group the values are those that were in it"
        if differ or moved:
            inside = f"other values in groups: {', '.join(differ) or 'none'}; moved afterwards: {moved} columns"
        return Check(
            f"each released cell of {', '.join(self.attributes)} belongs to each record of its group with equal "
            f"probability, {self._bound(original, groups)}{beyond}",
            smallest >= self.k and not differ and not moved,
            f"{smallest_of(len(people), smallest, unit, 'group', 'groups')}; {inside}",
        )

    def _bound(self, original: Microdata, groups: Groups) -> str:
        """At most 1/k; of people with several records in a group the largest share, if that is more."""
        if original.units is None:
            return f"at most 1/k = 1/{self.k}"
        pairs, first = numbered([groups.numbers, original.units], original.n)
        share = np.bincount(pairs) / groups.sizes[groups.numbers[first]]
        owned = f"and nobody owns more than {{}} of the records of a group, counted in {original.unit}"
        if share.max() <= (1 + 1e-12) / self.k:
            return owned.format(f"1/k = 1/{self.k}")
        return owned.format(f"{np.ceil(1000 * share.max()) / 10:.1f} %")

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes  # a random order may be the original one, and must be as likely as every other


def _same_in_groups(before: Column, after: Column, groups: NDArray[np.int32]) -> bool:
    """Whether each group has the same values in both columns, as often, in whatever order; missing is a value."""
    if len(before) != len(after):
        return False
    if isinstance(before, ContinuousColumn):
        x, y = (one.numbers()[np.lexsort((one.numbers(), groups))] for one in (before, after))
        return np.array_equal(x, y, equal_nan=True)
    first, second = (np.sort(combined([groups, one.numbered()[0]], len(groups))) for one in (before, after))
    return np.array_equal(first, second)
