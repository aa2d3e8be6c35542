# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Compiled parts that all swapping shares: random draws, the set of values not yet swapped, swaps along a ranking.

Values are known by their place in an order that their method chose. free = (bits, sums): one bit per place, in words of
64, and a Fenwick tree over the words: how many places up to here are free, and which is the j-th free one, take a few
steps each. state[0] is that of the random numbers (splitmix64).

An interval of the k closest records cuts a class of tied ones. Which of them it takes is drawn afresh for every
interval, but never listed: how many of those taken are free has a hypergeometric distribution, and which of the free
ones become a partner is a uniform draw.
"""

from __future__ import annotations

from math import floor, log, sqrt

import numpy as np

from .._support.compiling import kernel, makes_no_array

FREE = "Tuple((u8[::1], i4[::1]))"

_TRIES = 8
_ONE_BY_ONE = 12
_WIDTH, _MORE_WIDTH = 1.7155277699214135, 0.8989161620588988  # 2·√(2/e) and 3 - 2·√(3/e)
_HALF_LOG_TWO_PI = 0.9189385332046727
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(63)
_M1, _M2, _M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@makes_no_array()
def category_at(start, categories, grain, place):
    """The category of a place; ``categories`` has that of one in 2**grain places."""
    x = np.int64(categories[place >> grain])
    while start[x + 1] <= place:
        x += 1
    return x


@makes_no_array()
def uniform(state):
    """A random number from 0 to 1, 1 excluded."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    z = z ^ (z >> _S31)
    return np.float64(np.int64(z >> _S11)) * (1.0 / 9007199254740992.0)


@makes_no_array()
def draw(state, below):
    """A random integer from 0 to below - 1."""
    return np.int64(uniform(state) * below)


@makes_no_array()
def _log_factorial(n):
    """The logarithm of n!, by Stirling's series; of a small n as that of a larger one."""
    product, x = 1.0, n + 1.0
    while x < 12.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
    return (x - 0.5) * log(x) - x + _HALF_LOG_TWO_PI + series - (log(product) if product > 1.0 else 0.0)


@makes_no_array()
def _log_ways(x, less, more, taken):
    """The logarithm of what the chance of x depends on, see `how_many`."""
    return -(
        _log_factorial(x) + _log_factorial(less - x) + _log_factorial(taken - x) + _log_factorial(more - taken + x)
    )


@makes_no_array()
def how_many(total, marked, taken, state):
    """How many of the marked ones are among those taken at random of all: a hypergeometric draw.

    Few are drawn one by one; otherwise by the ratio of uniforms, in a few tries whatever the numbers are (Stadlober
    1990, doi 10.1016/0377-0427(90)90349-5).
    """
    less, more, fewest = min(marked, total - marked), max(marked, total - marked), min(taken, total - taken)
    if less == 0 or fewest == 0:
        x = np.int64(0)
    elif min(less, fewest) <= _ONE_BY_ONE:
        x, tickets, winners = np.int64(0), min(less, fewest), max(less, fewest)
        for i in range(tickets):
            x += draw(state, total - i) < winners - x
    else:
        mean = fewest * (less / total)
        spread = sqrt((total - fewest) * mean * (more / total) / (total - 1) + 0.5)
        width, middle = _WIDTH * spread + _MORE_WIDTH, mean + 0.5
        end = min(min(fewest, less) + 1.0, floor(middle + 16.0 * spread))
        top = _log_ways(np.int64((fewest + 1.0) * (less + 1.0) / (total + 2.0)), less, more, fewest)
        while True:
            u = 1.0 - uniform(state)
            at = middle + width * (uniform(state) - 0.5) / u
            if at < 0.0 or at >= end:
                continue
            x = np.int64(at)
            if 2.0 * log(u) <= _log_ways(x, less, more, fewest) - top:
                break
    if marked > less:  # counted were the others
        x = fewest - x
    return x if taken == fewest else marked - x


@makes_no_array()
def to_choose_from(inside, total, tied, taken, state):
    """How many free values an interval has, and whether one inside it is drawn; else one at its border, if any.

    The interval takes some of all that are tied at its border, which of them is drawn afresh.
    """
    choice = inside + how_many(total, tied, taken, state)
    return choice, choice > 0 and draw(state, choice) < inside


@makes_no_array()
def ones(word):
    """How many bits of a word are set."""
    word = word - ((word >> _S1) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    return np.int64((word * _H01) >> _S56)


@makes_no_array()
def is_free(free, place):
    """Whether the value at a place is not yet swapped."""
    return (free[0][place >> 6] >> (np.uint64(place) & _LOW)) & _ONE == _ONE


@makes_no_array()
def take(free, place):
    """Mark the value at a place as swapped."""
    bits, sums = free
    bits[place >> 6] &= ~(_ONE << (np.uint64(place) & _LOW))
    i = (place >> 6) + 1
    while i < len(sums):
        sums[i] -= 1
        i += i & -i


@makes_no_array()
def free_before(free, place):
    """How many places before this one are free."""
    bits, sums = free
    i = place >> 6
    total = np.int64(0)
    if place & 63:
        total += ones(bits[i] & ((_ONE << (np.uint64(place) & _LOW)) - _ONE))
    while i > 0:
        total += sums[i]
        i -= i & -i
    return total


@makes_no_array()
def free_between(free, first, stop):
    """How many places from first to stop - 1 are free."""
    bits = free[0]
    if first >= stop:
        return np.int64(0)
    i, last = first >> 6, (stop - 1) >> 6
    if last - i > 32:
        return free_before(free, stop) - free_before(free, first)
    total = np.int64(0)
    mask = _ALL << (np.uint64(first) & _LOW)
    for at in range(i, last + 1):
        word = bits[at] & mask
        if at == last:
            word &= _ALL >> (_LOW - (np.uint64(stop - 1) & _LOW))
        total += ones(word)
        mask = _ALL
    return total


@makes_no_array()
def nth_free(free, j):
    """The j-th free place, counted from 0; there must be one."""
    bits, sums = free
    i, step = np.int64(0), np.int64(1)
    while 2 * step < len(sums):
        step *= 2
    while step > 0:
        if i + step < len(sums) and sums[i + step] <= j:
            i += step
            j -= sums[i]
        step >>= 1
    word = bits[i]
    place = i << 6
    shift = np.int64(32)
    while shift > 0:  # halve the word until the bit is found
        low = word & (_ALL >> np.uint64(64 - shift))
        count = ones(low)
        if count <= j:
            j -= count
            word >>= np.uint64(shift)
            place += shift
        else:
            word = low
        shift >>= 1
    return place


@makes_no_array()
def any_free(free, first, stop, count, state):
    """A random one of the ``count`` free places from first to stop - 1: by trying some, or else by counting."""
    for _ in range(_TRIES):
        place = first + draw(state, stop - first)
        if is_free(free, place):
            return place
    return nth_free(free, free_before(free, first) + draw(state, count))


@makes_no_array(f"void({FREE})")
def count_free(free):
    """Make the Fenwick tree of the bits."""
    bits, sums = free
    sums[:] = 0
    for i in range(1, len(sums)):
        sums[i] += ones(bits[i - 1])
        above = i + (i & -i)
        if above < len(sums):
            sums[above] += sums[i]


@kernel("void(i4[::1], i8[::1], i8[::1], i8[::1])")
def arrange(codes, sequence, start, order):
    """Put records that stand in some sequence in order by their code, those of a code in this sequence."""
    following = start.copy()
    for record in sequence:
        order[following[codes[record]]] = record
        following[codes[record]] += 1


@makes_no_array(f"i8(i8, i8, i8, i8, i8[::1], b1, {FREE}, u8[::1], i8[:, ::1], i8[::1])")
def swap_along(n, upto, left, k, tied_until, whole, free, state, pairs, candidates):
    """Swap each value with a random unswapped one among the next k of the ranking; returns the number of steps.

    If ``whole``: among the next k unswapped ones and all that are tied with the last of them; the ties of a place end
    before ``tied_until``. Of the n places that are looked at the first ``upto`` get a partner here; ``left`` are free,
    those beyond the n included.
    """
    steps = np.int64(0)
    for i in range(upto):
        if not is_free(free, i):
            continue
        take(free, i)
        left -= 1
        stop = min(i + k + 1, n)
        if whole and left > 0:
            stop = tied_until[nth_free(free, min(k, left) - 1)]
        choice = free_before(free, stop)  # nothing before i is free
        pairs[steps, 0] = pairs[steps, 1] = i
        candidates[steps] = choice
        if choice > 0:
            partner = nth_free(free, draw(state, choice))
            take(free, partner)
            left -= 1
            pairs[steps, 1] = partner
        steps += 1
    return steps
