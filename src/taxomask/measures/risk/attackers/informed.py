from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....engines import Memory
from ....methods import Method, Pipeline, Progress
from ....methods.decimals import rounded
from ....methods.likelihood import Evidence, unchanged
from ....microdata import Column, Microdata, Role
from ....partition.refine import default_steps
from ...measure import Tables
from ...side_by_side import same_values
from ..inputs import chosen, in_one_numbering
from ..sampling import generator, targets
from .attacker import Attack, Attacker, found_with, units_of
from .learned import learned
from .linking import linked, one_to_one

__all__ = ["INFORMED", "repetitions_of"]

REPETITIONS = 50  # of the method, at most
RECORDS = 50_000  # that are masked in all repetitions together; two repetitions at least
SEARCHES, STEPS = 12, 150  # repetitions of a method that searches for long, and their steps for each record
LONG = 4  # repetitions of one whose search cannot be shortened
LARGEST = 1_000_000  # records up to which a method is repeated on all of them
SAMPLE = 100_000  # beyond, on so many, drawn at random


def repetitions_of(n: int) -> int:
    """How often a method is repeated on a table of some length; one that searches for long, less often (`_shortened`).

    >>> [repetitions_of(n) for n in (100, 5_000, 1_000_000)]
    [50, 10, 2]
    """
    return max(min(RECORDS // max(n, 1), REPETITIONS), 2)


def _informed(tables: Tables, progress: Progress | None) -> Attack:
    method = tables.method
    assert method is not None
    original, released = tables.both
    names = chosen(original, released, None)
    rng, units, rows = generator(tables), units_of(tables), targets(tables, released.n)
    evidence, how = _evidence(tables, method, names, rng, progress)
    links = linked(evidence, rows, units, rng)
    ways = (
        found_with(tables, rows, links.chances, f"{how} Each record with the likeliest."),
        found_with(tables, rows, one_to_one(links, units, rows, rng), f"{how} All records at once, one to one."),
    )
    return max(ways, key=lambda one: one.share.value)


def _evidence(
    tables: Tables, method: Method, names: tuple[str, ...], rng: np.random.Generator, progress: Progress | None
) -> tuple[list[Evidence], str]:
    """What the quasi-identifiers tell: by the formula of the method, or by what its repetitions teach."""
    original, released = tables.both
    aligned = {name: tables.columns[name] for name in names}
    protected = [name for name in names if name in method.protects(original)]
    others = {name: pair for name, pair in aligned.items() if name not in protected}
    found: list[Evidence] = [unchanged(*pair) for pair in others.values() if same_values(*pair)]
    here = original.replace({name: x for name, (x, _) in aligned.items()})
    there = released.replace({name: z for name, (_, z) in aligned.items()})
    known = _of_columns(method, original, names)
    formula = None if known is None else known.likelihood(here, there)
    if formula is not None:
        return [*found, *formula], "By the formula of the method."
    some = original if original.n <= LARGEST else original.take(targets(tables, original.n, SAMPLE))
    short, most = _shortened(method, some.n)
    made = _repeated(short, min(repetitions_of(some.n), most), some, protected, rng, progress)
    for name in protected:
        x, z, seen, *again = in_one_numbering(*aligned[name], some.columns[name], *(columns[name] for columns in made))
        found.append(learned(x, z, again, seen))
    said = "once: it draws nothing" if len(made) == 1 else f"{len(made)} times"
    if short is not method:
        said += f" with a search of {STEPS} steps for each record"
    which = "these records" if some is original else f"a random {some.n:,} of these records"
    return found, f"By what the method does to {which}, repeated {said}."


def _of_columns(method: Method, data: Microdata, names: tuple[str, ...]) -> Method | None:
    """What a method does to some columns only: nobody knows the others. None if that is not to be had."""
    protected = method.protects(data)
    kept = tuple(name for name in protected if name in names)
    if len(kept) == len(protected):
        return method
    if isinstance(method, Pipeline):
        steps = [_of_columns(one, data, names) for one in method.methods if set(one.protects(data)) & set(names)]
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
        return method, REPETITIONS
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
) -> list[dict[str, Column]]:
    """The protected columns as repetitions of the method make them; one if it draws nothing."""
    promises = method.promises(data)
    made: list[dict[str, Column]] = []
    for place, child in enumerate(rng.spawn(wanted), start=1):
        masked = rounded(Memory(), data, method.mask(data, child), method, promises)
        made.append({name: masked.data.columns[name] for name in names})
        if place == 2 and all(_equal(*(one[name] for one in made)) for name in names):
            return made[:1]
        if progress is not None:
            progress(place / wanted)
    return made


def _equal(first: Column, second: Column) -> bool:
    return same_values(*in_one_numbering(first, second))


def _applies(tables: Tables) -> bool:
    """Whether the method protects a quasi-identifier."""
    protected = () if tables.method is None else tables.method.protects(tables.original)
    return not set(tables.original.schema.quasi_identifiers).isdisjoint(protected)


INFORMED = Attacker(
    "informed",
    title="knows the method",
    about="The share of records linked rightly by somebody who knows the method and its parameters, but not the seed.",
    knows="The original quasi-identifiers of everybody, the method and its parameters; not the seed.",
    compute=_informed,
    seconds=lambda tables: (
        3e-9 * tables.n * min(tables.n, 5_000) * tables.known
        + 2e-5 * max(2 * (tables.n if tables.n <= LARGEST else SAMPLE), RECORDS)
    ),
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    needs_method=True,
    applies=_applies,
)
