from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from .._support.parameters import Slider
from .._support.spelling import listing, spell
from ..engines import Engine, Memory
from ..errors import DataError, PlanError, did_you_mean
from ..microdata import Column, Kind, Microdata, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.frames import Frame
from ._ancestors import cut, with_concepts
from ._attributes import each, treatable
from ._by_value import changed_on, different_on
from ._kept import MissingStays, released_column, released_on
from ._rules import Rules, ruled
from .base import Check, Masked, Method, Progress, Promise

__all__ = ["AboveLevel", "ByRules", "Recoding", "known_to_first"]

Level = Annotated[int, Ge(1), Slider(1, 6, start=2), "The root of the taxonomy is at depth 1."]


@dataclass(frozen=True)
class Recoding(Method):
    """Global recoding: values are replaced by coarser ones, the same way in all records.

    By ``level``, every code deeper than a level of the taxonomy is replaced by the code above it at that level; codes
    at or above the level stay as they are. By ``rules``, values of any kind are replaced as the rules say. Missing
    values stay missing.

    Parameters
    ----------
    level
        The depth in the taxonomy, counted from its root, which is at depth 1 (as ``taxonomy["250"].depth``): one for
        all taxonomic quasi-identifiers without rules, or a mapping from attributes to depths. Where a concept has
        several parents the way up goes to the first one listed, and may end above the level, since depth is that of the
        longest path. With several taxonomies the first counts.
    rules
        For each attribute the new values, each with the old ones that become it. Plain categories:
        ``{"job": {"ABC": ["a", "b", "c"]}}``. Ordered ones: neighbours only, and the new one is one of them or stands
        beside them in the attribute's order. Codes: those named and all below them; the new one is a code above them.
        Numbers: the number that stands for a range and its two ends, the second not included, None (in a plan
        null) for no end: ``{"age": {30: [20, 40], 70: [65, None]}}``. No value may be in two rules.
    others
        For each attribute with rules the value that all values outside of its rules become; by default they stay.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, section 3.3, doi 10.1002/9781118348239;
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation, section 4,
    doi 10.1007/s10618-005-0007-5 (rules such as {a, b, c} → ABC).

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["25001", "25002", "4019", "250"], "age": [23, 38, 71, 64]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ... ])
    >>> depth = tm.Taxonomy.builtin("icd9cm")["250"].depth
    >>> rules = {"age": {30: [20, 40], 70: [65, None]}}
    >>> tm.protect(table, schema, tm.Recoding(depth, rules=rules)).data.to_pydict()
    {'dx': ['250', '250', '401', '250'], 'age': [30, 30, 70, 64]}
    """

    level: Level | Mapping[str, Level] | None = None
    rules: Mapping[str, Rules] | None = None
    others: Mapping[str, Any] | None = None

    name = "recoding"
    about = "Replaces every code by the one above it at a level of the taxonomy, or values of any kind as rules say."
    reference = "Hundepool et al. (2012), Statistical Disclosure Control, doi 10.1002/9781118348239"

    def check_parameters(self) -> None:
        super().check_parameters()
        rules = self.rules or {}
        if self.level is None and not rules:
            raise PlanError(
                "recoding needs a level of the taxonomy, or rules.",
                hint="Write {name: recoding, level: 3}, or {name: recoding, rules: {job: {ABC: [a, b, c]}}}.",
            )
        both = [name for name in rules if name in self.level] if isinstance(self.level, Mapping) else []
        if both:
            raise PlanError(f"{listing(both)} has a level and rules.", hint="Give each attribute one of them.")
        for name in self.others or {}:
            if name not in rules:
                raise PlanError(f"others names {name!r}, for which there are no rules.", hint=did_you_mean(name, rules))

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        """Categories are recoded once, and looked up for the records of every chunk."""
        columns: dict[str, Column] = {}
        notes = []
        for name, recoded in self._recoded(data):
            before = data.columns[name]
            columns[name] = changed_on(engine, before, recoded, "recoding")
            what = "codes" if isinstance(before, TaxonomicColumn) else "values"
            became = [different_on(engine, one, "recoding") for one in (before, columns[name])]
            notes.append(f"{name}: {became[0]:,} different {what} became {became[1]:,}.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def _recoded(self, data: Microdata) -> Iterator[tuple[str, Callable[[Column], Column]]]:
        """What is done with the column of each attribute."""
        for name, level in self._levels(data).items():
            yield name, partial(_at_level, level=level)
        for name, rules in self._rules(data).items():
            yield name, partial(_by_rules, dtype=data.value_type(name), rules=rules, others=self._other(name))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        levels, rules = self._levels(data), self._rules(data)
        return (
            MissingStays((*levels, *rules)),
            *(AboveLevel(name, level) for name, level in levels.items()),
            *(ByRules(name, one, self._other(name)) for name, one in rules.items()),
        )

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return tuple(self._levels(data))

    def _levels(self, data: Microdata) -> dict[str, int]:
        if self.level is None:
            return {}
        levels = each(data, self.level, (Kind.TAXONOMIC,), self.name)
        return {name: level for name, level in levels.items() if name not in (self.rules or {})}

    def _rules(self, data: Microdata) -> dict[str, Rules]:
        rules = dict(self.rules or {})
        return rules and {name: rules[name] for name in treatable(data, rules, tuple(Kind), self.name)}

    def _other(self, name: str) -> Any:
        return (self.others or {}).get(name)


def _at_level(column: TaxonomicColumn, level: int) -> Column:
    known = known_to_first(column)
    return with_concepts(known, cut(known.scopes[0].taxonomy, known.positions, level)).compact()


def _by_rules(column: Column, dtype: Any, rules: Rules, others: Any) -> Column:
    return ruled(column, dtype, rules, others).recoded()


@dataclass(frozen=True)
class ByRules(Promise):
    """Every released value is what the rules make of the original one."""

    attribute: str
    rules: Rules
    others: Any = None

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        before, dtype = original.columns[self.attribute], original.value_type(self.attribute)
        rules = ruled(before, dtype, self.rules, self.others)
        broken = rules.broken(released_column(released, original, self.attribute))
        made = ", ".join(map(spell, self.rules))
        rest = "are as they were" if self.others is None else f"are {spell(self.others)}"
        return Check(
            f"every value of {self.attribute} for which there is a rule has become {made}; all others {rest}",
            broken == 0,
            f"{broken:,} differ",
        )


@dataclass(frozen=True)
class AboveLevel(Promise):
    """No released code is deeper than the level, and each is the original code or above it."""

    attribute: str
    level: int

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        both = original.taxonomic(self.attribute), released_column(released, original, self.attribute)
        return self._checked(original.taxonomic(self.attribute), _pairs(*both))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        both = original.columns[self.attribute], released_on(engine, released, original, self.attribute)
        pairs: set[tuple[int, int]] = engine.fold(_pairs, set.union, both, what="checking")
        return self._checked(original.taxonomic(self.attribute), pairs)

    def _checked(self, column: TaxonomicColumn, pairs: set[tuple[int, int]]) -> Check:
        taxonomy = column.scopes[0].taxonomy
        deep = not_above = 0
        for old, new in pairs:
            deep += int(new < 0 or taxonomy.depth[new] > self.level)
            not_above += int(old < 0 or new not in taxonomy.closure.ancestors(old))
        return Check(
            f"every code of {self.attribute} is at depth {self.level} or above, and is or is above the original one",
            not deep and not not_above,
            f"{deep:,} different codes deeper, {not_above:,} not above",
        )


def _pairs(before: Column, after: Column) -> set[tuple[int, int]]:
    """The concepts that a value has before and after, in any record."""
    wide, other = alike(before, after)
    assert isinstance(wide, TaxonomicColumn)
    both, size = ~wide.missing & ~other.missing, len(wide.categories)
    keys = np.unique(wide.codes[both].astype(np.int64) * size + other.cells[both])
    old, new = wide.positions[np.array(np.divmod(keys, size))]
    return set(zip(old.tolist(), new.tolist(), strict=True))


def known_to_first(column: TaxonomicColumn) -> TaxonomicColumn:
    """The column, whose values the first of its taxonomies must know."""
    unknown = np.flatnonzero((column.positions < 0) & (column.counts > 0))
    if len(unknown):
        value, taxonomy = column.categories[unknown[0]], column.attribute.taxonomies[0][0].name
        raise DataError(
            f"column {column.attribute.name!r}: {len(unknown)} values, such as {value!r}, are not in {taxonomy}, the "
            "first taxonomy.",
            hint="Only values of the first taxonomy can be generalised: put the one that knows all values first.",
        )
    return column
