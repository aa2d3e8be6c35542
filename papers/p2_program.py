"""P2: MDAV in place, as μ-Argus carries it out, which decides around which record the very last group grows.

The paper's text grows it around x_r. The MDAV that it names as its predecessor is part of μ-Argus (public today: Argus
Open Source, libnumericalmu, ``MicroAggregation.cpp``), which takes x_r or x_s, whichever stands first in its array.
That rule is written anew here, to see whether it gives the printed rows by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
End = Literal["r", "s"]


@dataclass(frozen=True)
class Grouping:
    """The group of each record, around which end the last group of k grew, and where the ends stood in the array."""

    groups: NDArray[np.int64]
    end: End
    places: tuple[int, int]
    records: tuple[int, int]


def in_place(points: Float, k: int, end: End | None = None) -> Grouping:
    """MDAV in a working array: records of finished groups stand in front, those that are left behind them.

    x_r is the record farthest from the average of those left and x_s the one farthest from x_r. Whichever of the two
    stands first in the array is placed first, its group is grown first, and in the last step it is the only one that a
    group is grown around. A record is placed by exchanging it with the one that stands there: the first of the two
    goes to the front of those left, the second k places behind it, and the nearest records one by one behind their
    own. ``end`` overrules the order in the last step.

    Four numbers, k = 2: 9 is x_r and 1 is x_s, which stands first, so that its group is grown and 3 joins it.

    >>> in_place(np.array([[1.0], [3.0], [4.0], [9.0]]), 2)
    Grouping(groups=array([0, 0, 1, 1]), end='s', places=(3, 0), records=(3, 0))
    >>> in_place(np.array([[1.0], [3.0], [7.0], [9.0], [4.0]]), 2, end="r").groups
    array([1, 1, 0, 0, 1])
    """
    n = len(points)
    array = np.arange(n)
    groups = np.empty(n, dtype=np.int64)

    def exchange(one: int, other: int) -> None:
        array[[one, other]] = array[[other, one]]

    def grow(front: int, apart: int | None, group: int) -> None:
        for place in range(front + 1, front + k):
            left = array[place:]
            far = np.where(left == apart, np.inf, _squares(points[left], points[array[front]]))
            exchange(place, place + int(far.argmin()))
        groups[array[front : front + k]] = group

    front = 0
    while True:
        left = array[front:]
        r = front + int(_squares(points[left], points[left].mean(axis=0)).argmax())
        s = front + int(_squares(points[left], points[array[r]]).argmax())
        places, records = (r, s), (int(array[r]), int(array[s]))
        first, second = min(places), max(places)
        if len(left) < 3 * k:
            break
        exchange(front, first)
        exchange(front + k, second)
        grow(front, int(array[front + k]), front // k)
        grow(front + k, None, front // k + 1)
        front += 2 * k
    chosen: End = end or ("r" if r < s else "s")
    if len(left) >= 2 * k:
        exchange(front, r if chosen == "r" else s)
        grow(front, None, front // k)
        front += k
    groups[array[front:]] = front // k
    return Grouping(groups, chosen, places, records)


def _squares(points: Float, centre: Float) -> Float:
    squares: Float = np.square(points - centre).sum(axis=1)
    return squares
