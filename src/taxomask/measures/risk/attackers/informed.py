from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Method, Progress
from ....methods.likelihood import Evidence, unchanged
from ....microdata import Role
from ...measure import Tables
from ...side_by_side import same_values
from ..inputs import chosen, in_one_numbering
from ..sampling import TARGETS, generator, targets
from ._in_groups import informed_on
from .attacker import Attack, Attacker, found_with, units_of
from .learned import OfRecords
from .linking import TIED, Links, linked, one_to_one
from .repetitions import (
    LARGEST,
    RECORDS,
    SAMPLE,
    Taught,
    learnt_by_repeating,
    of_columns,
    released_again,
    repeated_on,
)

__all__ = ["INFORMED"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


CLOSER = 16  # original records of a longer table that are looked at one by one: of 64 not more are found
ALL_AT_ONCE = 2 * TARGETS  # records up to which so many are looked for that they can want the same original one


def _informed(tables: Tables, progress: Progress | None) -> Attack:
    method = tables.method
    assert method is not None
    names = chosen(*tables.both, None)
    rng, units, rows = generator(tables), units_of(tables), targets(tables, tables.released.n)
    if tables.n > ALL_AT_ONCE:
        (one,) = _evidence(tables, method, names, False, rng, progress)[:1]
        chances, how = _of_many(one.evidence[0], rows, units, rng)
        return found_with(tables, rows, chances, f"{one.how} {how}.")
    known = _evidence(tables, method, names, True, rng, progress)
    ways = [(one, way) for one in known for way in WAYS]
    rehearsed = [linked(one.evidence[1], rows, units, rng) for one in known]
    shares = [
        found_with(tables, rows, way(links, units, rows, rng), "").share.value for links in rehearsed for way in WAYS
    ]
    best, way = ways[int(np.argmax(shares))]
    links = linked(best.evidence[0], rows, units, rng)
    why = (CHOSEN if best.draws else BETTER).format(len(ways))
    return found_with(tables, rows, way(links, units, rows, rng), f"{best.how} {WAYS[way]}{why}")


def _of_many(evidence: list[Evidence], rows: Whole, units: Whole, rng: np.random.Generator) -> tuple[Float, str]:
    """The chance of each record of a long table, and how it was found.

    The originals that are likeliest by their values are told apart by what became of each in repetitions.
    """
    of_records = [one for one in evidence if isinstance(one, OfRecords)]
    links = linked(evidence, rows, units, rng, near=CLOSER if of_records else 1)
    if not of_records:
        return links.chances, LIKELIEST
    total = links.values + sum(one.closer(rows, links.records) for one in of_records)
    best = total >= total.max(axis=1, keepdims=True) - TIED
    own = units[links.records] == units[rows][:, None]
    return (best & own).sum(axis=1) / best.sum(axis=1), CLOSELY.format(links.records.shape[1])


def _likeliest(links: Links, units: Whole, rows: Whole, rng: np.random.Generator) -> Float:
    return links.chances


LIKELIEST = "Each record with the likeliest"
CLOSELY = LIKELIEST + ", the {} likeliest by their values told apart by what became of each"
WAYS = {_likeliest: LIKELIEST, one_to_one: "All records at once, one to one"}
CHOSEN = ": of {} ways the one that finds more in another release of the intruder's own."
BETTER = ": of {} ways the one that finds more, as anybody can see who makes the same release."


def _evidence(
    tables: Tables,
    method: Method,
    names: tuple[str, ...],
    rehearsed: bool,
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[Taught]:
    """What the quasi-identifiers tell: by the formula of the method, or by what its repetitions teach, in some ways.

    Of the release, and of one that the intruder makes to rehearse on: nothing is learnt from either.
    """
    original, released = tables.both
    protected = [name for name in names if name in method.protects(original)]
    known = of_columns(method, original, names)
    releases = [{name: tables.columns[name][1] for name in names}]
    if rehearsed:
        releases.append(releases[0] | released_again(known or method, original, protected, rng.spawn(1)[0]))
    versions = {name: in_one_numbering(tables.columns[name][0], *(one[name] for one in releases)) for name in names}
    kept = [name for name in names if name not in protected and same_values(*tables.columns[name])]
    same: list[list[Evidence]] = [
        [unchanged(versions[name][0], versions[name][place]) for name in kept] for place, _ in enumerate(releases, 1)
    ]
    here, *there = (
        data.replace({name: some[place] for name, some in versions.items()})
        for place, data in enumerate([original, *[released] * len(releases)])
    )
    formulas = [None if known is None else known.likelihood(here, one) for one in there]
    if None not in formulas:
        known_all = [Taught([list(more or ()) for more in formulas], "By the formula of the method.")]
    else:
        rows = repeated_on(tables)
        some = None if len(rows) == original.n else original.take(rows)
        of_protected = {name: versions[name] for name in protected}
        known_all = learnt_by_repeating(method, original, some, of_protected, rng, progress)
    return [replace(one, evidence=[a + b for a, b in zip(same, one.evidence, strict=True)]) for one in known_all]


def _informed_on(engine: Engine, tables: Tables) -> Attack:
    """The same of long tables."""
    return informed_on(engine, tables, chosen(*tables.both, None))


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
    on_engine=_informed_on,
    seconds=lambda tables: (
        3e-9 * tables.n * min(tables.n, 5_000) * tables.known
        + 2e-5 * max(2 * (tables.n if tables.n <= LARGEST else SAMPLE), 2 * RECORDS)
    ),
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    needs_method=True,
    applies=_applies,
)
