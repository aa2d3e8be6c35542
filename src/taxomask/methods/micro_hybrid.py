from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..engines import Engine, Memory
from ..errors import SchemaError
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..partition import Groups
from ..records import Extent
from ._attributes import too_coarse
from ._grouped import Grouped
from ._moments import extent_of
from ._neighbourhoods import Candidates, Draw, by_code, by_number, farthest_in_group, radii, rotated
from .base import Masked, Promise
from .microaggregation import BlockSize, GroupSize
from .promises import WithinRadius
from .promises_of_moments import ExactMoments

__all__ = ["MicroHybrid"]


@dataclass(frozen=True)
class MicroHybrid(Grouped):
    """Every value is replaced by a random one at most as far away as the farthest value of its group.

    The groups are those of `Microaggregation`. A value x of a numerical, ordinal or taxonomic attribute becomes a
    random value x' with d(x, x') ≤ the largest d(x, ·) in the group; a plain category is drawn from the categories of
    the group. What is promised is that every value stays within this radius, not k-anonymity. Missing values stay
    missing.

    Parameters
    ----------
    k
        The smallest size of a group: the larger, the more freedom.
    candidates
        ``"observed"``: values that occur in the table; ``"domain"``: all concepts of τ(X), all categories of the scale,
        all numbers of the interval.
    draw
        How observed values are drawn: by ``"frequency"``, or ``"uniform"`` over the distinct ones, as in the paper.
        Values of the domain are always drawn uniformly.
    synthesis
        ``"neighbourhood"``, as above, or ``"moments"``: the numerical values of each group are regenerated with exactly
        its means and covariances. Records with a missing number are treated as above, and so are dates and decimals
        that are rounded when they are written.
    algorithm, distance, scale, ordinal, block_size, attributes
        As in `Microaggregation`. With ``block_size``, values of a table of more than 1,048,576 records are drawn from
        a part of it.

    References
    ----------
    Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, PSD (Algorithm 2);
    Domingo-Ferrer, González-Nicolás (2010), Hybrid microdata using microaggregation, Information Sciences 180.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72], "dx": ["25001", "25002", "4019", "4010"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> release = tm.protect(table, schema, tm.MicroHybrid(k=2), seed=1)
    >>> sorted(set(release.data["age"].to_pylist()[:2]) | {20, 21})
    [20, 21]
    """

    k: GroupSize
    candidates: Candidates = "observed"
    draw: Draw = "frequency"
    synthesis: Literal["neighbourhood", "moments"] = "neighbourhood"
    algorithm: Literal["mdav", "refined"] = "mdav"
    distance: Literal["s", "generic"] = "s"
    scale: Literal["balanced", "paper"] = "balanced"
    ordinal: Literal["median", "convex_median"] = "median"
    block_size: BlockSize | None = None
    attributes: Sequence[str] | None = None

    name = "micro_hybrid"
    about = "Replaces every value by a random one that is no farther away than the values of k similar records."
    reference = "Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, PSD"

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if self.synthesis == "moments" and not self._numbers(data):
            raise SchemaError(
                f"synthesis='moments' keeps the moments of numbers, and {', '.join(self._attributes(data))} have none "
                "that are not rounded when they are written.",
                hint="Leave synthesis out: values are then drawn from their neighbourhood.",
            )
        names = self._attributes(data)
        grouping, moments, *each = rng.spawn(2 + len(names))
        groups = self.grouping().partition_on(engine, data, grouping)
        columns = dict(zip(names, groups.each(_replaced, names, self, what="replacing", rngs=each), strict=True))
        if self.synthesis == "moments":
            numbers = self._numbers(data)
            drawn = [columns[name] for name in numbers]
            columns |= zip(numbers, groups.all(_rotated, numbers, drawn, moments, what="keeping moments"), strict=True)
        return Masked(data.replace(columns), groups.together(), groups.notes)

    def keeps_moments(self, data: Microdata) -> tuple[str, ...]:
        return self._numbers(data) if self.synthesis == "moments" else ()

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        moments = self.keeps_moments(data)
        near = tuple(name for name in self._attributes(data) if name not in moments)
        promises: list[Promise] = [WithinRadius(near)] if near else []
        return (*promises, ExactMoments(moments)) if moments else tuple(promises)

    def _numbers(self, data: Microdata) -> tuple[str, ...]:
        """The attributes whose moments can be kept."""
        names = [name for name in self._attributes(data) if data.schema[name].kind == Kind.CONTINUOUS]
        extents = {
            name: Memory().fold(extent_of, Extent.with_, [data.columns[name]], what="adding up") for name in names
        }
        return tuple(name for name in names if not too_coarse(data, name, extents[name]))


def _replaced(groups: Groups, column: Column, method: MicroHybrid, rng: np.random.Generator) -> Column:
    """Random values within the radius of the group; those of the part, where a long table is looked at in parts."""
    if isinstance(column, ContinuousColumn):
        return by_number(column, radii(column.values, groups), method.candidates, method.draw, rng)
    if isinstance(column, TaxonomicColumn) or column.attribute.kind == Kind.ORDINAL:
        return by_code(column, farthest_in_group(column, groups), method.candidates, method.draw, rng)
    return _from_group(column, groups, rng)


def _rotated(groups: Groups, columns: Sequence[Column], rng: np.random.Generator) -> tuple[Column, ...]:
    """The masked numbers with the means and covariances of each group; of the columns the original ones come first."""
    before, after = list(columns[: len(columns) // 2]), columns[len(columns) // 2 :]
    return tuple(rotated(before, {one.attribute.name: one for one in after}, groups, rng).values())


def _from_group(column: CategoricalColumn, groups: Groups, rng: np.random.Generator) -> CategoricalColumn:
    """Every category drawn, with replacement, from those of its group; missing ones stay."""
    codes = column.codes.copy()
    present = ~column.missing
    order = groups.order[present[groups.order]]
    sizes = np.bincount(groups.numbers[present], minlength=len(groups.sizes))
    start = np.cumsum(sizes) - sizes
    group = groups.numbers[present]
    codes[present] = column.codes[order[start[group] + rng.integers(0, sizes[group])]]
    return column.with_codes(codes)
