from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider, check_integer
from ..engines import Engine, Memory
from ..errors import PlanError, SchemaError
from ..microdata import Column, ContinuousColumn, Kind, Microdata
from ..partition import (
    Groups,
    Ordinal,
    aggregate,
    along_one_column,
    check_enough,
    check_in_one_piece,
    enough_strata,
    exchange,
    from_strata,
    least_loss,
    loss_of_means,
    mdav,
    median_cuts,
    members,
    merge_until,
    refine,
    several,
    with_enough,
)
from ..records import Extent, RecordDistance, Spread
from ._closeness import Limits
from ._parts import InParts, Parts, distance_on, extent_of, spread_of
from .base import Masked, Method, Progress, Promise
from .promises import KAnonymity, LDiversity, MeanAndVariance, TCloseness, binary_scale

__all__ = ["Algorithm", "BlockSize", "GroupSize", "Microaggregation"]

Algorithm = Literal["auto", "mdav", "refined"]

GroupSize = Annotated[int, Ge(2), Slider(2, 50, start=5), "Groups of one record protect nobody."]
_FEW = "A block must hold a few groups of k records."
_MOST_BOUNDED = 10_000  # records; all pairs are looked at
_CHOICES = 16  # near groups that one in violation may be merged with
BlockSize = Annotated[int, Ge(8), _FEW]


@dataclass(frozen=True)
class Microaggregation(Method):
    """Groups of at least k similar records share one average record.

    Where the schema names a person, or a household, a group has records of at least k different ones.

    Parameters
    ----------
    k
        The smallest size of a group.
    algorithm
        ``"mdav"`` (groups of k), or ``"refined"``: a search that starts there and lowers the loss, with groups of k to
        2k - 1 records. By default (``"auto"``) and with ``"refined"`` a number that is protected by itself has the best
        groups of all (see `IndividualRanking`); for everything else ``"auto"`` is MDAV.
    distance, scale
        How far apart records are; see `RecordDistance`.
    ordinal
        The average of ordered categories: ``"median"`` or ``"convex_median"``.
    keep_variance
        Rescale continuous attributes about their original means so that means and variances are those of the original
        table, over the values that are there. An attribute that is released as one value has no variance to rescale.
    block_size
        For very large tables: cut the table into blocks of at most this many similar records first, and make the groups
        within them. The time grows in proportion to the table then, for a somewhat larger loss.
    objective
        What the refined search lowers: ``"record"``, the squared distances δ² of records and their released values,
        or ``"semantic"``, in which categories count by their squared semantic distance.
    steps, seconds
        The budget of the refined search. A budget in steps (by default about a second for small tables) gives the same
        result for the same seed; a time limit may end it early, which is noted then.
    t
        t-closeness: in every group the distribution of each confidential attribute is within this earth mover's
        distance of that in the whole table; in (0, 1].
    l
        l-diversity: every group has at least this many different values of each confidential attribute.
    closeness
        How groups come to t and l. ``"merge"``: groups that lack it are merged with near ones. ``"swap"``: they first
        exchange records for near ones of groups that were made later, as long as that helps. ``"first"``, for t only:
        the table is cut into strata along the first confidential attribute, and a group has a record of each. What is
        left is merged in every case, and the promise is checked.
    attributes
        The columns to protect; by default all quasi-identifiers.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data
    Mining and Knowledge Discovery 11, doi 10.1007/s10618-005-0007-5 (MDAV-generic); Domingo-Ferrer, Sánchez,
    Rufian-Torrell (2013), Anonymization of nominal data based on semantic marginality, Information Sciences 242
    (taxonomic attributes); Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2015), t-closeness through microaggregation:
    strict privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27 (swap and
    first, with other seeds here).

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72], "dx": ["25001", "25002", "4019", "4019"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> tm.protect(table, schema, tm.Microaggregation(k=2)).data.to_pydict()
    {'age': [20.5, 20.5, 71.0, 71.0], 'dx': ['25001', '25001', '4019', '4019']}
    """

    k: GroupSize
    algorithm: Algorithm = "auto"
    distance: Literal["s", "generic"] = "s"
    scale: Literal["balanced", "paper"] = "balanced"
    ordinal: Ordinal = "median"
    keep_variance: bool = False
    block_size: BlockSize | None = None
    objective: Literal["record", "semantic"] = "record"
    steps: Annotated[int, Ge(0)] | None = None
    seconds: Annotated[float, Gt(0)] | None = None
    t: Annotated[float, Gt(0), Le(1), Slider(0.01, 1, 0.01), "0.25 is a common choice."] | None = None
    l: Annotated[int, Ge(2), Slider(2, 10), "One value in a group tells everything."] | None = None  # noqa: E741
    closeness: Literal["merge", "swap", "first"] = "merge"
    attributes: Sequence[str] | None = None

    name = "microaggregation"
    about = "Makes groups of at least k similar records and gives all records of a group the same values."
    reference = "Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5"

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.block_size is not None:
            check_integer("block_size", self.block_size, at_least=4 * self.k, hint=_FEW)
        if self.closeness != "merge" and self.t is None and (self.l is None or self.closeness == "first"):
            asked = "t" if self.closeness == "first" else "t or l"
            raise PlanError(
                f"closeness={self.closeness!r} needs {asked}.", hint=f"Give {asked}, or leave closeness out."
            )
        if self.closeness == "first" and (self.block_size is not None or self.algorithm == "refined"):
            raise PlanError(
                "closeness='first' makes its groups from the whole table, and in one way only.",
                hint="Leave block_size and algorithm out, or use closeness='swap'.",
            )

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        names = self._attributes(data)
        if self.in_parts(engine, data) and self.t is None and self.l is None:
            made = self.parts_on(engine, data, rng)
            found = made.each(_averaged_part, names, self.ordinal, what="averaging")
            columns = dict(zip(names, found, strict=True))
            if self.keep_variance:
                columns = {name: _with_moments_on(engine, data.columns[name], one) for name, one in columns.items()}
            return Masked(data.replace(columns), made.groups(), made.notes)
        groups = self.groups_on(engine, data, rng)
        items = [(data.columns[name], groups, self.ordinal, self.keep_variance) for name in names]
        averages = engine.map(_averaged, items, "averaging")
        return Masked(data.replace(dict(zip(names, averages, strict=True))), groups, groups.notes)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        promises: list[Promise] = [KAnonymity(self.k, names)]
        numbers = tuple(name for name in names if data.schema[name].kind == Kind.CONTINUOUS)
        if self.keep_variance and numbers:
            promises.append(MeanAndVariance(numbers))
        confidential = self._confidential(data)
        if self.t is not None:
            promises += [TCloseness(self.t, name, names) for name in confidential]
        if self.l is not None:
            promises += [LDiversity(self.l, name, names) for name in confidential]
        return tuple(promises)

    def keeps_moments(self, data: Microdata) -> tuple[str, ...]:
        return self._attributes(data) if self.keep_variance else ()

    def groups(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Groups:
        """The partition, before anything is averaged."""
        return self.groups_on(Memory().telling(progress), data, rng)

    def groups_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Groups:
        """The partition, wherever the table lies. Each block has a generator of its own."""
        groups: Groups
        if self.closeness != "first" and self._is_one_number(data):
            groups = engine.run(_group_line, self, data, what="grouping", main=True)
            return groups
        if self.block_size is None:
            check_in_one_piece(data.n, self.name)
            groups = engine.run(_group, self, data, rng, what="grouping", main=True)
            return groups
        if self.in_parts(engine, data):
            groups = self.parts_on(engine, data, rng).groups()
            if self.t is not None or self.l is not None:
                groups = engine.run(_mended, self, data, groups, what="numbering the groups")
            return groups
        blocks = engine.run(_cut, self, data, what="cutting into blocks")
        items = [(self, block, child) for block, child in zip(blocks, rng.spawn(len(blocks)), strict=True)]
        inside = engine.map(_group_block, items, "grouping", main=True)
        rows = [block.rows for block in blocks]
        groups = engine.run(_numbered, self, data, rows, inside, what="numbering the groups")
        return groups

    def parts_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> InParts:
        """The partition of a long table, made in parts of it; before t and l."""
        assert self.block_size is not None
        units = data.units
        check_enough(data.n, None, self.k)
        names = self._attributes(data)
        columns = [data.columns[name] for name in names]
        space = goal = distance_on(engine, columns, distance=self.distance, scale=self.scale)
        if self.objective == "semantic":
            goal = distance_on(engine, columns, distance="generic")
        sample, each = rng.spawn(2)
        parts = Parts.cut(engine, columns, space, self.block_size, sample, units, self.k)
        brought = [parts.brought(column) for column in columns]
        rows = [range(data.n) if units is None else parts.brought(units), *brought]
        what = "grouping"
        inside, counts, notes = parts.each(_group_part, rows, self, space, goal, what=what, rng=each, main=True)
        said = tuple(dict.fromkeys(note for some in notes for note in some))
        return InParts(parts, dict(zip(names, brought, strict=True)), inside, tuple(counts), said)

    def in_parts(self, engine: Engine, data: Microdata) -> bool:
        """Whether the table is so long that blocks are made in parts of it."""
        return self.block_size is not None and data.n > engine.chunk and not self._is_one_number(data)

    def _is_one_number(self, data: Microdata) -> bool:
        """Whether the best groups of all can be found: for one number, whatever the length of the table."""
        kinds = [data.schema[name].kind for name in self._attributes(data)]
        return self.algorithm != "mdav" and kinds == [Kind.CONTINUOUS]

    def _spaces(self, data: Microdata) -> tuple[RecordDistance, RecordDistance]:
        """The distance by which groups are made, and that of the objective of a refined search."""
        names = self._attributes(data)
        space = RecordDistance(data, names, distance=self.distance, scale=self.scale)
        return space, RecordDistance(data, names, distance="generic") if self.objective == "semantic" else space

    def _merged(self, data: Microdata, space: RecordDistance | None, groups: Groups) -> Groups:
        """The groups after those that break t-closeness or l-diversity were mended, and merged with others."""
        if self.t is None and self.l is None:
            return groups
        limits, space = self._limits(data), space or self._spaces(data)[0]
        if self.closeness == "swap":
            groups = exchange(space, groups, limits, self._by_confidential(data), self.k, data.units)
        choices = 1 if self.closeness == "merge" else _CHOICES
        return Groups(merge_until(space, groups, limits, choices), groups.notes)

    def _from_strata(self, data: Microdata, space: RecordDistance) -> Groups:
        """Groups with a record of each stratum of the first confidential attribute, merged where that is not enough."""
        assert self.t is not None
        check_enough(data.n, several(data.units), self.k)
        strata = enough_strata(data.n, self.k, self.t)
        return self._merged(data, space, from_strata(space, self._by_confidential(data), strata))

    def _by_confidential(self, data: Microdata) -> NDArray[np.int64]:
        """The records in the order of the first confidential attribute, missing values last."""
        ranks = data.columns[self._confidential(data)[0]].numbered()[0]
        return np.argsort(np.where(ranks < 0, np.iinfo(np.int64).max, ranks), kind="stable")

    def _partition(
        self,
        space: RecordDistance,
        goal: RecordDistance,
        people: NDArray[np.int64] | None,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> Groups:
        numbers = mdav(space, self.k, people=people, ordinal=self.ordinal)
        if self.algorithm != "refined":
            if progress is not None:
                progress(1.0)
            return Groups(numbers)
        found = refine(
            space,
            numbers,
            self.k,
            rng=rng,
            people=people,
            steps=self.steps,
            seconds=self.seconds,
            ordinal=self.ordinal,
            objective=goal,
            progress=progress,
        )
        late = "The refined search was ended by its time limit; another run may give other groups."
        return Groups(found.groups, (late,) if found.stopped == "time" else ())

    def _limits(self, data: Microdata) -> Limits:
        """How far groups are from t-closeness and l-diversity, and where strata make them from k people."""
        columns = [data.columns[name] for name in self._confidential(data)]
        units = data.units if self.closeness == "first" else None
        return Limits(columns, self.t, self.l, data.people, units, self.k)

    def _confidential(self, data: Microdata) -> tuple[str, ...]:
        names = tuple(name for name in data.schema.confidential if name not in self._attributes(data))
        if not names and (self.t is not None or self.l is not None):
            raise SchemaError(
                "t and l need a confidential attribute, and the table has none.",
                hint="Give the column to be hidden in the groups the role confidential and a kind.",
            )
        return names


def _with_moments_of(original: Column, averaged: Column) -> Column:
    """Numbers moved and stretched to their original mean and variance, over the values that are there.

    Where values are missing, averages have another mean: a missing cell is filled, or present ones are emptied.
    """
    if not isinstance(original, ContinuousColumn) or not isinstance(averaged, ContinuousColumn):
        return averaged
    before, present = (column.values[~column.missing] for column in (original, averaged))
    if not len(present) or before.min() == before.max():
        return averaged
    scale = binary_scale(before)
    before, present = before / scale, present / scale
    origin = before.min()
    found, wanted = present - origin, before - origin
    deviation = np.std(found, ddof=1) if len(found) > 1 else 0.0  # 0 of numbers whose squares are too small, too
    alike = np.ptp(found) <= 1e-14 * np.abs(before).max()  # equal averages, up to rounding, cannot be stretched
    stretch = 0.0 if alike or deviation == 0 else np.std(wanted, ddof=1) / deviation
    moved = wanted.mean() + (averaged.values / scale - origin - found.mean()) * stretch
    return averaged.with_values((origin + moved) * scale)


# --------------------------------------------------------------------------------------- the steps


@dataclass(frozen=True, eq=False)
class _Block:
    """Some similar records, and how far apart they are: for grouping, and for the objective of a refined search."""

    rows: NDArray[np.int64]
    space: RecordDistance
    goal: RecordDistance
    people: NDArray[np.int64] | None


def _group(method: Microaggregation, data: Microdata, rng: np.random.Generator, progress: Progress | None) -> Groups:
    space, goal = method._spaces(data)
    if method.closeness == "first":
        return method._from_strata(data, space)
    groups = method._partition(space, goal, data.units, rng, progress)
    return method._merged(data, space, Groups(groups.numbers, (*groups.notes, *_how_far(method, data, space, groups))))


def _how_far(method: Microaggregation, data: Microdata, space: RecordDistance, groups: Groups) -> tuple[str, ...]:
    """How far a refined search of numbers is from the best possible, at most; where that can be said in short time."""
    whole = all(data.schema[name].kind == Kind.CONTINUOUS for name in method._attributes(data))
    whole = whole and method.distance == "s" and data.n <= _MOST_BOUNDED and not np.isnan(space.arrays[0]).any()
    if method.algorithm != "refined" or method.t is not None or method.l is not None or not whole:
        return ()
    least, found = least_loss(space.arrays[0], method.k), loss_of_means(space.arrays[0], groups.numbers)
    if not least > 1e-9 * np.square(space.arrays[0] - space.arrays[0].mean(axis=0)).sum():  # rounding
        return ()
    times = np.ceil(100 * max(found / least, 1.0)) / 100
    return (f"The loss of the groups is at most {times:.2f} times the least possible with k = {method.k}.",)


def _group_line(method: Microaggregation, data: Microdata) -> Groups:
    (name,) = method._attributes(data)
    return method._merged(data, None, along_one_column(data.columns[name], method.k, data.units))


def _cut(method: Microaggregation, data: Microdata) -> list[_Block]:
    assert method.block_size is not None
    space, goal = method._spaces(data)
    people = data.units
    check_enough(data.n, several(people), method.k)
    blocks = []
    for rows in with_enough(members(median_cuts(space, method.block_size)), people, method.k):
        part = space.take(rows)
        own = None if people is None else people[rows]
        blocks.append(_Block(rows, part, part if goal is space else goal.take(rows), own))
    return blocks


def _group_block(
    method: Microaggregation, block: _Block, rng: np.random.Generator, progress: Progress | None
) -> Groups:
    return method._partition(block.space, block.goal, block.people, rng, progress)


def _numbered(
    method: Microaggregation, data: Microdata, blocks: list[NDArray[np.int64]], inside: list[Groups]
) -> Groups:
    """The groups of all blocks, numbered through, and merged where t or l ask for it."""
    numbers, first = np.empty(data.n, dtype=np.int32), 0
    for rows, groups in zip(blocks, inside, strict=True):
        numbers[rows] = groups.numbers + first
        first += int(groups.numbers.max()) + 1
    notes = tuple(dict.fromkeys(note for groups in inside for note in groups.notes))
    return method._merged(data, None, Groups(numbers, notes))


def _group_part(
    rows: Any, *columns_and_how: Any, progress: Progress | None
) -> tuple[NDArray[np.int32], int, tuple[str, ...]]:
    """The groups of a part of a long table, block by block: their numbers, how many there are, and notes.

    ``rows`` are the people, or positions where there are none.
    """
    *columns, method, space, goal, rng = columns_and_how
    people = rows if isinstance(rows, np.ndarray) else None
    here = space.among(columns)
    there = here if goal is space or method.objective == "record" else goal.among(columns)
    check_enough(here.n, several(people), method.k)
    blocks = with_enough(members(median_cuts(here, method.block_size, far=False)), people, method.k)
    numbers, first, notes = np.empty(here.n, dtype=np.int32), 0, []
    for done, (some, child) in enumerate(zip(blocks, rng.spawn(len(blocks)), strict=True)):
        near = here.take(some)
        own = None if people is None else people[some]
        groups = method._partition(near, near if there is here else there.take(some), own, child, None)
        numbers[some] = groups.numbers + first
        first += int(groups.numbers.max()) + 1
        notes += groups.notes
        if progress is not None:
            progress((done + 1) / len(blocks))
    return numbers, first, tuple(notes)


def _mended(method: Microaggregation, data: Microdata, groups: Groups) -> Groups:
    return method._merged(data, None, groups)


def _averaged_part(numbers: NDArray[np.int32], *columns_and_rule: Any) -> tuple[Column, ...]:
    *columns, ordinal = columns_and_rule
    groups = Groups(numbers)
    return tuple(aggregate(column, groups, ordinal=ordinal) for column in columns)


def _with_moments_on(engine: Engine, original: Column, averaged: Column) -> Column:
    """As `_with_moments_of`, of a long column."""
    if not isinstance(original, ContinuousColumn):
        return averaged
    what = "keeping moments"
    before, after = (engine.fold(extent_of, Extent.with_, [one], what=what) for one in (original, averaged))
    if not after.count or before.smallest == before.largest:
        return averaged
    origin = before.smallest
    wanted, found = (engine.fold(spread_of, Spread.with_, [one], origin, what=what) for one in (original, averaged))
    largest = max(abs(before.smallest), abs(before.largest))
    alike = (after.largest - origin) - (after.smallest - origin) <= 1e-14 * largest
    deviation = np.sqrt(found.variance)
    stretch = 0.0 if alike or deviation == 0 else np.sqrt(wanted.variance) / deviation
    stretched: Column = engine.each(_stretched, [averaged], origin, wanted.mean, found.mean, float(stretch), what=what)
    return stretched


def _stretched(column: ContinuousColumn, origin: float, wanted: float, found: float, stretch: float) -> Column:
    return column.with_values(origin + (wanted + (column.values - origin - found) * stretch))


def _averaged(column: Column, groups: Groups, ordinal: Ordinal, keep_variance: bool) -> Column:
    averages = aggregate(column, groups, ordinal=ordinal)
    return _with_moments_of(column, averages) if keep_variance else averages
