from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider, check_integer
from ..engines import Engine, Memory
from ..errors import PlanError, SchemaError
from ..microdata import Column, Kind, Microdata
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
    merge_until,
    refine,
    several,
)
from ..records import RecordDistance
from ._blocks import in_blocks, in_parts
from ._closeness import Limits
from ._partition import AtOnce, Partition
from .base import Masked, Method, Progress, Promise
from .promises import KAnonymity, LDiversity, TCloseness
from .promises_of_moments import MeanAndVariance

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
    distance
        How far apart records are. ``"s"``: numbers in standard deviations, codes and categories by their distance in
        meaning. ``"generic"``: that of the paper on MDAV-generic, in which all different categories are equally far.
    scale
        Of the distance ``"s"``. ``"balanced"``: every column counts about the same; ``"paper"``: as in the paper, where
        codes and categories hardly count beside numbers.
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
        groups = self.partition_on(engine, data, rng)
        averages = groups.each(_averaged, names, self.ordinal, what="averaging")
        columns = dict(zip(names, averages, strict=True))
        if self.keep_variance:
            columns = {name: groups.with_moments_of(data.columns[name], one) for name, one in columns.items()}
        return Masked(data.replace(columns), groups.together(), groups.notes)

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
        """The partition, wherever the table lies."""
        return self.partition_on(engine, data, rng).together()

    def partition_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Partition:
        """The same, ready for what is to be done with the groups: in blocks, each with a generator of its own, where
        that is asked for, and in parts of the table if it is so long that nothing should look at all of it."""
        if self.closeness != "first" and self._is_one_number(data):
            return AtOnce(engine, data, engine.run(_group_line, self, data, what="grouping", main=True))
        if self.block_size is None:
            check_in_one_piece(data.n, self.name)
            return AtOnce(engine, data, engine.run(_group, self, data, rng, what="grouping", main=True))
        made = (in_blocks if data.n <= engine.chunk else in_parts)(self, engine, data, rng)
        if self.t is None and self.l is None:
            return made
        return AtOnce(engine, data, engine.run(_merged, self, data, made.together(), what="merging groups"))

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
        """Groups of records that are near each other, whose they are or not; refined if that is asked for."""
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


# --------------------------------------------------------------------------------------- the steps


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


def _merged(method: Microaggregation, data: Microdata, groups: Groups) -> Groups:
    return method._merged(data, None, groups)


def _averaged(groups: Groups, column: Column, ordinal: Ordinal) -> Column:
    return aggregate(column, groups, ordinal=ordinal)
