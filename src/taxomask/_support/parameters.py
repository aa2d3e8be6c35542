"""What parameters take, read from their types in one place: checks, errors, limits and help come from here.

``k: Annotated[int, Ge(2), Slider(2, 50, start=5), "Groups of one record protect nobody."]`` declares a type, its
limits, the values that people try, and what an error adds to say what to do. Choices are a ``Literal``.
"""

from __future__ import annotations

import inspect
import operator
import re
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from numbers import Integral
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, MinLen

from ..errors import PlanError, did_you_mean

__all__ = ["Option", "Parameter", "Slider", "check_choice", "check_integer", "check_number", "declared", "options"]

_NONE = inspect.Parameter.empty  # a parameter that has no default must be given
_LIMITS = {Ge: ("at least", operator.ge), Gt: ("above", operator.gt), Le: ("at most", operator.le)}
_WORDS = {bool: "true or false", str: "text", Any: "any value", object: "any value"}


@dataclass(frozen=True)
class Slider:
    """The values of a number that people try. ``start`` is what the page sets at first, if there is no default."""

    low: float
    high: float
    step: float = 1
    start: float | None = None


@dataclass(frozen=True)
class Option:
    """One of the types that a parameter allows, and what is declared beside it."""

    type: Any
    beside: tuple[Any, ...] = ()

    @property
    def origin(self) -> Any:
        """``Sequence`` of ``Sequence[str]``, and so on; a plain type is its own."""
        return get_origin(self.type) or self.type

    @property
    def is_list(self) -> bool:
        some = inspect.isclass(self.origin) and issubclass(self.origin, Collection)
        return some and not issubclass(self.origin, str | bytes | Mapping)

    @property
    def is_mapping(self) -> bool:
        return inspect.isclass(self.origin) and issubclass(self.origin, Mapping)

    @property
    def inside(self) -> Any:
        """The type of the items of a list, or of the values of a mapping."""
        inner = [one for one in get_args(self.type) if one is not Ellipsis]
        return inner[-1] if len(inner) == 1 + self.is_mapping else Any

    @property
    def least(self) -> int:
        """How many items a list or a mapping must have."""
        return max((one.min_length for one in self.beside if isinstance(one, MinLen)), default=0)

    def allows(self, value: Any) -> bool:
        """Whether a value is of this type and within its limits; values of a mapping are looked at one by one."""
        if self.origin is Literal:
            return not isinstance(value, bool) and isinstance(value, Integral | float | str) and value in self._choices
        if self.origin in (int, float):
            number = isinstance(value, Integral if self.origin is int else Integral | float)
            return number and not isinstance(value, bool) and value == value and self._is_within(value)
        if self.is_mapping:
            return isinstance(value, Mapping) and len(value) >= self.least
        if self.is_list:
            single = isinstance(value, str | bytes | Mapping | set | frozenset) or not isinstance(value, Collection)
            return not single and len(value) >= self.least and all(_allows(one, self.inside) for one in value)
        return not inspect.isclass(self.origin) or self.origin is Any or isinstance(value, self.origin)

    def __str__(self) -> str:
        """What it takes, in words: "an integer of at least 2"."""
        if self.origin is Literal:
            return _either(map(repr, self._choices))
        if self.origin in (int, float):
            limits = " and ".join(f"{word} {bound:g}" for word, _, bound in self._limits)
            what = "an integer" if self.origin is int else "a number"
            return f"{what}{' of' if limits.startswith('at') else ''}{' ' if limits else ''}{limits}"
        if self.is_mapping:
            whole = "a mapping from attributes" if get_args(self.type)[:1] == (str,) else "a mapping"
            return f"{whole} with {_at_least(self.least, 'key')}" if self.least else whole
        if self.is_list:
            what = {str: "name", Any: "value"}.get(self.inside) or _name(self.inside)
            return f"a list of {_at_least(self.least, what) if self.least else f'{what}s'}"
        return _WORDS.get(self.origin) or f"a {_name(self.origin)}"

    @property
    def _choices(self) -> tuple[Any, ...]:
        return get_args(self.type)

    @property
    def _limits(self) -> list[tuple[str, Any, Any]]:
        known = [(*_LIMITS[type(one)], one) for one in self.beside if type(one) in _LIMITS]
        return [(word, compare, getattr(one, compare.__name__)) for word, compare, one in known]

    def _is_within(self, value: Any) -> bool:
        return all(compare(value, bound) for _, compare, bound in self._limits)


def options(type: Any) -> tuple[Option, ...]:
    """The types that a declared type allows."""
    if get_origin(type) is Annotated:
        inner, *beside = get_args(type)
        return tuple(Option(one.type, (*one.beside, *beside)) for one in options(inner))
    if get_origin(type) in (Union, UnionType):
        return tuple(option for one in get_args(type) for option in options(one))
    return (Option(type),)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method, as its class declares it.

    >>> k = Parameter("k", Annotated[int, Ge(2)] | None)
    >>> k.takes
    'an integer of at least 2'
    >>> k.check(None)
    >>> k.check(1)
    Traceback (most recent call last):
    taxomask.errors.PlanError: k must be an integer of at least 2; got 1.
    """

    name: str
    type: Any
    default: Any = _NONE
    about: str = ""

    @property
    def required(self) -> bool:
        return self.default is _NONE

    @property
    def optional(self) -> bool:
        """Whether it may be None, which is not said in words."""
        return any(one.type is NoneType for one in options(self.type))

    @property
    def options(self) -> tuple[Option, ...]:
        """What it may be besides None."""
        return tuple(one for one in options(self.type) if one.type is not NoneType)

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        return ", or ".join(map(str, self.options))

    @property
    def slider(self) -> Slider | None:
        return next((one for option in self.options for one in option.beside if isinstance(one, Slider)), None)

    def check(self, value: object) -> None:
        """Refuse a value that it does not take."""
        if value is None and self.optional:
            return
        found = next((one for one in self.options if one.allows(value)), None)
        if found is None:
            raise PlanError(f"{self.name} must be {self.takes}; got {value!r}.", hint=self._hint(value))
        if found.is_mapping:
            assert isinstance(value, Mapping)
            for key, one in value.items():
                Parameter(f"{self.name}: {key}", found.inside).check(one)

    def _hint(self, value: object) -> str:
        told = [one for option in self.options for one in option.beside if isinstance(one, str)]
        choices = [str(one) for option in self.options if option.origin is Literal for one in get_args(option.type)]
        return " ".join(dict.fromkeys(told)) or (did_you_mean(value, choices) if isinstance(value, str) else "")


@cache
def declared(kind: type) -> tuple[Parameter, ...]:
    """The parameters of a dataclass: its fields, with what the docstring says about them."""
    try:
        types = typing.get_type_hints(kind, include_extras=True)
    except NameError:  # a method from elsewhere may name types that only type checkers see
        types = {}
    words = _words(inspect.getdoc(kind) or "")
    found = []
    for one in fields(kind):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        default = _NONE if default is MISSING else default
        found.append(Parameter(one.name, types.get(one.name, Any), default, words.get(one.name, "")))
    return tuple(found)


# --------------------------------------------------------------------------------------- of functions


def check_integer(name: str, value: Any, *, at_least: int, hint: str = "") -> int:
    """An integer that is large enough.

    >>> check_integer("k", 1, at_least=2)
    Traceback (most recent call last):
    taxomask.errors.PlanError: k must be an integer of at least 2; got 1.
    """
    return int(_checked(name, value, Option(int, (Ge(at_least),)), hint))


def check_number(name: str, value: Any, *, above: float, at_most: float = float("inf"), hint: str = "") -> float:
    """A number in (above, at_most]."""
    limits = (Gt(above), Le(at_most)) if at_most < float("inf") else (Gt(above),)
    return float(_checked(name, value, Option(float, limits), hint))


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """One of a few words.

    >>> check_choice("scale", "ballanced", ["balanced", "paper"])
    Traceback (most recent call last):
    taxomask.errors.PlanError: scale must be 'balanced' or 'paper'; got 'ballanced'.
    Did you mean 'balanced'?
    """
    choices = list(choices)
    if value not in choices:
        listed = _either(map(repr, choices))
        raise PlanError(f"{name} must be {listed}; got {value!r}.", hint=did_you_mean(str(value), choices))
    return str(value)


def _checked(name: str, value: Any, option: Option, hint: str) -> Any:
    if not option.allows(value):
        raise PlanError(f"{name} must be {option}; got {value!r}.", hint=hint)
    return value


# --------------------------------------------------------------------------------------- words


def _allows(value: object, type: Any) -> bool:
    return any(one.allows(value) for one in options(type))


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _name(type: Any) -> str:
    return str(getattr(type, "__name__", "value")).lower()


def _at_least(number: int, what: str) -> str:
    return f"at least one {what}" if number == 1 else f"at least {number} {what}s"


def _words(text: str) -> dict[str, str]:
    """What a docstring says about each parameter.

    >>> _words("Idea.\\n\\nParameters\\n----------\\nk, p\\n    The ``width``.\\n\\nReferences\\n----------\\nNone.")
    {'k': 'The width.', 'p': 'The width.'}
    """
    found = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\w[\w, ]*)\n((?:^(?:    .*|)\n?)+)", found[1] if found else "", re.MULTILINE)
    return {
        name.strip(): re.sub(r"\s+", " ", words).replace("`", "").replace('"', "").strip()
        for names, words in entries
        for name in names.split(",")
    }
