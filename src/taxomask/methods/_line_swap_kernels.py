# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Swaps of numbers between dynamic intervals at opposite ends (Algorithm 2), by the distance |x - y|.

Places are ordered by value. ``values`` are the different numbers, those of number c have the places from start[c] to
start[c + 1] - 1. What is near a number is a run of places on either side of it. Numbers at equal distances are tied,
also different ones on the same side, where |x - y| is rounded.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ._swap_kernels import FREE, category_at, draw, free_before, free_between, nth_free, take, to_choose_from


@makes_no_array()
def _value_at(free, values, start, codes, whole, i):
    """The value of the i-th place: of all of them, or of the free ones."""
    return values[category_at(start, codes[0], codes[1], nth_free(free, i) if whole else i)]


@makes_no_array()
def _radius(free, values, start, codes, whole, x, before, n, count):
    """The distance of the ``count`` closest of n places to the number x, which has ``before`` of them on its left."""
    low, high = max(np.int64(0), count - (n - before)), min(count, before)
    while low < high:  # how many of them are on the left
        middle = (low + high) // 2
        on_left = x - _value_at(free, values, start, codes, whole, before - 1 - middle)
        on_right = _value_at(free, values, start, codes, whole, before + count - middle - 1) - x
        if on_left < on_right:
            low = middle + 1
        else:
            high = middle
    radius = 0.0
    if low > 0:
        radius = x - _value_at(free, values, start, codes, whole, before - low)
    if count > low:
        radius = max(radius, _value_at(free, values, start, codes, whole, before + count - low - 1) - x)
    return radius


@makes_no_array()
def _first_within(values, x, radius, strictly):
    """The first number less than (or at most) a radius below x."""
    low, high = np.int64(0), np.int64(len(values))
    while low < high:
        middle = (low + high) // 2
        gap = x - values[middle]
        if gap < radius or (gap == radius and not strictly):
            high = middle
        else:
            low = middle + 1
    return low


@makes_no_array()
def _stop_within(values, x, radius, strictly):
    """The first number that is not less than (or at most) a radius above x."""
    low, high = np.int64(0), np.int64(len(values))
    while low < high:
        middle = (low + high) // 2
        gap = values[middle] - x
        if gap < radius or (gap == radius and not strictly):
            low = middle + 1
        else:
            high = middle
    return low


@makes_no_array()
def _closest(free, values, start, codes, place, k, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from."""
    c = category_at(start, codes[0], codes[1], place)
    x = values[c]
    radius = _radius(free, values, start, codes, False, x, start[c], start[-1], k + 1)
    left, right = start[_first_within(values, x, radius, False)], start[_stop_within(values, x, radius, False)]
    if radius == 0.0:  # enough equal numbers: they are the border, the reference left out
        first, stop, total, taken = right, right, right - left - 1, k
    else:
        first, stop = start[_first_within(values, x, radius, True)], start[_stop_within(values, x, radius, True)]
        total, taken = (right - left) - (stop - first), k - (stop - first - 1)
    inside, on_left, on_right = (
        free_between(free, first, stop), free_between(free, left, first), free_between(free, stop, right)
    )  # fmt: skip
    choice, is_inside = to_choose_from(inside, total, on_left + on_right, taken, state)
    if choice == 0:
        return np.int64(-1), choice
    if is_inside:
        return nth_free(free, free_before(free, first) + draw(state, inside)), choice
    j = draw(state, on_left + on_right)
    return nth_free(free, free_before(free, left) + (j if j < on_left else j + inside)), choice


@makes_no_array()
def _closest_free(free, values, start, codes, place, k, left, state):
    """A random one of the free places in the closest whole tie classes that hold at least k of them."""
    if left <= k:
        return (nth_free(free, draw(state, left)) if left else np.int64(-1)), left
    c = category_at(start, codes[0], codes[1], place)
    x = values[c]
    radius = _radius(free, values, start, codes, True, x, free_before(free, start[c]), left, k)
    before = free_before(free, start[_first_within(values, x, radius, False)])
    choice = free_before(free, start[_stop_within(values, x, radius, False)]) - before
    return nth_free(free, before + draw(state, choice)), choice


@makes_no_array()
def _farthest(free, values, start, codes, x, left, state):
    """A random one of the free places farthest from the number x."""
    lowest = _value_at(free, values, start, codes, True, np.int64(0))
    highest = _value_at(free, values, start, codes, True, left - 1)
    away = max(x - lowest, highest - x)
    at_bottom = free_before(free, start[_first_within(values, x, away, True)]) if x - lowest == away else np.int64(0)
    at_top = (
        left - free_before(free, start[_stop_within(values, x, away, True)]) if highest - x == away else np.int64(0)
    )
    j = draw(state, at_bottom + at_top)
    return nth_free(free, j if j < at_bottom else left - 1 - (j - at_bottom))


@makes_no_array(f"i8(i8[::1], i8, b1, f8[::1], i8[::1], Tuple((i4[::1], i8)), {FREE}, u8[::1], i8[:, ::1], i8[::1])")
def swap_numbers_at_ends(at, k, whole, values, start, codes, free, state, pairs, candidates):
    """Algorithm 2 from at[0] on, with at[1] places left, as long as there is room for pairs; the number of steps.

    ``codes`` has the number of one in some places, and how many bits that leaves out: see `category_at`.
    """
    place, left, steps = at[0], at[1], np.int64(0)
    while left > 0 and steps < len(pairs):
        take(free, place)
        left -= 1
        if whole:
            partner, choice = _closest_free(free, values, start, codes, place, k, left, state)
        else:
            partner, choice = _closest(free, values, start, codes, place, k, state)
        pairs[steps, 0] = pairs[steps, 1] = place
        candidates[steps] = choice
        if partner >= 0:
            take(free, partner)
            left -= 1
            pairs[steps, 1] = partner
        steps += 1
        if left > 0:
            x = values[category_at(start, codes[0], codes[1], place)]
            place = _farthest(free, values, start, codes, x, left, state)
    at[0], at[1] = place, left
    return steps
