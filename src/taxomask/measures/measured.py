"""Every measure, computed wherever the tables lie."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from .._support.showing import line
from ..engines import Engine, Memory
from ..errors import TaxomaskError
from ..methods import Progress
from ..microdata import Microdata
from .measure import Figure, Measure, Tables, value_at
from .plain import plain
from .risk import ATTACKERS, RISK
from .sampled import Sampled, is_long, parts_of, sample_of, sampled
from .side_by_side import side_by_side
from .utility import UTILITY

__all__ = [
    "MEASURES", "Attackers", "Failed", "Found", "Risk", "Utility", "all_figures", "measure_all", "measure_some",
    "measure_utility", "needed_by",
]  # fmt: skip

MEASURES: Mapping[str, Mapping[str, Measure]] = {"utility": UTILITY, "risk": RISK, "attackers": ATTACKERS}
"""Every measure of an evaluation, by what it is of and by its name."""

Key = tuple[str, str]


class Measured(Mapping[str, Any]):
    """What was found, by the name of the measure: as in ``found["classes"]``, or ``found.classes``."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        vars(self).update(found)

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no measure {name!r}")

    def __repr__(self) -> str:
        kind, values = type(self).__name__, self.to_dict()
        shown = [(one.title, value_at(values, where)) for where, one in _figures(MEASURES[kind.lower()].values())]
        return line(f"<{kind}: {', '.join(f'{title} {x:.4g}' for title, x in shown if isinstance(x, int | float))}>")

    def to_dict(self) -> dict[str, Any]:
        """Plain values: pairs of attributes are joined by " × ", and what is not defined is None."""
        values: dict[str, Any] = plain(self)
        return values


class Utility(Measured):
    """What a release costs, by every measure; those that compare record by record are None for unlinked tables."""


class Risk(Measured):
    """What a release risks. What needs to know which record is which is None or empty for unlinked tables."""


class Attackers(Measured):
    """What attackers find, by their names; None for those who have nothing to work on, or were not asked."""


def all_figures() -> dict[str, Figure]:
    """The figures of all measures, by where they stand in the plain values of an evaluation."""
    return {f"{kind}.{where}": one for kind, every in MEASURES.items() for where, one in _figures(every.values())}


def _figures(measures: Iterable[Measure]) -> Iterator[tuple[str, Figure]]:
    for measure in measures:
        for figure in measure.figures:
            yield ".".join(filter(None, (measure.name, figure.where))), figure


@dataclass(frozen=True)
class Failed:
    """What went wrong in a measure, in a way that nobody foresaw."""

    error: str


@dataclass(frozen=True)
class Found:
    """What measures found, by kind and name, and which of them looked at a sample, with its intervals."""

    values: dict[Key, Any]
    sampled: dict[Key, Sampled]

    def with_(self, other: Found) -> Found:
        return Found(self.values | other.values, self.sampled | other.sampled)


def measure_all(
    engine: Engine, tables: Tables, kinds: Iterable[str] = tuple(MEASURES)
) -> tuple[dict[str, dict[str, Any]], dict[str, str], dict[str, Sampled]]:
    """What every measure finds, by kind and name, what went wrong in some, and which looked at a sample."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    failed: dict[str, str] = {}
    measured = measure_some(engine, tables, [(kind, name) for kind in found for name in MEASURES[kind]])
    for (kind, name), one in measured.values.items():
        found[kind][name] = MEASURES[kind][name].otherwise if isinstance(one, Failed) else one
        if isinstance(one, Failed):
            failed[f"{kind}.{name}"] = one.error
            warnings.warn(f"{kind}.{name} could not be measured and is left out: {one.error}", stacklevel=2)
    return found, failed, {".".join(key): one for key, one in measured.sampled.items()}


def measure_some(engine: Engine, tables: Tables, keys: Iterable[Key]) -> Found:
    """What some measures find: first those of the tables, then attackers, who look at what measures of risk found."""
    keys = list(keys)
    first, then = ([key for key in keys if (key[0] == "attackers") == late] for late in (False, True))
    costs = [
        sum(one.seconds(tables) for kind, name in some if (one := MEASURES[kind][name]).can_be_measured(tables))
        for some in (first, then)
    ]
    end = costs[0] / (sum(costs) or 1.0)
    found = _measured(engine.part(0.0, end if then else 1.0), tables, first)
    if then:
        risk = {name: one for (kind, name), one in found.values.items() if kind == "risk"}
        used = {name: risk[name] for _, who in then for name in ATTACKERS[who].uses if name in risk}
        found = found.with_(_measured(engine.part(end, 1.0), replace(tables, found=used), then))
    return found


def needed_by(attackers: Iterable[str]) -> list[Key]:
    """The measures of risk that some attackers sum up."""
    return [("risk", name) for name in dict.fromkeys(name for who in attackers for name in ATTACKERS[who].uses)]


def _measured(engine: Engine, tables: Tables, keys: Iterable[Key]) -> Found:
    """What some measures find: each by itself; of long tables, some in steps and some by a sample.

    What the user can mend (`TaxomaskError`) ends it all, and so does whatever goes wrong in a measure that the headline
    is made of. Another measure that goes wrong is `Failed`.
    """
    measures = {(kind, name): MEASURES[kind][name] for kind, name in keys}
    possible = {key: one for key, one in measures.items() if one.can_be_measured(tables)}
    long = is_long(engine, tables)
    steps = [key for key, one in possible.items() if long and one.on_engine is not None]
    by_sample = [key for key, one in possible.items() if long and one.sampled]
    alone = [key for key in possible if key not in steps and key not in by_sample]
    ends = list(accumulate((possible[key].seconds(tables) for key in (*alone, *by_sample, *steps)), initial=0.0))
    shares = [end / (ends[-1] or 1.0) for end in ends]
    found = Found({key: one.otherwise for key, one in measures.items()}, {})
    seconds = [possible[key].seconds(tables) for key in alone]
    part = engine.part(0.0, shares[len(alone)])
    each = part.map(_computed, [(tables, *key) for key in alone], "measuring", main=True, costs=seconds)
    found.values.update(zip(alone, each, strict=True))
    if by_sample:
        part = engine.part(shares[len(alone)], shares[len(alone) + len(by_sample)])
        found = found.with_(_by_sample(part, tables, by_sample))
    begun = shares[len(alone) + len(by_sample) :]
    for key, start, end in zip(steps, begun, begun[1:], strict=False):
        found.values[key] = _attempt(measures[key], measures[key].measure_on, engine.part(start, end), tables)
    return found


def _by_sample(engine: Engine, tables: Tables, keys: list[Key]) -> Found:
    """What some measures find in a sample of long tables."""
    some = sample_of(engine, tables)
    items = [(some, tables.released.n, *key) for key in keys]
    made = engine.map(_computed_of_sample, items, "measuring a sample", main=True)
    return Found(
        {key: one for key, (one, _) in zip(keys, made, strict=True)},
        {key: how for key, (_, how) in zip(keys, made, strict=True) if how is not None},
    )


def _computed_of_sample(tables: Tables, n: int, kind: str, name: str) -> tuple[Any, Sampled | None]:
    measure = MEASURES[kind][name]
    found = _computed(tables, kind, name, None)
    if isinstance(found, Failed):
        return found, None
    parts = (_computed(part, kind, name, None) for part in parts_of(tables))
    return found, sampled(measure.figures, found, parts, tables.released.n, n)


def _computed(tables: Tables, kind: str, name: str, progress: Progress | None) -> Any:
    measure = MEASURES[kind][name]
    return _attempt(measure, measure.measure, tables, progress)


def _attempt(measure: Measure, compute: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return compute(*arguments)
    except (TaxomaskError, MemoryError):
        raise
    except Exception as error:
        if measure.headline:
            raise
        return Failed(f"{type(error).__name__}: {error}")


def measure_utility(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    rng: np.random.Generator,
    linked: bool = True,
    samples: int = 100,
    progress: Progress | None = None,
) -> Utility:
    """Every measure of utility, of the columns that are named or of all coded columns of both tables.

    ``linked`` says whether record i of the release comes from record i of the original. So many ``samples`` are drawn
    from ``rng`` by `relative_differences_in_samples`.
    """
    columns = side_by_side(original, released, attributes, linked=linked)
    tables = Tables(original, released, columns, linked, seed=rng, samples=samples)
    found, _, _ = measure_all(Memory().telling(progress), tables, ["utility"])
    return Utility(found["utility"])
