from __future__ import annotations

import numpy as np

from ....engines import Engine
from ....methods import Method, Progress
from ....methods.likelihood import Evidence, unchanged
from ....microdata import Role
from ...measure import Tables
from ...side_by_side import same_values
from ..inputs import chosen
from ..sampling import generator, targets
from ._in_groups import informed_on
from .attacker import Attack, Attacker, found_with, units_of
from .linking import linked, one_to_one
from .repetitions import LARGEST, RECORDS, SAMPLE, learnt_by_repeating, of_columns, repeated_on

__all__ = ["INFORMED"]


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
    known = of_columns(method, original, names)
    formula = None if known is None else known.likelihood(here, there)
    if formula is not None:
        return [*found, *formula], "By the formula of the method."
    rows = repeated_on(tables)
    some = None if len(rows) == original.n else original.take(rows)
    pairs = {name: aligned[name] for name in protected}
    learnt, how = learnt_by_repeating(method, original, some, pairs, rng, progress)
    return [*found, *learnt], how


def _informed_on(engine: Engine, tables: Tables) -> Attack:
    """The same of long tables; where people count, in one job."""
    if tables.original.units is not None:
        found: Attack = engine.run(_informed, tables, what="linking, knowing the method")
        return found
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
