"""What an intruder learns of a method without a formula, by repeating it on the original table with other seeds.

As often as that teaches something, up to a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....engines import Memory
from ....methods import Method, Pipeline, Progress
from ....methods.decimals import rounded
from ....methods.likelihood import Evidence, unchanged
from ....microdata import Column, Microdata
from ....partition.refine import default_steps
from ...measure import Tables
from ...side_by_side import same_values
from ..inputs import in_one_numbering
from ..sampling import targets
from .jointly import learned_jointly, moving_together
from .learned import EACH, Learned, learned

__all__ = [
    "LARGEST", "RECORDS", "SAMPLE", "Repeated", "Taught", "learnt_by_repeating", "of_columns", "released_again",
    "repeated_on", "repetitions", "repetitions_of",
]  # fmt: skip

REPETITIONS, RECORDS = 50, 50_000  # at first: of the method, and records that are masked in all of them together
MORE = 8  # times as many at most: they are doubled as long as that teaches something,
TAUGHT = 0.1  # which is by how much the logarithm of the chance of a repeated record must rise
FEW = 100  # records that may come out the same twice by chance
SEARCHES, STEPS = 12, 150  # repetitions of a method that searches for long, and their steps for each record
LARGEST = 1_000_000  # records up to which a method is repeated on all of them
SAMPLE = 100_000  # beyond, on so many, drawn at random
LONG = 4  # repetitions of one whose search cannot be shortened
TOGETHER = " The numbers of a record are taken together."

Columns = dict[str, Column]


def repetitions_of(n: int) -> tuple[int, int]:
    """How often a method is repeated on a table of some length, at first and at most.

    >>> [repetitions_of(n) for n in (100, 5_000, 1_000_000)]
    [(50, 400), (10, 80), (2, 2)]
    """
    first, most = (max(min(RECORDS * times // max(n, 1), REPETITIONS * times), 2) for times in (1, MORE))
    return first, most


@dataclass(frozen=True, eq=False)
class Taught:
    """The evidence of repetitions about each release, how it was come by, in words, and whether the method draws."""

    evidence: list[list[Evidence]]
    how: str
    draws: bool = True


def learnt_by_repeating(
    method: Method,
    data: Microdata,
    some: Microdata | None,
    columns: Mapping[str, Sequence[Column]],
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[Taught]:
    """What repetitions on a table, or on some of its records, teach about columns in each release.

    ``columns`` are the original ones, each with what it is in one or more releases. Of each column by itself and, if
    there are numbers that may move together, of these together.
    """
    made, found, how = _as_often_as_it_teaches(method, data, some, columns, rng, progress)
    each = {name: one.evidence for name, one in zip(columns, found, strict=True)}
    taught = [Taught(_of_releases(each.values()), how, len(made) > 1)]
    names = moving_together(columns, made) if some is None and data.n <= EACH else []
    if names:
        others = _of_releases(one for name, one in each.items() if name not in names)
        together = learned_jointly(columns, made, names)
        taught.append(
            Taught([a + b for a, b in zip(together, others or [[]] * len(together), strict=True)], how + TOGETHER)
        )
    return taught


def _of_releases(each: Iterable[tuple[Evidence, ...]]) -> list[list[Evidence]]:
    return [list(one) for one in zip(*each, strict=True)]


def released_again(method: Method, data: Microdata, names: Sequence[str], rng: np.random.Generator) -> Columns:
    """The columns as a release of the intruder's own has them, from which nothing is learnt."""
    return _repeated(_shortened(method, data.n)[0], 1, data, list(names), rng, None)[0]


@dataclass(frozen=True, eq=False)
class Repeated:
    """What repetitions of a method made of some original records, and how often it was repeated in words."""

    seen: Microdata
    made: list[Columns]
    how: str

    def learnt(self, x: Column, z: Column) -> Evidence:
        """What they teach about an attribute of a table."""
        name = x.attribute.name
        return _learnt([x, z], self.seen.columns[name], [one[name] for one in self.made]).evidence[0]


def repetitions(
    method: Method,
    some: Microdata,
    columns: Mapping[str, tuple[Column, Column]],
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Repeated:
    """A method repeated on some records of a long table, of which columns are given before and after."""
    made, _, how = _as_often_as_it_teaches(method, some, some, columns, rng, progress)
    return Repeated(some, made, how)


def repeated_on(tables: Tables) -> NDArray[np.int64]:
    """The records that a method is repeated on: all, or some of a very long table."""
    return np.arange(tables.n) if tables.n <= LARGEST else targets(tables, tables.n, SAMPLE)


def _as_often_as_it_teaches(
    method: Method,
    data: Microdata,
    some: Microdata | None,
    columns: Mapping[str, Sequence[Column]],
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[list[Columns], list[Learned], str]:
    table = data if some is None else some
    short, most = _shortened(method, table.n)
    first, budget = repetitions_of(table.n)
    most = min(most, budget)
    made: list[Columns] = []
    wanted, foreseen = min(first, most), -np.inf
    while True:
        made += _repeated(short, wanted, table, list(columns), rng, progress)
        found = [
            _learnt(versions, None if some is None else some.columns[name], [one[name] for one in made])
            for name, versions in columns.items()
        ]
        before, foreseen = foreseen, sum(one.foreseen for one in found)
        wanted = len(made)
        if wanted == 1 or 2 * wanted > most or foreseen < before + TAUGHT:
            break
    said = "once, as it leaves nothing to chance" if len(made) == 1 else f"{len(made)} times"
    if short is not method:
        said += f" with a search of {STEPS} steps for each record"
    which = "these records" if some is None else f"a random {some.n:,} of these records"
    return made, found, f"By what the method does to {which}, repeated {said}."


def _learnt(versions: Sequence[Column], some: Column | None, made: list[Column]) -> Learned:
    """What repetitions teach about a column, the original one and in releases.

    Who repeats a method that draws nothing has the release itself.
    """
    x, *others = in_one_numbering(*versions, versions[0] if some is None else some, *made)
    releases, (seen, *again) = others[: len(versions) - 1], others[len(versions) - 1 :]
    if len(again) == 1 and same_values(again[0], releases[0]):
        return Learned(tuple(unchanged(again[0], z) for z in releases), 0.0)
    return learned(x, releases, again, None if some is None else seen)


def of_columns(method: Method, data: Microdata, names: tuple[str, ...]) -> Method | None:
    """What a method does to some columns only: nobody knows the others. None if that is not to be had."""
    protected = method.protects(data)
    kept = tuple(name for name in protected if name in names)
    if len(kept) == len(protected):
        return method
    if isinstance(method, Pipeline):
        steps = [of_columns(one, data, names) for one in method.methods if set(one.protects(data)) & set(names)]
        known = tuple(step for step in steps if step is not None)
        return Pipeline(known) if len(known) == len(steps) else None
    given = getattr(method, "epsilon", None)
    if isinstance(given, Mapping):
        return replace(method, **{"epsilon": {name: given[name] for name in kept}})
    return replace(method, **{"attributes": kept}) if hasattr(method, "attributes") else None


def _shortened(method: Method, n: int) -> tuple[Method, int]:
    """The method with a shorter search, if it has a long one, and how often it is repeated at most.

    Of 400 discharges with k = 3, twelve short searches found 32.0 % and four whole ones 31.8 %: no difference beyond
    chance. Larger tables were not compared.
    """
    if isinstance(method, Pipeline):
        steps = [_shortened(step, n) for step in method.methods]
        if all(short is step for (short, _), step in zip(steps, method.methods, strict=True)):
            return method, min(most for _, most in steps)
        return Pipeline(tuple(short for short, _ in steps)), min(most for _, most in steps)
    if getattr(method, "algorithm", None) != "refined":
        return method, REPETITIONS * MORE
    if not hasattr(method, "steps"):
        return method, LONG
    size = min(n, getattr(method, "block_size", None) or n)
    full = default_steps(size) if method.steps is None else method.steps
    return (replace(method, **{"steps": STEPS * size}), SEARCHES) if STEPS * size < full else (method, LONG)


def _repeated(
    method: Method,
    wanted: int,
    data: Microdata,
    names: list[str],
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[Columns]:
    """The columns as repetitions of the method make them; one if it draws nothing."""
    promises = method.promises(data)
    made: list[Columns] = []
    for place, child in enumerate(rng.spawn(wanted), start=1):
        masked = rounded(Memory(), data, method.mask(data, child), method, promises)
        made.append({name: masked.data.columns[name] for name in names})
        if place == (2 if data.n > FEW else wanted) and all(_equal(one, made[0]) for one in made):
            return made[:1]
        if progress is not None:
            progress(place / wanted)
    return made


def _equal(first: Columns, second: Columns) -> bool:
    return all(same_values(*in_one_numbering(first[name], second[name])) for name in first)
