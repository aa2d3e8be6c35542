"""What a measure is: declared beside its function; evaluations, reports, the docs and the command line read it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engines import Engine
from ..methods import Method, Progress
from ..microdata import Column, Kind, Microdata, Role
from ..microdata.class_risk import survey_weights
from .side_by_side import same_values

__all__ = ["CATEGORIES", "Figure", "Measure", "Tables", "telling", "value_at"]

Item = TypeVar("Item")

CATEGORIES = (Kind.ORDINAL, Kind.NOMINAL, Kind.TAXONOMIC)


@dataclass(frozen=True)
class Figure:
    """A figure that a measure finds, in words.

    Parameters
    ----------
    where
        Where it stands in the plain values of what was found, with dots between the keys; a star stands for each
        column. Empty if that is no single figure.
    title
        What people read.
    about
        Its meaning, in one sentence.
    paper
        Its name in the papers, if it has one.
    rates
        Of a share that an intruder reaches: what was found as a `Rate` each, with words, for the table of a report.
    """

    where: str
    title: str
    about: str
    paper: str = ""
    rates: Callable[[Any], Mapping[str, Any]] | None = None


@dataclass(frozen=True, eq=False)
class Tables:
    """What measures look at: both tables, the columns to compare, and what `evaluate` was told about them.

    ``columns`` has those of both tables side by side, in one numbering of the categories. ``method`` is how the table
    was protected, if that is known, ``attackers`` are those that were chosen (None: all), and ``found`` is what the
    measures of risk have found, for attackers.
    """

    original: Microdata
    released: Microdata
    columns: Mapping[str, tuple[Column, Column]]
    linked: bool = True
    control: Microdata | None = None
    weights: ArrayLike | str | None = None
    seed: int | np.random.Generator = 0
    samples: int = 100
    method: Method | None = None
    attackers: tuple[str, ...] | None = None
    found: Mapping[str, Any] = field(default_factory=dict)

    @property
    def both(self) -> tuple[Microdata, Microdata]:
        """The tables as they are."""
        return self.original, self.released

    @property
    def aligned(self) -> tuple[Microdata, Microdata, tuple[str, ...]]:
        """The tables with their columns side by side, which share one table of distances, and the names of these."""
        before = self.original.replace({name: x for name, (x, _) in self.columns.items()})
        return before, self.released.replace({name: y for name, (_, y) in self.columns.items()}), tuple(self.columns)

    @cached_property
    def population(self) -> int | None:
        """How many people the population has that the table is a sample of, as was said, or as the weights say."""
        said, weights, people = self.original.schema.population_size, self._weights, self.released.people
        if said is not None or weights is None:
            return said
        return max(round(float((weights if people is None else weights / np.bincount(people)[people]).sum())), self.n)

    @property
    def fraction(self) -> float | None:
        """The share of the population that is in the table."""
        people = self.n if self.original.people is None else int(self.original.people.max(initial=-1)) + 1
        return None if self.population is None else min(people / self.population, 1.0)

    @property
    def survey_weights(self) -> ArrayLike | str | None:
        """For how many people of the population each released record stands; None if there is nothing to say it from.

        Of a sample that has no weights, but the size of whose population is known, all records stand for as many.
        """
        if self.weights is not None:
            return self.weights
        return survey_weights(self.original if self.linked else self.released)

    @property
    def _weights(self) -> NDArray[np.float64] | None:
        """Weights that were passed, or that stand in the table."""
        if isinstance(self.weights, str):
            column = self.released.columns.get(self.weights)
            return None if column is None else column.numbers()
        if self.weights is not None:
            return np.asarray(self.weights, dtype=np.float64)
        return self.original.weights if self.linked else self.released.weights

    @property
    def confidential(self) -> tuple[str, ...]:
        """The confidential attributes that are released."""
        return tuple(name for name in self.original.schema.confidential if name in self.released.columns)

    @property
    def rng(self) -> np.random.Generator:
        """Draws the same for every measure, wherever it is computed, unless the seed is a generator itself."""
        return np.random.default_rng(self.seed)

    @property
    def n(self) -> int:
        """How many original records there are."""
        return self.original.n

    @property
    def known(self) -> int:
        """How many columns an intruder may know."""
        return len(self.original.schema.quasi_identifiers)

    @property
    def cells(self) -> int:
        return self.n * len(self.columns)

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        return comb(len(self.columns), 2)

    @cached_property
    def changed_pairs(self) -> int:
        """How many of them are not what they were; of long tables at most so many."""
        if self.n > Engine.chunk:
            return self.pairs
        return self.pairs - comb(sum(same_values(*pair) for pair in self.columns.values()), 2)

    def of_kinds(self, kinds: Collection[Kind]) -> Tables:
        """The same, to compare the columns of some kinds only."""
        columns = {name: pair for name, pair in self.columns.items() if pair[0].attribute.kind in kinds}
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Measure:
    """A measure of utility or of risk. To add one: declare it beside its function, and add a line to the list.

    Parameters
    ----------
    name
        Its key in JSON, and the attribute of ``evaluation.utility`` or ``evaluation.risk``.
    title, about, paper, where, rates
        The words for the figure that sums up what it finds, as of a `Figure`.
    unit
        What it is counted in; by default a share, from 0 to 1.
    compute
        From the tables to what is found, plain or a `Result`. What takes long tells the fraction that is done.
    seconds
        Roughly how long that takes: for progress, and to share out work.
    columns
        The kinds of columns that it compares, and is given; or the role of those that it looks at.
    needs_links
        Whether it compares record by record, so that unlinked tables cannot be measured.
    otherwise
        What stands in its place where it cannot be measured.
    headline
        Whether the headline is made of it, which is what a map shows and what limits are about.
    on_engine
        How it is computed of tables longer than a chunk, in the verbs of an engine, so that nothing holds all of them.
    sampled
        Whether it is computed of a random sample of such tables instead, with an interval.
    more
        Other figures that it finds.
    """

    name: str
    title: str
    about: str
    compute: Callable[[Tables, Progress | None], Any]
    seconds: Callable[[Tables], float]
    unit: str = "share"
    paper: str = ""
    where: str = "overall"
    rates: Callable[[Any], Mapping[str, Any]] | None = None
    columns: tuple[Kind, ...] | Role = tuple(Kind)
    needs_links: bool = False
    otherwise: Any = None
    headline: bool = False
    on_engine: Callable[[Engine, Tables], Any] | None = None
    sampled: bool = False
    more: tuple[Figure, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All that it finds, in words."""
        return Figure(self.where, self.title, self.about, self.paper, self.rates), *self.more

    def can_be_measured(self, tables: Tables) -> bool:
        return tables.linked or not self.needs_links

    def measure(self, tables: Tables, progress: Progress | None = None) -> Any:
        """What it finds in the columns of its kinds."""
        return self.compute(self._seen(tables), progress)

    def measure_on(self, engine: Engine, tables: Tables) -> Any:
        """The same of long tables, wherever they lie."""
        assert self.on_engine is not None
        return self.on_engine(engine, self._seen(tables))

    def _seen(self, tables: Tables) -> Tables:
        return tables if isinstance(self.columns, Role) else tables.of_kinds(self.columns)


def telling(items: Iterable[Item], progress: Progress | None) -> Iterator[Item]:
    """The items one by one, telling how many of them are done."""
    every = list(items)
    for number, item in enumerate(every, start=1):
        yield item
        if progress is not None:
            progress(number / len(every))


def value_at(values: Any, where: str) -> Any:
    """The figure at a place of plain values; of several columns, one for each. None if there is none.

    >>> value_at({"a": {"x": {"l": 2}, "y": {"l": 3}}}, "a.*.l"), value_at({"a": None}, "a.b")
    ({'x': 2, 'y': 3}, None)
    """
    key, _, rest = where.partition(".")
    if not key:
        return values
    if not isinstance(values, Mapping):
        return None
    if key == "*":
        return {name: value_at(one, rest) for name, one in values.items()}
    return value_at(values.get(key), rest)
