"""Distances in whole numbers, whose sums do not depend on the order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["whole_bits", "whole_distances"]

_AT_ONCE = 2**16  # distances that are looked at together, in the processor's own memory


def whole_bits(records: int) -> int:
    """How many bits of the largest distance are kept, so that the sum of so many records does not overflow."""
    return min(42, 62 - records.bit_length())


def whole_distances(table: NDArray[np.float64], records: int = 2**20 - 1) -> tuple[NDArray[np.int64], int]:
    """Distances in whole units, and by how many units for each record two sums may differ though they are equal.

    Sums of whole numbers do not depend on the order. The unit is 2^-42 of the largest distance, rounded up to a power
    of two. Distances that are multiples of it, such as those of ``edge_weight``, are exact, and so are their sums.
    Others are rounded by half a unit (and a little, as they are not exact in the table), hence sums that are equal by
    definition differ by less than two units for each record. So marginalities are equal if they differ by no more than
    1e-12·n times the largest distance. For groups of a million ``records`` or more the unit is coarser, so that no sum
    overflows.
    """
    shift = whole_bits(records) - int(np.frexp(table.max(initial=0.0))[1])
    whole, exact = np.empty(table.shape, dtype=np.int64), True
    for first in range(0, len(table), rows := max(_AT_ONCE // max(len(table), 1), 1)):
        scaled = table[first : first + rows]
        scaled = scaled * 2.0**shift if abs(shift) < 1000 else np.ldexp(scaled, shift)  # the same, but slow
        rounded = np.rint(scaled)
        whole[first : first + rows] = rounded
        # what a division by the scale may have left
        exact = exact and bool((np.abs(scaled - rounded) <= 2.0**-8).all())
    return whole, 0 if exact else 2
