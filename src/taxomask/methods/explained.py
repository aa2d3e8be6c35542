"""The parameters of a method in words that stand by themselves."""

from __future__ import annotations

import re
from dataclasses import replace

from .._support.parameters import Parameter, declared
from . import METHODS
from .base import Method

__all__ = ["explained"]

_ELSEWHERE = re.compile(r"[Aa]s in (\w+)\.$")  # how a docstring names the method that says more


def explained(kind: type[Method]) -> tuple[Parameter, ...]:
    """What `declared` tells, with what a docstring leaves to that of another method.

    >>> from taxomask import GroupPermutation
    >>> next(one.about for one in explained(GroupPermutation) if one.name == "ordinal")
    'The average of ordered categories: median or convex_median.'
    """
    return tuple(replace(one, about=_about(one)) for one in declared(kind))


def _about(one: Parameter) -> str:
    other = _ELSEWHERE.search(one.about)
    named = next((method for method in METHODS.values() if other and method.__name__ == other[1]), None)
    if named is None:
        return one.about
    return next((there.about for there in declared(named) if there.name == one.name), one.about)
