from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import add
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from .._support.spelling import spell
from ..engines import Engine, Memory
from ..errors import PlanError, SchemaError, did_you_mean
from ..microdata import Column, ContinuousColumn, Kind, Microdata
from ..microdata.casting import held
from ..microdata.frames import Frame
from ._at_risk import AtRisk, OnlyAtRisk, at_risk, check_at_risk
from ._attributes import treatable
from ._kept import MissingStays, released_column, released_on
from .base import Check, Limits, Masked, Method, Progress, Promise

__all__ = ["Bounds", "TopBottomCoding"]

Percentile = Annotated[float, Gt(0), Le(100), "A percentile, such as 97.5; values by attribute."]
Limit = Percentile | Mapping[str, object] | None


@dataclass(frozen=True)
class TopBottomCoding(Method):
    """Values above a limit are set to it, and values below another one to that.

    Missing values stay missing.

    Parameters
    ----------
    top, bottom
        A number is a percentile of every continuous and ordinal quasi-identifier, such as 97.5 or 2.5: the smallest
        value with at least so many per cent of the values at or below it (for ``bottom`` the largest with the rest at
        or above). A mapping gives attributes their limits as values, such as ``{"age": 90}`` or ``{"beds": "500+"}``.
    records
        ``{"risk": 0.2}``: only values of records that are found with a chance above 0.2 by all quasi-identifiers are
        cut; all others stay as they are. The chance is one over the people of a class, or that to find somebody in the
        population, if the schema says how the table was sampled. The check says how many records remain above.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, section 3.3, doi 10.1002/9781118348239.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [2, 31, 35, 62, 97]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> tm.protect(table, schema, tm.TopBottomCoding(top={"age": 90}, bottom=40)).data["age"].to_pylist()
    [35, 35, 35, 62, 90]
    """

    top: Annotated[Percentile, Slider(50, 100, 0.5, start=97.5)] | Mapping[str, object] | None = None
    bottom: Annotated[Percentile, Slider(0.5, 50, 0.5)] | Mapping[str, object] | None = None
    records: AtRisk | None = None

    name = "top_bottom_coding"
    about = "Sets very large and very small values to a limit."
    reference = "Hundepool et al. (2012), Statistical Disclosure Control, doi 10.1002/9781118348239"

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.top is None and self.bottom is None:
            raise PlanError("top or bottom must be given.", hint="For example top=97.5, or top={'age': 90}.")
        check_at_risk(self.records)

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns: dict[str, Column] = {}
        notes = []
        aimed = _aimed(data, self._risk)
        for name, limits in self._limits(Memory(), data).items():
            columns[name], above, below = _coded(data.columns[name], *limits, aimed)
            notes.append(_note(name, above, below))
        return Masked(data.replace(columns), notes=tuple(notes))

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if self.records is not None or data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        columns, notes = {}, []
        for name, limits in self._limits(engine, data).items():
            columns[name], above, below = engine.each(_coded, [data.columns[name]], *limits, what="cutting", main=True)
            notes.append(_note(name, sum(above), sum(below)))
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return self.promises_on(Memory(), data)

    def promises_on(self, engine: Engine, data: Microdata) -> tuple[Promise, ...]:
        limits, risk, known = self._limits(engine, data), self._risk, data.schema.quasi_identifiers
        only = () if risk is None else (OnlyAtRisk(risk, known, tuple(limits)),)
        bounds = (Bounds(name, low, high, risk, self._chosen(name)) for name, (low, high) in limits.items())
        return *only, MissingStays(tuple(limits)), *bounds

    @property
    def _risk(self) -> float | None:
        return None if self.records is None else self.records["risk"]

    def _chosen(self, name: str) -> bool:
        """Whether the limits of an attribute were given as values; percentiles are values of people."""
        return all(limit is None or (isinstance(limit, Mapping) and name in limit) for limit in (self.top, self.bottom))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        kinds = (Kind.CONTINUOUS, Kind.ORDINAL)
        named = [name for limit in (self.top, self.bottom) if isinstance(limit, Mapping) for name in limit]
        general = any(limit is not None and not isinstance(limit, Mapping) for limit in (self.top, self.bottom))
        names = treatable(data, None, kinds, self.name) if general else ()
        if named or not general:
            names += treatable(data, named, kinds, self.name)
        return tuple(dict.fromkeys(names))

    def _limits(self, engine: Engine, data: Microdata) -> dict[str, tuple[float, float]]:
        """The lower and the upper limit of each attribute; positions of ordered categories."""
        out = {}
        for name in self._attributes(data):
            column = data.columns[name]
            low = -_limit(engine, "bottom", self.bottom, column, sign=-1)
            high = _limit(engine, "top", self.top, column, sign=1)
            if isinstance(column, ContinuousColumn):
                low, high = (held(limit, data.frame.arrow_type(name)) for limit in (low, high))
            if low > high:
                raise PlanError(f"the lower limit of {name!r} is above the upper one.", hint="Exchange top and bottom.")
            out[name] = low, high
        return out


@dataclass(frozen=True)
class Bounds(Promise):
    """Every number (or position of an ordered category) of the attribute lies between two limits.

    With ``risk``, those of records that were found with a greater chance by all quasi-identifiers.
    What is promised is published: it names limits that were ``chosen``, and not those that are values of the table.
    """

    attribute: str
    low: float
    high: float
    risk: float | None = None
    chosen: bool = True

    @property
    def limits_by_record(self) -> bool:
        return self.risk is None

    def limits(self, original: Microdata, masked: Masked, name: str) -> Limits:
        if name != self.attribute:
            return super().limits(original, masked, name)
        if self.risk is None:
            return self.low, self.high
        bound = _aimed(original, self.risk)
        return np.where(bound, self.low, -np.inf), np.where(bound, self.high, np.inf)

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        column = released_column(released, original, self.attribute)
        return self._checked(original, _outside(column, _aimed(original, self.risk), self.low, self.high))

    @property
    def in_chunks(self) -> bool:  # type: ignore[override]
        return self.risk is None

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if self.risk is not None:
            return super().check_on(engine, original, released, masked)
        column = released_on(engine, released, original, self.attribute)
        outside = engine.fold(_outside, add, [column], True, self.low, self.high, what="checking")
        return self._checked(original, outside)

    def _checked(self, original: Microdata, outside: int) -> Check:
        whose = "" if self.risk is None else f" of a record with a risk above {self.risk:g}"
        column = original.columns[self.attribute]
        limits = [_written(column, limit) for limit in (self.low, self.high) if np.isfinite(limit)]
        between = "between " if len(limits) == 2 else "at least " if np.isfinite(self.low) else "at most "
        named = " and ".join(limits) if self.chosen else "two limits" if len(limits) == 2 else "a limit"
        found = f"{outside:,} outside" if self.chosen else f"{outside:,} outside {' and '.join(limits)}"
        promise = f"every value of {self.attribute}{whose} is {between}{named}" if limits else "no limit"
        return Check(promise, outside == 0, found)


def _outside(column: Column, aimed: NDArray[np.bool_] | bool, low: float, high: float) -> int:
    """How many of the values that are cut lie beyond the limits."""
    values = column.numbers()
    return int((aimed & ((values < low) | (values > high))).sum())


def _aimed(data: Microdata, risk: float | None) -> NDArray[np.bool_]:
    """The records whose values are cut: all, or those at risk."""
    return np.ones(data.n, dtype=np.bool_) if risk is None else at_risk(data, data.schema.quasi_identifiers, risk)


def _coded(column: Column, low: float, high: float, aimed: NDArray[np.bool_] | bool = True) -> tuple[Column, int, int]:
    """A column whose values lie between two limits, and how many were above and below; of some records, or of all."""
    values = column.numbers()
    above, below = int((aimed & (values > high)).sum()), int((aimed & (values < low)).sum())
    cut = np.where(aimed, np.clip(values, low, high), values)
    if isinstance(column, ContinuousColumn):
        return column.with_values(cut), above, below
    return column.with_codes(np.where(column.missing, -1, cut)), above, below


def _note(name: str, above: int, below: int) -> str:
    return f"{name}: {above:,} values set to the upper limit, {below:,} to the lower one."


def _limit(engine: Engine, which: str, limit: Limit, column: Column, sign: int) -> float:
    """The limit of a column times its sign, so that both ends are the upper one; infinite if there is none."""
    name = column.attribute.name
    if limit is None or (isinstance(limit, Mapping) and name not in limit):
        return np.inf
    if isinstance(limit, Mapping):
        return sign * _position(which, limit[name], column)
    present = engine.sort(column.cells, "sorting")
    n = len(present)
    if not n:
        return np.inf
    share = limit if sign > 0 else 100 - limit
    place = max(int(np.ceil(n * (share / 100) - 1)), 0)  # the first with at least this share of values up to it
    return sign * float(present[place if sign > 0 else n - 1 - place])


def _position(which: str, limit: object, column: Column) -> float:
    """A limit as a number: itself, or the position of a category."""
    name = column.attribute.name
    if isinstance(column, ContinuousColumn):
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not np.isfinite(limit):
            raise PlanError(f"the {which} of {name!r} must be a number; got {limit!r}.")
        return float(limit)
    spelled = [spell(category) for category in column.attribute.order]
    if spell(limit) not in spelled:
        raise SchemaError(f"{limit!r} is not a category of {name!r}.", hint=did_you_mean(spell(limit), spelled))
    return float(spelled.index(spell(limit)))


def _written(column: Column, limit: float) -> str:
    return f"{limit:g}" if isinstance(column, ContinuousColumn) else spell(column.attribute.order[int(limit)])
