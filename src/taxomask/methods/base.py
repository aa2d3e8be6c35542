"""What a protection method is: parameters, what it promises, and how it masks a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .._support.parameters import declared
from .._support.showing import ShowsItsCall, not_default
from ..engines import Engine
from ..errors import SchemaError, did_you_mean
from ..microdata import Microdata
from ..microdata.frames import Frame
from ..partition import Groups
from ._transition import Transition
from .likelihood import Likelihood, by_transition

__all__ = [
    "Check",
    "Counted",
    "Limits",
    "Masked",
    "Method",
    "Progress",
    "Promise",
    "Promised",
    "Unspoken",
    "check",
    "chosen",
    "own_generators",
]

Progress = Callable[[float], None]
Limits = tuple[float | NDArray[np.float64], float | NDArray[np.float64]]  # for all records, or for each of them


@dataclass(frozen=True)
class Check:
    """What was promised, whether it holds on the data about to be released, and what was found."""

    promise: str
    holds: bool
    found: str

    @property
    def verdict(self) -> str:
        return "holds" if self.holds else "DOES NOT HOLD"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.promise} ({self.found})"


@dataclass(frozen=True)
class Promised(Check):
    """The check of a promise of the method itself, not of what every release must be."""


@dataclass(frozen=True)
class Counted(Check):
    """A figure to look at, which nobody promised anything about."""

    @property
    def verdict(self) -> str:
        return "counted"


@dataclass(frozen=True)
class Unspoken(Check):
    """A check that only the custodian is told of: of a random method its outcome tells something of the original."""


@dataclass(frozen=True, eq=False)
class Masked:
    """A masked table, and what a method has to say about it.

    Parameters
    ----------
    data
        The masked table.
    groups
        The groups that the method made, if it made any.
    notes
        What the user should know.
    swaps
        For methods that swap: for each attribute the pairs of positions that were swapped, one row per swap in order; a
        value that stayed in place is a pair of a position with itself.
    copies
        For methods that make several masked tables: all of them; the first is ``data``.
    linked
        Whether record i of the masked table comes from record i of the original; not so for fully synthetic data.
    """

    data: Microdata
    groups: Groups | None = None
    notes: tuple[str, ...] = ()
    swaps: Mapping[str, NDArray[np.int64]] | None = None
    copies: tuple[Microdata, ...] = ()
    linked: bool = True


class Promise(ABC):
    """Something that a method guarantees, checked on the released table."""

    @abstractmethod
    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        """Look at the released table, as it will be seen by others."""

    family: ClassVar[str] = "values"
    """What it is about, for lists of methods: records that look ``"alike"``, ``"chances"`` of whose a value is, a
    ``"bound"`` on what a value tells, whatever ``"steps"`` promise, or no more than ``"values"``."""

    by_chance: ClassVar[bool] = False
    """Whether it speaks of probabilities, which no table shows: how values are drawn was checked as well, then."""

    in_chunks: ClassVar[bool] = False
    """Whether a long table is looked at in chunks: see `check_on`."""

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """The same, wherever the table lies; promises that can look at it in chunks say so."""
        found: Check = engine.run(check, self, original, released, masked, what="checking promises")
        return found

    def settled(self, masked: Masked) -> tuple[str, ...]:
        """The attributes whose numbers must stay exactly as the method made them, whatever their decimals."""
        return ()

    def limits(self, original: Microdata, masked: Masked, name: str) -> Limits:
        """Between what the numbers of an attribute must lie; they are rounded inward where they would leave it."""
        return -np.inf, np.inf

    @property
    def limits_by_record(self) -> bool:
        """Whether the limits of a record depend on nothing but its own original values."""
        return True

    def permuted(self, masked: Masked) -> tuple[str, ...]:
        """The columns that it promises to be permutations of the original ones."""
        return ()

    def parts(self, masked: Masked) -> tuple[Promise, ...]:
        """The promises that it is made of, if it stands for several."""
        return (self,)

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        """The columns that it protects whether or not a value of theirs changes."""
        return ()


def check(promise: Promise, original: Microdata, released: Frame, masked: Masked) -> Check:
    """Whether a promise holds, as a function for engines."""
    return promise.check(original, released, masked)


@dataclass(frozen=True)
class Method(ShowsItsCall, ABC):
    """A protection method. Constructors only store; what parameters take is declared in their types.

    They are checked when a plan is read, and before a table is masked.
    """

    name: ClassVar[str]
    """How plans and the command line call it."""
    about: ClassVar[str]
    """What it does, in one sentence for a custodian."""
    reference: ClassVar[str]
    """The paper."""
    once: ClassVar[bool] = False
    """Whether a pipeline takes it once at most, since what it promises is a sum over all columns that it treats."""

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the table. Those that depend on each other are checked here too."""
        for one in declared(type(self)):
            one.check(getattr(self, one.name))

    @abstractmethod
    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        """Mask a table; every random choice comes from the generator.

        Methods that take long call ``progress`` from time to time with the fraction that is done.
        """

    @abstractmethod
    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        """What the method guarantees for this table."""

    def promises_on(self, engine: Engine, data: Microdata) -> tuple[Promise, ...]:
        """The same, wherever the table lies; methods that look at values for it do so in chunks."""
        return self.promises(data)

    def protects(self, data: Microdata) -> tuple[str, ...]:
        """The columns of a table that the method replaces, in the order of the table."""
        names = set(self._attributes(data))
        return tuple(name for name in data.columns if name in names)

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        """The same in the order of the method: those that it names, or else all quasi-identifiers."""
        return chosen(data, getattr(self, "attributes", None), data.schema.quasi_identifiers, "quasi-identifier")

    transition_needs_original: ClassVar[bool] = False
    """Whether the probabilities of `transition` come from the records of the original table."""

    def transition(self, data: Microdata, name: str) -> Transition | None:
        """P(released | original) for the cells of an attribute; None if there is no table of it."""
        return None

    def keeps_moments(self, data: Microdata) -> tuple[str, ...]:
        """The attributes whose means and variances are kept exactly: rounded only if the schema gives decimals."""
        return ()

    def likelihood(self, original: Microdata, released: Microdata) -> Likelihood | None:
        """How likely the cells that the method releases are, given the original ones; None if there is no closed form.

        For the columns that it protects, whose categories are numbered alike in both tables. Whoever knows the method
        and its parameters, but not the seed, can compute it: see `taxomask.measures.risk.attackers`. By default it is
        made of the tables of `transition`, if all columns have one.
        """
        found = []
        for name in self.protects(original):
            transition = self.transition(original, name)
            if transition is None:
                return None
            found.append(by_transition(transition, original.columns[name], released.columns[name]))
        return tuple(found)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        """The same work as methods that do not depend on each other; one for each attribute, where that is so."""
        return (self,)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        """Mask a table part by part, wherever it lies. Each part has a generator of its own.

        Methods of several steps say here, in the verbs of the engine, how they mask; all engines give the same bits.
        """
        parts = self.parts(data)
        children = own_generators(rng, len(parts))
        items = [(part, data, child) for part, child in zip(parts, children, strict=True)]
        masked = engine.map(_mask_part, items, f"masking ({self.name})", main=True)
        if len(masked) == 1:
            return cast(Masked, masked[0])
        swaps = {name: pairs for one in masked for name, pairs in (one.swaps or {}).items()}
        notes = tuple(note for one in masked for note in one.notes)
        return Masked(data.changed_as([one.data for one in masked]), notes=notes, swaps=swaps or None)

    def parameters(self) -> dict[str, Any]:
        """All parameters by name, in plain values."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def to_dict(self) -> dict[str, Any]:
        """The name and the parameters that are not at their defaults, in plain values, as a plan has them."""
        return {"name": self.name, **{name: _plain(value) for name, value in not_default(self).items()}}

    def __str__(self) -> str:
        """The name with the parameters that are not at their defaults: ``microaggregation(k=5)``."""
        return f"{self.name}({', '.join(f'{name}={_shown(value)}' for name, value in not_default(self).items())})"


def own_generators(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """A generator for each attribute; the one that is given, if there is one attribute."""
    return rng.spawn(count) if count > 1 else [rng]


def _mask_part(part: Method, data: Microdata, rng: np.random.Generator, progress: Progress | None) -> Masked:
    return part.mask(data, rng, progress)


def _plain(value: Any) -> Any:
    if isinstance(value, Method):
        return value.to_dict()
    if isinstance(value, Mapping):
        # JSON has no other keys than these; a date, say, becomes text.
        return {key if isinstance(key, str | int | float) else str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _shown(value: Any) -> str:
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list | tuple) else str(value)


def chosen(data: Microdata, attributes: Iterable[str] | None, default: tuple[str, ...], what: str) -> tuple[str, ...]:
    """The attributes that a method works on: those named, or by default those of a role."""
    names = default if attributes is None else tuple(attributes)
    if not names:
        raise SchemaError(
            f"the table has no {what} to protect.", hint="Give columns that role; or name attributes=[…]."
        )
    for name in names:
        if name not in data.columns:
            raise SchemaError(f"there is no coded column {name!r} to protect.", hint=did_you_mean(name, data.columns))
    return names
