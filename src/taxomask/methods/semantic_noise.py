from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le, MinLen

from .._support.parameters import Slider
from ..errors import PlanError, SchemaError, did_you_mean
from ..microdata import Kind, Microdata
from ..microdata.frames import Frame
from ._attributes import treatable
from ._domains import Domain, declared
from ._kept import differs, how_many, released_column
from ._transition import Transition
from .base import Check, Masked, Method, Progress, Promise
from .likelihood import Likelihood

__all__ = ["Budget", "MetricPrivacy", "SemanticNoise"]

# Beyond 64 the least probabilities are smaller than what 106 random bits can tell.
Epsilon = Annotated[
    float, Ge(0.01), Le(64), Slider(1, 32, start=8), "Below 1 little is left of codes, above 16 of privacy."
]
Values = Annotated[Sequence[Any], MinLen(1), "List the values, or for numbers the least, the greatest and the step."]
Missing = Literal["stay", "value"]
MOST_IN_TABLE = 5_000  # numbers of a grid; their table takes 200 MB


@dataclass(frozen=True)
class SemanticNoise(Method):
    """Every value is replaced by a random one, near ones more likely, with a bound on what that tells.

    A code c becomes c' with a probability proportional to exp(-ε·d(c, c') / 2), with d its semantic distance divided by
    the largest of the domain. For a metric d this gives *metric privacy*: for all codes c1, c2 and o,

        P(o | c1) ≤ e^{ε·d(c1, c2)}·P(o | c2),

    and so ε-local differential privacy of the cell. Whatever somebody knew before, a released code makes them believe
    in c1 rather than c2 by at most that factor more. Numbers and ordered categories get two-sided geometric noise on
    their scale, clamped at its ends, with the same bound and d = |x - x'| / range; plain categories randomised
    response.

    The domain is fixed before anybody looks at the table: all concepts of the taxonomy, the whole scale, or what is
    declared. Concepts are released as the taxonomy spells them, numbers on the declared grid.

    Expect little at small ε: of 600 codes, one stays with a probability of 0.003 at ε = 1 and 0.67 at 16. Counts of the
    release are biased towards rare codes; `estimate_counts` corrects them.

    Parameters
    ----------
    epsilon
        ε of a cell: one for all attributes, or a mapping from attributes. Those of a record add up, and so do those of
        a person's records.
    attributes
        The columns to protect; by default all quasi-identifiers, or those that ``epsilon`` names.
    domain
        From attributes to their values. For codes a list of concepts (by default all of the taxonomy), for plain
        categories every value that can occur (needed), for numbers the least, the greatest and the step (needed);
        numbers beyond count as the end, those between two steps as the nearer one.
    missing
        ``"stay"``: missing cells stay missing, and which cells those are is not covered by the promise. ``"value"``:
        missing is a value of the domain at distance 1 from all others, and covered.
    sharp
        For codes, the largest factor in place of 1/2 with which the bound still holds on this domain. The half makes
        room for the normalisers of the probabilities, which in a taxonomy need a small part of it: with 17,731
        diagnoses the factor is 0.88 at ε = 8. The promise is the same, and checked in the same way.

    References
    ----------
    McSherry, Talwar (2007), Mechanism design via differential privacy, FOCS (the exponential mechanism);
    Chatzikokolakis, Andrés, Bordenabe, Palamidessi (2013), Broadening the scope of differential privacy using metrics,
    PETS; Ghosh, Roughgarden, Sundararajan (2009), Universally utility-maximizing privacy mechanisms, STOC (geometric
    noise).

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["25001", "25002", "4019", "4019"] * 50})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> release = tm.protect(table, schema, tm.SemanticNoise(16), seed=1)
    >>> release.notes[0]
    'dx: 175 of 200 (87.5 %) values changed.'
    >>> print(release.promise[-1])
    holds: ε = 16 for dx of a record (the sum over dx (16))
    """

    epsilon: Epsilon | Mapping[str, Epsilon]
    attributes: Sequence[str] | None = None
    domain: Mapping[str, Values] | None = None
    missing: Missing = "stay"
    sharp: bool = False

    name = "semantic_noise"
    once = True
    about = "Replaces every value by a random one, near ones more likely, with a proven bound on what that tells."
    reference = (
        "McSherry, Talwar (2007), Mechanism design via differential privacy, FOCS; Chatzikokolakis et al. (2013), PETS"
    )

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns, notes = {}, []
        for name, epsilon in self._epsilons(data).items():
            domain = self._domain(data, name)
            numbers = domain.original()
            covered, last = self.missing == "value", len(domain.values)
            mechanism = domain.mechanism(epsilon, covered, self.sharp)
            rows = np.arange(data.n) if covered else np.flatnonzero(numbers >= 0)
            drawn = numbers.copy()
            drawn[rows] = mechanism.draw(np.where(numbers[rows] < 0, last, numbers[rows]), rng)
            columns[name] = domain.written(np.where(drawn == last, -1, drawn))
            changed = how_many(int(differs(data.columns[name], columns[name]).sum()), len(rows))
            notes.append(f"{name}: {changed} values changed.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        epsilons = self._epsilons(data)
        self._check_columns(data, tuple(epsilons))
        each = (
            MetricPrivacy(name, epsilon, self._given(name), self.missing, self.sharp)
            for name, epsilon in epsilons.items()
        )
        return *each, Budget(tuple(epsilons.items()))

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        epsilons = self._epsilons(data)
        self._check_columns(data, tuple(epsilons))
        return tuple(replace(self, epsilon={name: one}, attributes=None) for name, one in epsilons.items())

    def transition(self, data: Microdata, name: str) -> Transition | None:
        """P(released | original) of an attribute; None for numbers on a grid too fine for a table.

        Nothing of the records in ``data`` enters.
        """
        domain, covered = self._domain(data, name), self.missing == "value"
        if data.schema[name].kind == Kind.CONTINUOUS and len(domain.values) > MOST_IN_TABLE:
            return None
        mechanism = domain.mechanism(self._epsilons(data)[name], covered, self.sharp)
        positions = domain.positions
        if covered and positions is not None:
            positions = np.append(positions, np.int32(-1))
        values = (*domain.values, None) if covered else domain.values
        return Transition(values, mechanism.classes, *mechanism.probabilities, positions)

    def likelihood(self, original: Microdata, released: Microdata) -> Likelihood | None:
        numbers = [name for name in self._epsilons(original) if original.schema[name].kind == Kind.CONTINUOUS]
        domains = {name: self._domain(original, name) for name in numbers}
        on_grid = {name: domain.written(domain.original()) for name, domain in domains.items()}
        return super().likelihood(original.replace(on_grid), released)  # what is between two steps cannot be told apart

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return tuple(self._epsilons(data))

    def _epsilons(self, data: Microdata) -> dict[str, float]:
        """ε of each attribute that is protected."""
        if not isinstance(self.epsilon, Mapping):
            return dict.fromkeys(treatable(data, self.attributes, tuple(Kind), self.name), float(self.epsilon))
        if self.attributes is not None and set(self.attributes) != set(self.epsilon):
            raise PlanError(
                "epsilon and attributes do not name the same columns.", hint="Leave attributes out: epsilon names them."
            )
        return {name: float(self.epsilon[name]) for name in treatable(data, self.epsilon, tuple(Kind), self.name)}

    def _given(self, name: str) -> tuple[Any, ...] | None:
        given = (self.domain or {}).get(name)
        return None if given is None else tuple(given)

    def _domain(self, data: Microdata, name: str) -> Domain:
        return declared(data, name, self._given(name))

    def _check_columns(self, data: Microdata, names: tuple[str, ...]) -> None:
        """Refuse a domain of no column, and texts of codes: where one is missing, the table does not have the code."""
        for name in self.domain or ():
            if name not in data.columns:
                raise SchemaError(
                    f"domain names {name!r}, which is no coded column.", hint=did_you_mean(name, data.columns)
                )
        following = data.schema.following(names)
        if following:
            raise SchemaError(
                f"{', '.join(following)} would follow what {self.name} releases, and tell which codes the table has.",
                hint="Leave the column out; the texts of codes can be looked up in the taxonomy.",
            )


@dataclass(frozen=True)
class MetricPrivacy(Promise):
    """The probabilities that cells were drawn with keep the bound, and every cell holds a value of the domain.

    Up to 1,000 values P(o | c1) ≤ e^{ε·d(c1, c2)}·P(o | c2) is checked for every c1, c2 and o; beyond, the normalisers
    of every c1 and c2, which together with the triangle inequality of the distance is the same. Scales are checked
    step by step.
    """

    by_chance: ClassVar[bool] = True

    attribute: str
    epsilon: float
    given: tuple[Any, ...] | None
    missing: Missing
    sharp: bool

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return (self.attribute,)

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        return (self.attribute,)  # a value may be drawn as it was, and to refuse that would tell that it was not

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        domain = declared(original, self.attribute, self.given)
        before, after = domain.original(), domain.numbers(released_column(released, original, self.attribute))
        outside = int((after == -2).sum())
        moved = 0 if self.missing == "value" else int(((before == -1) != (after == -1)).sum())
        verified = domain.mechanism(self.epsilon, self.missing == "value", self.sharp).verified()
        known = "missing is a value" if self.missing == "value" else "which cells are missing is not covered"
        told = f"P(o | c1) ≤ e^(ε·d(c1, c2))·P(o | c2) for cells of {self.attribute}, ε = {self.epsilon:g}"
        bad = f"; {outside:,} cells outside of the domain, {moved:,} emptied or filled" if outside or moved else ""
        return Check(
            f"{told}, over a domain of {len(domain.values):,} values ({known})",
            verified.holds and not outside and not moved,
            f"at most {verified.share:.4f} of the exponent is used, over {verified.over}{bad}",
        )


@dataclass(frozen=True)
class Budget(Promise):
    """What the ε of all protected cells of a record, and of a person's records, add up to."""

    family: ClassVar[str] = "bound"
    by_chance: ClassVar[bool] = True

    epsilons: tuple[tuple[str, float], ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        total = sum(epsilon for _, epsilon in self.epsilons)
        listed = ", ".join(f"{name} ({epsilon:g})" for name, epsilon in self.epsilons)
        units, names = original.units, ", ".join(name for name, _ in self.epsilons)
        if units is None:
            return Check(f"ε = {total:g} for {names} of a record", True, f"the sum over {listed}")
        most = int(np.bincount(units).max(initial=0))
        whole = {"people": "person", "households": "household"}.get(original.unit, original.unit)
        return Check(
            f"ε = {total * most:g} for {names} of a {whole}, {total:g} for those of a record",
            True,
            f"no {whole} has more than {most:,} records; the sum over {listed}",
        )
