"""How likely a released cell is, given the original one: what an intruder knows who knows the method.

The likelihood of a release is a product over independent parts, each a piece of evidence. Constants that are the same
for all original records do not matter and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column
from ..microdata.alike import places_of_both
from ._transition import Transition

__all__ = [
    "CodeEvidence",
    "Evidence",
    "Likelihood",
    "NumberEvidence",
    "by_transition",
    "grid",
    "same_presence",
    "unchanged",
]

Float = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NumberEvidence:
    """Normal: log p = offset - ½·(released - original)²·(precision of the released)·(precision of the original).

    One value per record each. What is missing is 0 in both: that they must be missing together is `same_presence`.
    """

    released: Float
    original: Float
    released_precision: Float
    original_precision: Float
    offset: Float | None = None


@dataclass(frozen=True, eq=False)
class CodeEvidence:
    """log p = log[released, original], -inf where it cannot be; without a table, they must be equal."""

    released: Codes
    original: Codes
    log: Float | None = None


Evidence: TypeAlias = NumberEvidence | CodeEvidence
Likelihood: TypeAlias = tuple[Evidence, ...]
"""The parts of a likelihood, which are independent of each other: their logarithms add up."""


def same_presence(original: Column, released: Column) -> CodeEvidence:
    """Missing cells stay missing, and no others become so."""
    return CodeEvidence(released.missing.astype(np.int32), original.missing.astype(np.int32))


def by_transition(transition: Transition, original: Column, released: Column) -> CodeEvidence:
    """By the table of a method, of the values that occur. Where missing is no value of it, missing stays missing."""
    both = [transition.numbers(column) for column in (released, original)]
    if None not in transition.values:  # -1 is a value that cannot be there
        both = [np.where(column.missing, -2, one) for column, one in zip((released, original), both, strict=True)]
    (there, which), (here, whose) = (np.unique(one, return_inverse=True) for one in both)
    chance = np.array(transition.likelihood(here[None, :], there[:, None]))
    chance[np.ix_(there == -2, here == -2)] = 1.0
    with np.errstate(divide="ignore"):
        return CodeEvidence(which.astype(np.int32), whose.astype(np.int32), np.log(chance))


def unchanged(original: Column, released: Column) -> CodeEvidence:
    """The cell is released as it is. Both have one numbering of the categories."""
    if isinstance(original, CategoricalColumn) and isinstance(released, CategoricalColumn):
        return CodeEvidence(released.codes.astype(np.int32), original.codes.astype(np.int32))
    found, known = places_of_both(released, original)
    return CodeEvidence(found.astype(np.int32), known.astype(np.int32))


def grid(values: Float) -> float:
    """The unit of which all numbers are multiples, a power of ten from 1 to 1e-8; 0 if there is none.

    >>> grid(np.array([1.25, 3.5, np.nan])), grid(np.array([3.0, 40.0])), grid(np.array([1 / 3]))
    (0.01, 1.0, 0.0)
    """
    present = values[~np.isnan(values)]
    for decimals in range(9):
        if np.array_equal(np.round(present, decimals), present):
            return float(10.0**-decimals)
    return 0.0
