"""A taxonomy from columns of a table: a code, its group, the group of that, and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from ..errors import TaxonomyError
from .listing import Listing

__all__ = ["FromColumns", "Level", "described", "levels_of"]

_MANY = 10  # rows below the usual parent, beside which a single row below another looks like a slip


@dataclass(frozen=True)
class FromColumns:
    """What a taxonomy is made from: columns of the table that it is for, the finest first.

    ``labels`` are pairs of such a column and the column that describes its values.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, columns: Sequence[str], labels: Mapping[str, str] | None = None) -> FromColumns:
        """Checked: at least two different columns, and labels of these only."""
        names = tuple(columns) if not isinstance(columns, str) else (columns,)
        described = tuple((labels or {}).items())
        if not all(isinstance(name, str) for pair in (names, *described) for name in pair):
            raise TaxonomyError(f"columns must be named; got {list(columns)!r}.", hint="Write the names as text.")
        if len(names) < 2 or len(set(names)) < len(names):
            raise TaxonomyError(
                f"a taxonomy is made from two or more different columns; got {list(names)!r}.",
                hint="Name the column of the codes first, then that of their groups, and so on.",
            )
        strange = [name for name, _ in described if name not in names]
        if strange:
            raise TaxonomyError(
                f"labels describe {strange[0]!r}, which is not one of the columns {list(names)!r}.",
                hint="Write labels as {column of codes: column of their texts}.",
            )
        return cls(names, described)

    @property
    def name(self) -> str:
        return f"from {', '.join(self.columns)}"

    @property
    def every(self) -> tuple[str, ...]:
        """All columns that are looked at."""
        return *self.columns, *(text for _, text in self.labels)

    def to_dict(self) -> dict[str, Any]:
        """As a plan has it."""
        return {"from": list(self.columns), **({"labels": dict(self.labels)} if self.labels else {})}


@dataclass(frozen=True, eq=False)
class Level:
    """A column: its different values as they are spelled, and which of them each row has; -1 for none."""

    spellings: Sequence[str]
    codes: NDArray[np.int32]

    def without(self, missing: Sequence[str]) -> Level:
        """The same with some values that mean nothing."""
        meant = np.array([one not in missing for one in self.spellings] + [False])
        return Level(self.spellings, np.where(meant[self.codes], self.codes, -1).astype(np.int32))


def levels_of(frame: Any, names: Sequence[str]) -> dict[str, Level]:
    """Columns of a pandas, polars or pyarrow table."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise TaxonomyError(f"the table has no column {absent[0]!r}.", hint=f"It has {', '.join(table.columns[:12])}.")
    arrow = table.select(list(dict.fromkeys(names))).to_arrow()
    found = {}
    for name in arrow.column_names:
        column = arrow[name].combine_chunks().dictionary_encode()
        values = [spell(value) for value in column.dictionary.to_pylist()]
        found[name] = Level(values, column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32))
    return found


def described(made_from: FromColumns, levels: Mapping[str, Level]) -> tuple[Listing, tuple[str, ...]]:
    """The concepts and edges that the rows of a table show, and what looks like a slip in them.

    A value is below what stands in the next column of its row that is not empty; below several, if rows differ. What
    has the same name in two columns is two things: the coarser one is called by its column too (``mdc: 4``). Concepts
    are in the order of their spelling, the coarsest first.
    """
    names = _names(made_from, levels)
    texts = {name: _texts(levels[name], levels[text]) for name, text in made_from.labels}
    listing, slips = Listing(made_from.name), []
    for name in reversed(made_from.columns):
        for value in sorted(names[name]):
            concept = names[name][value]
            plain = value if concept != value else ""
            listing.add(concept, label=texts.get(name, {}).get(value, plain))
    parents: dict[str, list[tuple[int, str]]] = {}
    for child, parent, count in _edges(made_from, levels, names):
        listing.link(child, parent)
        parents.setdefault(child, []).append((count, parent))
    for child, found in sorted(parents.items()):
        most, usual = max(found)
        if most >= _MANY:
            slips += [
                f"{child!r} stands once below {parent!r}, and {most:,} times below {usual!r}: a slip?"
                for count, parent in sorted(found)
                if count == 1
            ]
    return listing, tuple(slips)


def _names(made_from: FromColumns, levels: Mapping[str, Level]) -> dict[str, dict[str, str]]:
    """What each value of each column is called."""
    taken: set[str] = set()
    names: dict[str, dict[str, str]] = {}
    for name in made_from.columns:
        level = levels[name]
        used = [level.spellings[code] for code in np.unique(level.codes[level.codes >= 0]).tolist()]
        names[name] = {}
        for value in used:
            concept = value
            while concept in taken:
                concept = f"{name}: {concept}"
            names[name][value] = concept
        taken |= set(names[name].values())
    if not names[made_from.columns[0]]:
        raise TaxonomyError(
            f"column {made_from.columns[0]!r} has no values.", hint="Name the column of the codes first."
        )
    return names


def _edges(
    made_from: FromColumns, levels: Mapping[str, Level], names: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, str, int]]:
    """Child, parent and the number of rows that show it."""
    edges = []
    for place, child in enumerate(made_from.columns):
        below = levels[child]
        open_rows = below.codes >= 0
        for parent in made_from.columns[place + 1 :]:
            above = levels[parent]
            both = open_rows & (above.codes >= 0)
            open_rows = open_rows & ~both
            size = max(len(above.spellings), 1)
            pairs, counts = np.unique(below.codes[both].astype(np.int64) * size + above.codes[both], return_counts=True)
            edges += [
                (
                    names[child][below.spellings[pair // size]],
                    names[parent][above.spellings[pair % size]],
                    count,
                )
                for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
            ]
    return sorted(edges, key=lambda edge: (edge[0], -edge[2], edge[1]))  # the usual parent first


def _texts(level: Level, text: Level) -> dict[str, str]:
    """The commonest description of each value; of equally common ones the first in spelling."""
    both = (level.codes >= 0) & (text.codes >= 0)
    size = max(len(text.spellings), 1)
    pairs, counts = np.unique(level.codes[both].astype(np.int64) * size + text.codes[both], return_counts=True)
    found: dict[str, tuple[int, str]] = {}
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        value, words = level.spellings[pair // size], text.spellings[pair % size]
        best = found.get(value)
        if best is None or (-count, words) < (-best[0], best[1]):
            found[value] = (count, words)
    return {value: words for value, (_, words) in found.items()}
