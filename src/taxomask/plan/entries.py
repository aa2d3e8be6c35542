"""Methods and analyses from the plain values of a plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from .._support.parameters import Parameter, declared
from ..errors import PlanError, did_you_mean
from ..measures.analyses import ANALYSES, Analysis
from ..methods import METHODS, Method, Pipeline

__all__ = ["AN_ANALYSIS", "grid", "make_analysis", "make_method", "of_methods", "vary"]

AN_ANALYSIS = "{name: stay, kind: mean, of: days, by: [region]}"


def make_analysis(entry: object) -> Analysis:
    """An analysis from plain values: its name, its kind and its parameters, not yet checked.

    >>> make_analysis({"name": "stay", "kind": "mean", "of": "days", "by": ["region"]}).words()
    'Mean of days by region'
    """
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise PlanError(f"an analysis has a name, a kind and more; got {entry!r}.", hint=f"Write {AN_ANALYSIS}")
    what, kind = f"analysis {entry['name']!r}", entry.get("kind")
    if not isinstance(kind, str) or kind not in ANALYSES:
        raise PlanError(f"{what}: there is no kind {kind!r}.", hint=did_you_mean(str(kind), ANALYSES))
    given = {key: value for key, value in entry.items() if key != "kind"}
    known = _known_parameters(ANALYSES[kind], given, what)
    return ANALYSES[kind](**{key: _given(value, known[key]) for key, value in given.items()})


def _known_parameters(kind: type, given: Mapping[str, Any], what: str) -> dict[str, Parameter]:
    """What a declared thing takes; an error if something else is given, or if what it needs is not."""
    known = {one.name: one for one in declared(kind)}
    for key in given:
        if key not in known:
            raise PlanError(f"{what} has no parameter {key!r}.", hint=did_you_mean(str(key), known))
    for key, one in known.items():
        if one.required and key not in given:
            raise PlanError(f"{what} needs the parameter {key!r}.", hint=f"Write {key}: …")
    return known


def make_method(entry: object) -> Method:
    """A method from plain values: its name and its parameters, checked as far as that needs no table.

    >>> make_method({"name": "microaggregation", "k": 5}).k
    5
    >>> make_method({"name": "microaggregation", "k": "5"})
    Traceback (most recent call last):
    taxomask.errors.PlanError: microaggregation: k must be an integer of at least 2; got '5'.
    Groups of one record protect nobody.
    """
    if isinstance(entry, list):
        return _checked(Pipeline(tuple(make_method(one) for one in entry)))
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise PlanError(
            f"a method has a name and parameters; got {entry!r}.", hint="Write {name: microaggregation, k: 5}."
        )
    name = entry["name"]
    if not isinstance(name, str) or name not in METHODS:
        raise PlanError(f"there is no method {name!r}.", hint=did_you_mean(str(name), METHODS))
    kind = METHODS[name]
    given = {key: value for key, value in entry.items() if key != "name"}
    known = _known_parameters(kind, given, f"method {name!r}")
    return _checked(kind(**{key: _given(value, known[key]) for key, value in given.items()}))


def vary(entry: Mapping[str, Any]) -> Iterator[Method]:
    """The methods of one entry of a grid: every combination of the values under ``vary:``.

    >>> [method.k for method in vary({"name": "microaggregation", "vary": {"k": [3, 5]}})]
    [3, 5]
    """
    fixed = {key: value for key, value in entry.items() if key != "vary"}
    varied = entry.get("vary") or {}
    if not isinstance(varied, Mapping) or not all(isinstance(values, list) and values for values in varied.values()):
        raise PlanError(f"'vary' lists values of parameters; got {varied!r}.", hint="Write vary: {k: [3, 5, 10]}.")
    for values in itertools.product(*varied.values()):
        yield make_method({**fixed, **dict(zip(varied, values, strict=True))})


def _checked(method: Method) -> Method:
    try:
        method.check_parameters()
    except PlanError as error:
        hint = error.hint or f"`taxomask methods {method.name}` tells what each parameter takes."
        raise PlanError(f"{method.name}: {error.message}", hint=hint) from None
    return method


def _given(value: Any, parameter: Parameter) -> Any:
    if of_methods(parameter) and isinstance(value, Mapping) and "name" in value:
        return make_method(value)
    return tuple(_given(one, parameter) for one in value) if isinstance(value, list) else value


def of_methods(parameter: Parameter) -> bool:
    """Whether it takes methods: there a mapping with a name is one, and not a column that is called "name"."""
    return any(Method in (one.type, one.inside) for one in parameter.options)


def grid(entries: Any) -> Iterator[Method]:
    """The methods under ``compare``, those that `vary` lists included."""
    if not isinstance(entries, list):
        raise PlanError(f"compare is a list of methods; got {entries!r}.", hint="Write '- name: …' for each.")
    for entry in entries:
        yield from vary(entry) if isinstance(entry, Mapping) else [make_method(entry)]
