"""The smallest k of each compared method that keeps to the limits, searched and not only tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from ..errors import TaxomaskError
from ..evaluation import Summary
from ..methods import Method

__all__ = ["Searched", "search"]

Outcome = Summary | TaxomaskError
Measure = Callable[[list[Method]], list[Outcome]]

LEAST = 2


@dataclass
class Searched:
    """What is known about the k of one method, all other parameters being the same.

    Risk need not fall with every step of k, but as a rule it does: ``failing`` is the largest k below ``meeting`` that
    was found to be beyond the limits, and ``meeting`` the smallest that was found to keep to them.
    """

    method: Method
    most: int
    failing: int = LEAST - 1
    meeting: int | None = None
    over: bool = False  # a larger k cannot be run on the table

    def next(self) -> int | None:
        """The next k to try: twice as large until one keeps to the limits, then the middle; None if it is found."""
        if self.over:
            return None
        if self.meeting is None:
            larger = min(max(2 * self.failing, LEAST), self.most)
            return larger if larger > self.failing else None
        return (self.failing + self.meeting) // 2 if self.meeting - self.failing > 1 else None

    def fails(self, k: int, outcome: Outcome) -> None:
        """This k is beyond the limits, or cannot be run: then there is no use in a larger one."""
        self.over = isinstance(outcome, TaxomaskError)
        self.failing = self.failing if self.over else k

    def with_k(self, k: int) -> Method:
        return replace(self.method, k=k)  # type: ignore[call-arg]

    def words(self) -> str:
        """What the search found, no more than was tried."""
        name = str(self.with_k(self.meeting or self.failing))
        if self.meeting is None:
            return f"{name}: no k up to {self.failing:,} was found to keep to the limits."
        below = self.meeting - 1
        if below < LEAST:
            return f"{name} keeps to the limits with the smallest k there is."
        if self.failing == below:
            return f"{name} keeps to the limits, k = {below:,} does not."
        least = max(self.failing + 1, LEAST)
        smaller = f"k = {below:,} was not tried" if least == below else f"k from {least:,} to {below:,} were not tried"
        return f"{name} keeps to the limits; {smaller}, and may do so as well."


def search(
    known: Iterable[tuple[Method, Outcome]],
    keeps: Callable[[Summary], bool],
    cheap: Callable[[Summary], bool],
    measure: Measure,
    measure_cheaply: Measure | None,
    *,
    most: int,
    seconds: float,
) -> tuple[list[tuple[Method, Outcome]], list[Searched]]:
    """Measure further k of the methods that have one, until the smallest that keeps to the limits is found.

    What cheap attackers find is found by all: a k that is beyond the limits for them need not be measured further.
    Those that keep to the limits for them are measured with all. All methods take a step at a time, side by side, and
    no step begins after so many ``seconds``.
    """
    until = time.monotonic() + seconds
    found: list[tuple[Method, Outcome]] = []
    families = _families(known, keeps, most)
    while time.monotonic() < until:
        steps = [(family, k) for family in families if (k := family.next()) is not None]
        if not steps:
            break
        passed = []
        quick: list[Outcome | None] = [None] * len(steps)
        if measure_cheaply is not None:
            quick = list(measure_cheaply([family.with_k(k) for family, k in steps]))
        for (family, k), one in zip(steps, quick, strict=True):
            if one is None or (not isinstance(one, TaxomaskError) and cheap(one)):
                passed.append((family, k))
            else:
                family.fails(k, one)
        for (family, k), one in zip(passed, measure([family.with_k(k) for family, k in passed]), strict=True):
            if not isinstance(one, TaxomaskError):
                found.append((family.with_k(k), one))
            if not isinstance(one, TaxomaskError) and keeps(one):
                family.meeting = k
            else:
                family.fails(k, one)
    return found, families


def _families(known: Iterable[tuple[Method, Outcome]], keeps: Callable[[Summary], bool], most: int) -> list[Searched]:
    """The methods that have a k, those that differ in it only being one, with what is known about them."""
    families: list[tuple[Method, list[tuple[int, bool, Method]]]] = []
    for method, one in known:
        if isinstance(one, TaxomaskError) or not any(part.name == "k" for part in fields(method)):
            continue
        k: Any = method.k  # type: ignore[attr-defined]
        if isinstance(k, int) and k >= LEAST:
            alike = replace(method, k=LEAST)  # type: ignore[call-arg]
            family = next((tried for other, tried in families if other == alike), None)
            if family is None:
                families.append((alike, family := []))
            family.append((k, keeps(one), method))
    found = []
    for _, tried in families:
        meeting = min((k for k, kept, _ in tried if kept), default=None)
        below = (k for k, kept, _ in tried if not kept and (meeting is None or k < meeting))
        found.append(Searched(tried[0][2], most, max(below, default=LEAST - 1), meeting))
    return found


def told(families: Iterable[Searched]) -> tuple[str, ...]:
    return tuple(family.words() for family in families)
