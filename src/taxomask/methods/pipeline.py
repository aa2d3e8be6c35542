from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from ..engines import Engine, Memory
from ..errors import PlanError, PromiseError
from ..microdata import Microdata
from ..microdata.frames import Frame
from .base import Check, Masked, Method, Progress, Promise, check
from .decimals import rounded
from .likelihood import Likelihood

__all__ = ["Pipeline"]


@dataclass(frozen=True)
class Pipeline(Method):
    """Several methods one after the other, each masking what the one before made.

    A later step can undo what an earlier one promised: noise after microaggregation ends k-anonymity, rounding after a
    permutation ends the permutation. Therefore the promises of all steps are looked at on the final table, each
    against the table that its step was given. Those of the last step must hold. Those of an earlier step are claimed if
    they hold on the final table; a note says which are not, and why. A promise that does not even hold right after its
    own step is a fault and stops the release.

    What a step has made is rounded, as it would be released, before the next one works on it. Each step has a generator
    of its own. Groups are those of the last step that made any; swaps of the same
    attribute follow each other. A method that makes several tables can only be the last step.

    What a later step promises of original values, such as a permutation or a bound on what a cell tells, it promises of
    the values that it was given, and says so: "of what step 1 made".

    Parameters
    ----------
    methods
        The steps, in order.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 73]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.Pipeline([tm.Microaggregation(k=2), tm.Rounding(1)]))
    >>> release.data["age"].to_pylist()
    [20, 20, 72, 72]
    >>> print(release.promise[-2])
    holds: step 1 (microaggregation): at least k = 2 records share every combination of age (the smallest of 2 ...)
    """

    methods: Annotated[Sequence[Method], MinLen(1), "For example Pipeline([Microaggregation(k=5), Rounding(1)])."]

    name = "pipeline"
    about = "Applies several methods one after the other."
    reference = "none"

    def check_parameters(self) -> None:
        super().check_parameters()
        for method in self.methods:
            method.check_parameters()
        once = [step.name for step in self._steps() if step.once]
        for name in dict.fromkeys(once):
            if once.count(name) > 1:
                raise PlanError(
                    f"{name} stands {once.count(name)} times in the pipeline, and what it promises of a record is a "
                    "sum over all columns that it treats.",
                    hint="Treat all columns in one step.",
                )

    def _steps(self) -> list[Method]:
        """The steps, those of pipelines among them one by one."""
        return [step for one in self.methods for step in (one._steps() if isinstance(one, Pipeline) else [one])]

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        methods = tuple(self.methods)
        steps: list[_Step] = []
        current = data
        for place, (method, child) in enumerate(zip(methods, rng.spawn(len(methods)), strict=True)):
            promises = method.promises_on(engine, current)
            masked = method.mask_on(engine.part(place / len(methods), (place + 1) / len(methods)), current, child)
            if masked.copies and place + 1 < len(methods):
                raise PlanError(
                    f"{method.name} makes several tables and is not the last step.", hint="Put it last, or make one."
                )
            masked = rounded(engine, current, masked, method, promises)
            of = f", of what step {place} made" if place else ""
            steps.append(
                _Step(
                    f"step {place + 1} ({method.name}{of})", current, masked, promises, place + 1 == len(self.methods)
                )
            )
            current = masked.data
        finals = [copy.seen() for copy in steps[-1].masked.copies or (current,)]
        lost = [note for place in range(len(steps) - 1) for note in _settle(engine, steps, place, finals)]
        results = [step.masked for step in steps]
        linked = [all(masked.linked for masked in results[place + 1 :]) for place in range(len(results))]
        groups = [masked.groups for masked, still in zip(results, linked, strict=True) if still and masked.groups]
        return _Piped(
            current,
            groups[-1] if groups else None,
            (*(f"{step.title}: {note}" for step in steps for note in step.masked.notes), *lost),
            _joined([masked.swaps for masked in results]),
            results[-1].copies,
            all(masked.linked for masked in results),
            tuple(steps),
        )

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return tuple(_OfStep(place) for place in range(len(self.methods)))

    def likelihood(self, original: Microdata, released: Microdata) -> Likelihood | None:
        """Those of the steps together, if each has one and no column is treated twice."""
        names = [name for one in self.methods for name in one.protects(original)]
        if len(set(names)) < len(names):
            return None
        parts = [one.likelihood(original, released) for one in self.methods]
        known = [part for part in parts if part is not None]
        return tuple(one for part in known for one in part) if len(known) == len(parts) else None

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return tuple(name for one in self.methods for name in one.protects(data))


@dataclass(eq=False)
class _Step:
    """What a step was given and made, and which of its promises are claimed for the final table."""

    title: str
    before: Microdata
    masked: Masked
    claims: tuple[Promise, ...]
    last: bool


@dataclass(frozen=True, eq=False)
class _Piped(Masked):
    """The result of the last step, with all steps."""

    steps: tuple[_Step, ...] = ()


@dataclass(frozen=True)
class _OfStep(Promise):
    """What a step promises and still holds on the final table."""

    family: ClassVar[str] = "steps"

    place: int

    def _step(self, masked: Masked) -> _Step:
        assert isinstance(masked, _Piped)
        return masked.steps[self.place]

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return tuple(masked.data.columns)  # each step has rounded what it made

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        step, made = self._made(masked)
        return self._checked(step, [promise.check(step.before, released, made) for promise in step.claims])

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        step, made = self._made(masked)
        return self._checked(step, [one.check_on(engine, step.before, released, made) for one in step.claims])

    def _made(self, masked: Masked) -> tuple[_Step, Masked]:
        step = self._step(masked)
        return step, replace(step.masked, data=masked.data) if step.last else step.masked  # one of several copies

    def _checked(self, step: _Step, checks: list[Check]) -> Check:
        if not checks:
            return Check(f"{step.title}: nothing", True, "no promise to check")
        return Check(
            f"{step.title}: {'; '.join(check.promise for check in checks)}",
            all(check.holds for check in checks),
            "; ".join(check.found for check in checks),
        )

    def parts(self, masked: Masked) -> tuple[Promise, ...]:
        return self._step(masked).claims

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        step = self._step(masked)
        return tuple(name for promise in step.claims for name in promise.suffices_for(step.masked))


def _settle(engine: Engine, steps: list[_Step], place: int, finals: list[Frame]) -> list[str]:
    """Keep the promises of a step that hold on the final tables; a note on each of the others."""
    step = steps[place]
    linked = all(later.masked.linked for later in steps[place + 1 :])
    own: Frame | None = None
    claims, notes = [], []
    for promise in step.claims:
        items = [(promise, step.before, final, step.masked) for final in finals] if linked else []
        checks: list[Check] = engine.map(check, items, "checking promises")
        if linked and all(one.holds for one in checks):
            claims.append(promise)
            continue
        own = own or step.masked.data.seen()
        at_once: Check = engine.run(check, promise, step.before, own, step.masked, what="checking promises")
        if not at_once.holds:
            raise PromiseError(
                f"the release was stopped after {step.title}:\n  {at_once}",
                hint="Nothing was released. Change the parameters of the method; if that does not help, report a bug.",
            )
        why = next((one.found for one in checks if not one.holds), "a later step makes new records")
        notes.append(f"No longer claimed after later steps, {step.title}: {at_once.promise} ({why}).")
    step.claims = tuple(claims)
    return notes


def _joined(logs: list[Any]) -> dict[str, NDArray[np.int64]] | None:
    """The swaps of all steps, those of the same attribute one after the other."""
    known = [log for log in logs if log is not None]
    if not known:
        return None
    names = dict.fromkeys(name for log in known for name in log)
    return {name: np.concatenate([log[name] for log in known if name in log]) for name in names}
