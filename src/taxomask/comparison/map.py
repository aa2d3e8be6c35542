"""The risk-utility map: what is known of several methods, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from .._support.parameters import check_number
from .._support.showing import few, line
from ..errors import PlanError, did_you_mean
from ..evaluation import OVERLAP, headline_figure
from ..measures.plain import plain
from ..methods import Method
from ..microdata.frames import of_kind
from ..report.figures import number

__all__ = ["Choice", "Point", "RUMap", "check_limits", "with_front"]


@dataclass(frozen=True, repr=False)
class Point:
    """One method with its parameters: its risk, its loss, and the numbers behind them."""

    label: str
    method: Method
    risk: float
    loss: float
    numbers: Mapping[str, Any]
    front: bool = False
    promises: tuple[str, ...] = ()

    @property
    def disclosure(self) -> float:
        """What is learnt of confidential values beyond a guess; NaN if there are none."""
        found = self.numbers.get("disclosure")
        return math.nan if found is None else float(found)

    def __repr__(self) -> str:
        return line(f"<Point {self.label}: risk {number(self.risk)}, loss {number(self.loss)}>")


@dataclass(frozen=True, repr=False)
class Choice:
    """A point of the map, and why it was chosen."""

    point: Point
    reason: str

    def __repr__(self) -> str:
        return line(f"<Choice {self.point.label}: {self.reason}>")

    @property
    def method(self) -> Method:
        return self.point.method


@dataclass(frozen=True, repr=False)
class RUMap:
    """Risk against utility, one point per method and parameters.

    Parameters
    ----------
    points
        One per method that ran, in the order given. ``front`` marks those that no other point beats in both.
    failed
        The methods that could not be run on this table, with the reason.
    protected
        The columns that any of the methods that ran protects: every loss is over these, so that losses compare.
    searched
        What the search for the smallest k found, a sentence for each method, where a limit was given.
    """

    points: tuple[Point, ...]
    failed: tuple[tuple[str, str], ...] = ()
    protected: tuple[str, ...] = ()
    _kind: str = "pyarrow"
    searched: tuple[str, ...] = ()

    def __repr__(self) -> str:
        front = [point.label for point in self.points if point.front]
        failed = f", {len(self.failed)} could not be run" if self.failed else ""
        return line(f"<RUMap of {len(self.points)} methods{failed}; on the front {few(front, 4) or 'none'}>")

    def _repr_html_(self) -> str:
        from ..report import map_view

        return map_view(self.page())

    def to_frame(self) -> Any:
        """The numbers as a table, one row per method; the same kind of table as was compared."""
        import pyarrow as pa

        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        columns = {name: pa.array([point.numbers.get(name) for point in self.points]) for name in names}
        return of_kind(
            self._kind,
            {
                "method": pa.array([point.label for point in self.points], pa.string()),
                **columns,
                "front": pa.array([point.front for point in self.points], pa.bool_()),
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The map in plain values."""
        points = [
            {"method": point.label, "numbers": plain(point.numbers), "front": point.front} for point in self.points
        ]
        failed = [{"method": label, "reason": reason} for label, reason in self.failed]
        searched = {"searched": list(self.searched)} if self.searched else {}
        return {"points": points, "failed": failed, "protected": list(self.protected), **searched}

    def best(
        self,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        *,
        analysis: str | None = None,
    ) -> Choice:
        """The method that keeps most among those that are acceptable, with the reason in words.

        Without a limit it may be one that protects little: the reason says its risk.

        Parameters
        ----------
        max_risk
            The largest acceptable share of records that the best attacker links rightly.
        max_disclosure
            The largest acceptable disclosure of confidential values, for tables that have some: the figure to choose by
            where the quasi-identifiers are released as they are.
        promise
            Only methods that made this promise, by its name (``"k_anonymity"``, which covers every quasi-identifier,
            ``"permutation"``, ``"t_closeness"``) or by words that it has in it, such as ``"k = 5"``.
        analysis
            What is kept is the overlap of the intervals of this analysis; by default as little loss as possible.
        """
        if not self.points:
            raise PlanError("no method could be run.", hint="; ".join(f"{a}: {b}" for a, b in self.failed))
        limits = check_limits(max_risk, max_disclosure)
        if not limits and promise is None and analysis is None:
            raise PlanError(
                "there is no limit to choose by.",
                hint="Give max_risk, max_disclosure or both, a promise or an analysis.",
            )
        if max_disclosure is not None and any(math.isnan(point.disclosure) for point in self.points):
            raise PlanError(
                "there is no disclosure to choose by: nobody looked for confidential values.",
                hint="Give columns the role confidential, and leave attackers out or name those who look for values.",
            )
        kept = _Kept(self.points, analysis)
        promised = [point for point in self.points if promise is None or is_among(promise, point.promises)]
        if not promised:
            raise PlanError(
                f"no method promises {promise!r}.",
                hint="What was promised: "
                + few(sorted({one for point in self.points for one in point.promises}, key=len)),
            )
        allowed = [point for point in promised if all(value(point) <= limit for _, limit, value in limits)]
        if not allowed:
            least = min(promised, key=lambda point: tuple(max(value(point) - limit, 0) for _, limit, value in limits))
            found = " and ".join(f"{what} of {value(least):.4g}" for what, _, value in limits)
            raise PlanError(
                f"no method has {_said(limits)}; nearest to it is {least.label}, with a {found}.",
                hint="Try stronger parameters, such as a larger k, or accept more.",
            )
        chosen, *others = sorted(allowed, key=lambda point: (kept.order(point), point.loss, point.risk))
        asked = [*([f"have {_said(limits)}"] if limits else []), *([f"promise {promise!r}"] if promise else [])]
        among = f" {len(allowed)} {' and '.join(asked)}; of these" if asked else ""
        reason = (
            f"Of the {len(self.points)} methods{among} it has {kept.most}, "
            f"{kept.value(chosen):.4g}, at a risk of {chosen.risk:.4g}"
        )
        reason += f" and a disclosure of {chosen.disclosure:.4g}." if not math.isnan(chosen.disclosure) else "."
        if others:
            value = kept.value(others[0])
            more = f", {abs(value - kept.value(chosen)):.2g} {'more' if analysis is None else 'less'}"
            differs = not math.isnan(value) and value != kept.value(chosen)
            reason += f" The next best is {others[0].label} with {kept.words} of {value:.4g}{more if differs else ''}."
        return Choice(chosen, reason)

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        analysis: str | None = None,
    ) -> None:
        """Write the map as one HTML page: hover or choose a point to see its numbers."""
        from ..report import write_page

        write_page(path, "map.html", **self.page(max_risk, max_disclosure, promise, analysis=analysis))

    def page(
        self,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        *,
        analysis: str | None = None,
    ) -> dict[str, Any]:
        """What the template of the map needs."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        points = [
            {
                "number": number,
                "label": point.label,
                "method": point.method.name,
                "risk": point.risk,
                "loss": point.loss,
                "front": point.front,
                "more": _worst(point.numbers),
                "numbers": {name: point.numbers.get(name) for name in names},
            }
            for number, point in enumerate(self.points)
        ]
        best = None
        limits = check_limits(max_risk, max_disclosure)
        promised = [point for point in self.points if promise is None or is_among(promise, point.promises)]
        asked = limits or promise is not None or analysis is not None
        if asked and any(all(value(point) <= limit for _, limit, value in limits) for point in promised):
            choice = self.best(max_risk, max_disclosure, promise, analysis=analysis)
            best = {"label": choice.point.label, "reason": choice.reason}
        return {
            "points": points,
            "columns": [{"name": name, "meaning": headline_figure(name)} for name in names],
            "protected": self.protected,
            "failed": self.failed,
            "limit": max_risk,
            "best": best,
            "risk_name": "risk: share of records that the best attacker links rightly",
            "loss_name": "loss: 0 none, 1 every value replaced by the average",
        }


class _Kept:
    """What a choice keeps as much of as it can: the values themselves, or an analysis."""

    def __init__(self, points: Iterable[Point], analysis: str | None) -> None:
        self.key = None if analysis is None else f"{OVERLAP}{analysis}"
        self.most = "the smallest loss" if analysis is None else f"the largest overlap of {analysis!r}"
        self.words = "a loss" if analysis is None else "an overlap"
        known = {name.removeprefix(OVERLAP) for point in points for name in point.numbers if name.startswith(OVERLAP)}
        if analysis is not None and analysis not in known:
            hint = did_you_mean(analysis, sorted(known)) if known else "Name analyses in the plan, or analyses=[…]."
            raise PlanError(f"there is no analysis {analysis!r}.", hint=hint)

    def value(self, point: Point) -> float:
        found = point.loss if self.key is None else point.numbers.get(self.key)
        return math.nan if found is None else float(found)

    def order(self, point: Point) -> float:
        """Smaller is better; what cannot be told comes last."""
        value = self.value(point)
        return math.inf if math.isnan(value) else value if self.key is None else -value


def is_among(promise: str, promises: Iterable[str]) -> bool:
    """Whether one of the promises has this name, or else these words in it."""
    name = promise.lower().replace("-", "_").replace(" ", "_")
    return any(one == name or (" " in one and promise in one) for one in promises)


def check_limits(
    max_risk: float | None, max_disclosure: float | None
) -> list[tuple[str, float, Callable[[Point], float]]]:
    """What must not be exceeded: a name, the limit, and the value of a point; nothing if there is no limit."""
    given: dict[str, tuple[float | None, Callable[[Point], float]]] = {
        "risk": (max_risk, lambda point: point.risk),
        "disclosure": (max_disclosure, lambda point: point.disclosure),
    }
    return [
        (name, check_number(f"max_{name}", limit, above=-1e-300, at_most=1.0), value)
        for name, (limit, value) in given.items()
        if limit is not None
    ]


def _said(limits: Iterable[tuple[str, float, Any]]) -> str:
    return " and ".join(f"a {name} of at most {limit:g}" for name, limit, _ in limits)


def _worst(numbers: Mapping[str, Any]) -> str:
    if numbers.get("worst_column") is None:
        return ""
    return f"worst column {numbers['worst_column']}, loss {numbers['worst_loss']:.4f}"


def with_front(points: Sequence[Point]) -> Iterable[Point]:
    """The points, those marked that no other beats in both risk and loss."""
    for point in points:
        beaten = any(
            other.risk <= point.risk
            and other.loss <= point.loss
            and (other.risk, other.loss) != (point.risk, point.loss)
            for other in points
        )
        yield replace(point, front=not beaten)
