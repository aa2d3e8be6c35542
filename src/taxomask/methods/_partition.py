"""The groups of a table, and what is made of its columns by them: at once, or in parts of a long table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..engines.base import together
from ..microdata import Column, Microdata
from ..partition import Groups
from ._moments import stretched, stretched_in_chunks
from ._parts import Parts

__all__ = ["AtOnce", "InParts", "Partition"]

Chance: TypeAlias = tuple[np.random.Generator, ...]  # one generator, or none
_NUMBERING, _MOMENTS = "numbering the groups", "keeping moments"


class Partition(ABC):
    """The groups of a table, wherever they were made."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing of how they were made."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many groups there are."""

    @abstractmethod
    def together(self) -> Groups:
        """The groups of the table, numbered through."""

    def each(
        self,
        function: Callable[..., Any],
        names: Sequence[str],
        *common: Any,
        what: str,
        rngs: Sequence[np.random.Generator] | None = None,
    ) -> list[Any]:
        """What a function makes of each of some columns by the groups: a column, or a tuple of columns and lists.

        The function is given groups, the column, what is common to all, and a generator if there is one for each
        column. Of what it gives back beside columns there is a list, since it may be called for each part of the table.
        """
        chances: list[Chance] = [()] * len(names) if rngs is None else [(one,) for one in rngs]
        return self._each(function, list(zip(names, chances, strict=True)), common, what)

    @abstractmethod
    def _each(
        self, function: Callable[..., Any], chosen: list[tuple[str, Chance]], common: tuple[Any, ...], what: str
    ) -> list[Any]:
        """The same for columns with their generators."""

    @abstractmethod
    def all(
        self,
        function: Callable[..., tuple[Column, ...]],
        names: Sequence[str],
        others: Sequence[Column],
        rng: np.random.Generator,
        what: str,
    ) -> tuple[Column, ...]:
        """The columns that a function makes of some columns together, and of others beside them, by the groups."""

    @abstractmethod
    def with_moments_of(self, original: Column, averaged: Column) -> Column:
        """Averaged numbers moved and stretched to their original mean and variance, over the values that are there."""


@dataclass(frozen=True, eq=False)
class AtOnce(Partition):
    """Groups of a table that is looked at as a whole."""

    engine: Engine
    data: Microdata
    groups: Groups

    @property
    def notes(self) -> tuple[str, ...]:
        return self.groups.notes

    @property
    def count(self) -> int:
        return len(self.groups.sizes)

    def together(self) -> Groups:
        return self.groups

    def _each(
        self, function: Callable[..., Any], chosen: list[tuple[str, Chance]], common: tuple[Any, ...], what: str
    ) -> list[Any]:
        items = [(self.groups, self.data.columns[name], *common, *chance) for name, chance in chosen]
        return [together([found]) for found in self.engine.map(function, items, what)]

    def all(
        self,
        function: Callable[..., tuple[Column, ...]],
        names: Sequence[str],
        others: Sequence[Column],
        rng: np.random.Generator,
        what: str,
    ) -> tuple[Column, ...]:
        columns = [*(self.data.columns[name] for name in names), *others]
        found: tuple[Column, ...] = self.engine.run(function, self.groups, columns, rng, what=what)
        return found

    def with_moments_of(self, original: Column, averaged: Column) -> Column:
        moved: Column = self.engine.run(stretched, original, averaged, what=_MOMENTS)
        return moved


@dataclass(frozen=True, eq=False)
class InParts(Partition):
    """Groups in the parts of a table: the columns that they were made by, part by part, the number of each record's
    group in its part, and how many groups each part has."""

    parts: Parts
    columns: Mapping[str, Column]
    inside: NDArray[np.int32]
    counts: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(self.counts)

    def together(self) -> Groups:
        first = list(accumulate(self.counts, initial=0))[:-1]
        numbers = self.parts.each(_through, [self.inside], what=_NUMBERING, own=first)
        return Groups(self.parts.back(numbers, _NUMBERING), self.notes)

    def _each(
        self, function: Callable[..., Any], chosen: list[tuple[str, Chance]], common: tuple[Any, ...], what: str
    ) -> list[Any]:
        made = []
        for name, chance in chosen:
            rows = [self.inside, self.columns[name]]
            found = self.parts.each(_by_part, rows, function, *common, what=what, rng=next(iter(chance), None))
            made.append(self._back(found, what))
        return made

    def all(
        self,
        function: Callable[..., tuple[Column, ...]],
        names: Sequence[str],
        others: Sequence[Column],
        rng: np.random.Generator,
        what: str,
    ) -> tuple[Column, ...]:
        rows = [self.inside, *(self.columns[name] for name in names), *(self.parts.brought(one) for one in others)]
        return tuple(self._back(self.parts.each(_all_by_part, rows, function, what=what, rng=rng), what))

    def _back(self, found: Any, what: str) -> Any:
        """What was made part by part in the order of the table; of other things there are lists, which stay."""
        if isinstance(found, tuple):
            return tuple(one if isinstance(one, list) else self.parts.back(one, what) for one in found)
        return self.parts.back(found, what)

    def with_moments_of(self, original: Column, averaged: Column) -> Column:
        return stretched_in_chunks(self.parts.engine, original, averaged, _MOMENTS)


def _through(numbers: NDArray[np.int32], first: int) -> NDArray[np.int32]:
    return numbers + np.int32(first)


def _all_by_part(numbers: NDArray[np.int32], *columns_and_how: Any) -> tuple[Column, ...]:
    *columns, function, rng = columns_and_how
    found: tuple[Column, ...] = function(Groups(numbers), columns, rng)
    return found


def _by_part(numbers: NDArray[np.int32], column: Column, function: Callable[..., Any], *more: Any) -> Any:
    return function(Groups(numbers), column, *more)
