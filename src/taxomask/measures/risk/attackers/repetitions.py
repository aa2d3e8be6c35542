"""What an intruder learns of a method without a formula, by repeating it on the original table with other seeds.

As often as that teaches something, up to a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....engines import Memory
from ....methods import Method, Pipeline, Progress
from ....methods.decimals import rounded
from ....methods.likelihood import Evidence, unchanged
from ....microdata import Column, Microdata
from ....partition.refine import default_steps
from ...side_by_side import same_values
from ..inputs import in_one_numbering
from .learned import Learned, learned

__all__ = ["RECORDS", "learnt_by_repeating", "repetitions_of"]

REPETITIONS, RECORDS = 50, 50_000  # at first: of the method, and records that are masked in all of them together
MORE = 8  # times as many at most: they are doubled as long as that teaches something,
TAUGHT = 0.1  # which is by how much the logarithm of the chance of a repeated record must rise
FEW = 100  # records that may come out the same twice by chance
SEARCHES, STEPS = 12, 150  # repetitions of a method that searches for long, and their steps for each record
LONG = 4  # repetitions of one whose search cannot be shortened

Columns = dict[str, Column]


def repetitions_of(n: int) -> tuple[int, int]:
    """How often a method is repeated on a table of some length, at first and at most.

    >>> [repetitions_of(n) for n in (100, 5_000, 1_000_000)]
    [(50, 400), (10, 80), (2, 2)]
    """
    first, most = (max(min(RECORDS * times // max(n, 1), REPETITIONS * times), 2) for times in (1, MORE))
    return first, most


def learnt_by_repeating(
    method: Method,
    data: Microdata,
    some: Microdata | None,
    columns: Mapping[str, tuple[Column, Column]],
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[list[Evidence], str]:
    """What repetitions on a table, or on some of its records, teach about columns, original and released; and how."""
    table = data if some is None else some
    short, most = _shortened(method, table.n)
    first, budget = repetitions_of(table.n)
    most = min(most, budget)
    made: list[Columns] = []
    wanted, foreseen = min(first, most), -np.inf
    while True:
        made += _repeated(short, wanted, table, list(columns), rng, progress)
        found = [
            _learnt(*pair, None if some is None else some.columns[name], [one[name] for one in made])
            for name, pair in columns.items()
        ]
        before, foreseen = foreseen, sum(one.foreseen for one in found)
        wanted = len(made)
        if wanted == 1 or 2 * wanted > most or foreseen < before + TAUGHT:
            break
    said = "once: it draws nothing" if len(made) == 1 else f"{len(made)} times"
    if short is not method:
        said += f" with a search of {STEPS} steps for each record"
    which = "these records" if some is None else f"a random {some.n:,} of these records"
    return [one.evidence for one in found], f"By what the method does to {which}, repeated {said}."


def _learnt(original: Column, released: Column, some: Column | None, made: list[Column]) -> Learned:
    """What repetitions teach about a column. Who repeats a method that draws nothing has the release itself."""
    x, z, seen, *again = in_one_numbering(original, released, original if some is None else some, *made)
    if len(again) == 1 and same_values(again[0], z):
        return Learned(unchanged(again[0], z), 0.0)
    return learned(x, z, again, None if some is None else seen)


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
