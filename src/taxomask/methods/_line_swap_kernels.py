# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Swaps of numbers between dynamic intervals at opposite ends (Algorithm 2), by the distance |x - y|.

Places are ordered by value, then by one random permutation of the records, ``draws``: that of each place. ``values``
are the different numbers, those of number c have the places from start[c] to start[c + 1] - 1. What is near a number
is a run of places on either side of it.
"""

from __future__ import annotations

import numpy as np

from .._jit import lean
from ._swap_kernels import FREE, draw, free_before, free_between, nth_free, take


@lean()
def _value_at(free, values, categories, whole, i):
    """The value of the i-th place: of all of them, or of the free ones."""
    return values[categories[nth_free(free, i) if whole else i]]


@lean()
def _radius(free, values, categories, whole, x, before, n, count):
    """The distance of the ``count`` closest of n places to the number x, which has ``before`` of them on its left."""
    low, high = max(np.int64(0), count - (n - before)), min(count, before)
    while low < high:  # how many of them are on the left
        middle = (low + high) // 2
        on_left = x - _value_at(free, values, categories, whole, before - 1 - middle)
        on_right = _value_at(free, values, categories, whole, before + count - middle - 1) - x
        if on_left < on_right:
            low = middle + 1
        else:
            high = middle
    radius = 0.0
    if low > 0:
        radius = x - _value_at(free, values, categories, whole, before - low)
    if count > low:
        radius = max(radius, _value_at(free, values, categories, whole, before + count - low - 1) - x)
    return radius


@lean()
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


@lean()
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


@lean()
def _share(draws, first, stop, other, other_stop, need):
    """How many of the ``need`` smallest draws of two runs of places are in the first run; the draws of each rise."""
    low, high = max(np.int64(0), need - (other_stop - other)), min(need, stop - first)
    while low < high:
        middle = (low + high) // 2
        if draws[first + middle] < draws[other + need - middle - 1]:
            low = middle + 1
        else:
            high = middle
    return low


@lean()
def _closest(free, values, start, categories, draws, place, k, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from."""
    c = categories[place]
    x = values[c]
    n = np.int64(len(draws))
    radius = _radius(free, values, categories, False, x, start[c], n, k + 1)
    if radius == 0.0:  # enough equal numbers: one more if the reference is one of the first
        end = k + 1 if place - start[c] < k else k
        first, stop, left_first, left_stop, right_first, right_stop = (
            start[c], start[c] + end, start[c], start[c], start[c], start[c]
        )  # fmt: skip
    else:
        low, high = _first_within(values, x, radius, True), _stop_within(values, x, radius, True)
        first, stop = start[low], start[high]
        left = low > 0 and x - values[low - 1] == radius
        right = high < len(values) and values[high] - x == radius
        left_first, left_stop = (start[low - 1], start[low]) if left else (first, first)
        right_first, right_stop = (start[high], start[high + 1]) if right else (stop, stop)
        need = k - (stop - first - 1)
        share = _share(draws, left_first, left_stop, right_first, right_stop, need)
        left_stop, right_stop = left_first + share, right_first + need - share
    inside = free_between(free, first, stop)
    on_left, on_right = free_between(free, left_first, left_stop), free_between(free, right_first, right_stop)
    choice = inside + on_left + on_right
    if choice == 0:
        return np.int64(-1), choice
    j = draw(state, choice)
    if j < inside:
        return nth_free(free, free_before(free, first) + j), choice
    j -= inside
    if j < on_left:
        return nth_free(free, free_before(free, left_first) + j), choice
    return nth_free(free, free_before(free, right_first) + j - on_left), choice


@lean()
def _closest_free(free, values, start, categories, place, k, left, state):
    """A random one of the free places in the closest whole tie classes that hold at least k of them."""
    if left <= k:
        return (nth_free(free, draw(state, left)) if left else np.int64(-1)), left
    c = categories[place]
    x = values[c]
    radius = _radius(free, values, categories, True, x, free_before(free, start[c]), left, k)
    before = free_before(free, start[_first_within(values, x, radius, False)])
    choice = free_before(free, start[_stop_within(values, x, radius, False)]) - before
    return nth_free(free, before + draw(state, choice)), choice


@lean()
def _farthest(free, values, start, categories, x, left, state):
    """A random one of the free places farthest from the number x."""
    lowest, highest = categories[nth_free(free, np.int64(0))], categories[nth_free(free, left - 1)]
    down, up = x - values[lowest], values[highest] - x
    at_bottom = free_before(free, start[lowest + 1]) if down >= up else np.int64(0)
    at_top = left - free_before(free, start[highest]) if up >= down and highest != lowest else np.int64(0)
    if at_bottom + at_top == 0:  # a single number is left
        at_bottom = left
    j = draw(state, at_bottom + at_top)
    return nth_free(free, j if j < at_bottom else left - 1 - (j - at_bottom))


@lean(f"i8(i8, i8, b1, f8[::1], i8[::1], i4[::1], i4[::1], {FREE}, u8[::1], i8[:, ::1], i8[::1])")
def swap_numbers_at_ends(place, k, whole, values, start, categories, draws, free, state, pairs, candidates):
    """Algorithm 2 from a first place on; returns the number of steps."""
    left, steps = np.int64(len(draws)), np.int64(0)
    while True:
        take(free, place)
        left -= 1
        if whole:
            partner, choice = _closest_free(free, values, start, categories, place, k, left, state)
        else:
            partner, choice = _closest(free, values, start, categories, draws, place, k, state)
        pairs[steps, 0] = pairs[steps, 1] = place
        candidates[steps] = choice
        if partner >= 0:
            take(free, partner)
            left -= 1
            pairs[steps, 1] = partner
        steps += 1
        if left == 0:
            return steps
        place = _farthest(free, values, start, categories, values[categories[place]], left, state)
