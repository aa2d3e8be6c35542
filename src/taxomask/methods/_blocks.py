"""Microaggregation of large tables: groups within blocks of similar records, or within parts of a long table.

Each block is as a table by itself, with a generator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Microdata
from ..partition import Groups, check_enough, median_cuts, members, several, with_enough
from ..records import RecordDistance
from ._partition import AtOnce, InParts
from ._parts import Parts, distance_on
from .base import Progress

if TYPE_CHECKING:
    from .microaggregation import Microaggregation

__all__ = ["in_blocks", "in_parts"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Block:
    """Some similar records: how far apart they are, for grouping and for the objective of a refined search, and whose
    they are, if that counts."""

    space: RecordDistance
    goal: RecordDistance
    people: NDArray[np.int64] | None

    def take(self, rows: Rows) -> _Block:
        """A block inside this one."""
        space = self.space.take(rows)
        goal = space if self.goal is self.space else self.goal.take(rows)
        return _Block(space, goal, None if self.people is None else self.people[rows])

    def cut(self, size: int, k: int, *, far: bool = True) -> list[Rows]:
        """The rows of blocks of at most so many records, each with enough people for a group."""
        check_enough(self.space.n, several(self.people), k)
        return with_enough(members(median_cuts(self.space, size, far=far)), self.people, k)


def in_blocks(method: Microaggregation, engine: Engine, data: Microdata, rng: np.random.Generator) -> AtOnce:
    """The groups of a table, cut into blocks."""
    rows, blocks = engine.run(_cut, method, data, what="cutting into blocks")
    items = [(method, block, child) for block, child in zip(blocks, rng.spawn(len(blocks)), strict=True)]
    inside = engine.map(_group, items, "grouping", main=True)
    return AtOnce(engine, data, engine.run(_numbered_through, rows, inside, data.n, what="numbering the groups"))


def in_parts(method: Microaggregation, engine: Engine, data: Microdata, rng: np.random.Generator) -> InParts:
    """The groups of a long table, whose parts are cut into blocks."""
    assert method.block_size is not None
    check_enough(data.n, None, method.k)
    names = method._attributes(data)
    columns = [data.columns[name] for name in names]
    space = goal = distance_on(engine, columns, distance=method.distance, scale=method.scale)
    if method.objective == "semantic":
        goal = distance_on(engine, columns, distance="generic")
    sample, each = rng.spawn(2)
    parts = Parts.cut(engine, columns, space, method.block_size, sample, data.units, method.k)
    brought = [parts.brought(column) for column in columns]
    people = range(data.n) if data.units is None else parts.brought(data.units)
    inside, counts, notes = parts.each(
        _group_part, [people, *brought], method, space, goal, what="grouping", rng=each, main=True
    )
    return InParts(parts, dict(zip(names, brought, strict=True)), inside, tuple(counts), _different(notes))


def _cut(method: Microaggregation, data: Microdata) -> tuple[list[Rows], list[_Block]]:
    """The rows of each block, and the block."""
    assert method.block_size is not None
    whole = _Block(*method._spaces(data), data.units)
    rows = whole.cut(method.block_size, method.k)
    return rows, [whole.take(some) for some in rows]


def _group(method: Microaggregation, block: _Block, rng: np.random.Generator, progress: Progress | None) -> Groups:
    return method._partition(block.space, block.goal, block.people, rng, progress)


def _numbered_through(rows: list[Rows], inside: list[Groups], n: int) -> Groups:
    """The groups of all blocks of n records."""
    numbers, first = np.empty(n, dtype=np.int32), 0
    for some, groups in zip(rows, inside, strict=True):
        numbers[some] = groups.numbers + first
        first += int(groups.numbers.max()) + 1
    return Groups(numbers, _different(groups.notes for groups in inside))


def _group_part(
    rows: Any, *columns_and_how: Any, progress: Progress | None
) -> tuple[NDArray[np.int32], int, tuple[str, ...]]:
    """The groups of a part of a long table, block by block: their numbers, how many there are, and notes.

    ``rows`` are the people, or positions where there are none.
    """
    *columns, method, space, goal, rng = columns_and_how
    here = space.among(columns)
    there = here if goal is space or method.objective == "record" else goal.among(columns)
    part = _Block(here, there, rows if isinstance(rows, np.ndarray) else None)
    blocks, inside = part.cut(method.block_size, method.k, far=False), []
    for some, child in zip(blocks, rng.spawn(len(blocks)), strict=True):
        inside.append(_group(method, part.take(some), child, None))
        if progress is not None:
            progress(len(inside) / len(blocks))
    groups = _numbered_through(blocks, inside, here.n)
    return groups.numbers, int(groups.numbers.max()) + 1, groups.notes


def _different(notes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """What was said of several, each once."""
    return tuple(dict.fromkeys(note for some in notes for note in some))
