"""What the index leaves out is out of reach: its bounds, against distances from the scan, to the last bit.

The bounds are those that searches use: boxes and sums of 32 bits (``_bound_kernels.py``), a first look at leaves
(``_short_kernels.py``) and the list of outermost points (``_mdav_kernels.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from taxomask._support.compiling import kernel
from taxomask.partition import mdav
from taxomask.partition._bound_kernels import (
    lower_bounds,
    most_of_codes,
    needed,
    set_all_ranges,
    set_sides,
    upper_bounds,
)
from taxomask.partition._mdav_kernels import _move, _reach, spread
from taxomask.partition._short_kernels import blurring, norm_of, not_farther, not_nearer, short_numbers
from taxomask.partition._tree_kernels import LEAF, first_child, parent
from taxomask.partition._vectors import at_least, at_most
from taxomask.partition.nearest import Neighbours
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm

# ------------------------------------------------------------------------------------------ the searches' own questions


@kernel(_nrt=False, no_cpython_wrapper=False)
def missed(space, gaps, tree, query, distance, wrong):  # type: ignore[no-untyped-def]
    """Ask for each point whether a search for its very distance would pass it by; counts for near, far and first looks.

    A search comes to a point through every box that it is in, and takes a first look at its leaf.
    """
    shape, out = tree[0], query[2]
    set_sides(tree, query)
    norm = norm_of(gaps, tree, query)
    blur = blurring(tree, norm)
    complete = True
    for a in range(len(gaps)):
        complete &= not gaps[a]
    for leaf in range(shape[0]):
        for i in range(tree[7][leaf]):
            d, node = distance[tree[8][leaf, i]], leaf + shape[1]
            while node > 0:
                g = parent(shape, node)
                j = node - first_child(shape, g)
                set_all_ranges(space, query, False)
                some = lower_bounds(space, gaps, tree, query, g, d)
                wrong[0] += (some >> j) & 1 == 0 or not (out[j] <= d)
                set_all_ranges(space, query, True)
                query[9][0] = most_of_codes(space, query)
                some = upper_bounds(space, gaps, tree, query, norm, g, d)
                wrong[1] += (some >> j) & 1 == 0 or not (out[j] >= d)
                node = g
            if len(tree[11]) > 0:
                short, place = short_numbers(gaps, tree, query, leaf, i // 8), i % 8
                reach = not_farther(tree, d, blur)
                wrong[2] += reach < np.inf and (at_most(short, reach) >> place) & 1 == 0
                reach = not_nearer(tree, needed(query, d), blur)
                wrong[3] += complete and reach > 0.0 and (at_least(short, reach) >> place) & 1 == 0


@kernel(_nrt=False, no_cpython_wrapper=False)
def moved_too_far(space, query, shell, before, after):  # type: ignore[no-untyped-def]
    """How many points are farther from the query than the list says that they can be, now that the average moved."""
    drift, extra = _move(space, query, shell)
    count = 0
    for t in range(len(before)):
        count += not (after[t] <= _reach(before[t], drift, extra))
    return count


# --------------------------------------------------------------------------------------------------------- the records

FINITE = {"allow_nan": False, "allow_infinity": False}
SIZES = (1.0, 1 / 3, 2**-0.5, 1e-45, 1e-38, 1e-23, 1e-160, 1e-162, 5e-324, 1e7, 1.9e19, 1e25, 3.4028235e38, 1e150)


@st.composite
def numbers(draw: st.DrawFn, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Numbers with many ties: of one size, of all sizes, or next to each other far away."""
    kind = draw(st.sampled_from(["grid", "near", "any", "far", "real"]))
    size = draw(st.sampled_from(SIZES))
    if kind == "real":
        return rng.normal(size=n) * size
    if kind == "grid":
        pool = np.arange(6.0) * size
    elif kind == "near":
        pool = np.array(draw(st.lists(st.floats(-4.0, 4.0, **FINITE), min_size=1, max_size=6))) * size
    elif kind == "far":
        pool = [size]
        for _ in range(4):
            pool.append(np.nextafter(pool[-1], np.inf))
        pool = np.array([0.0, *pool])
    else:
        pool = np.array(draw(st.lists(st.floats(-1e150, 1e150, **FINITE), min_size=1, max_size=6)))
    return pool[rng.integers(0, len(pool), n)]


@st.composite
def spaces(draw: st.DrawFn, most: int = 60) -> tuple[RecordDistance, RecordDistance]:
    """Records of up to eight numbers and two codes, some of them missing, and a few more in the same distance."""
    n, others = draw(st.integers(2, most)), 4
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(st.sampled_from("nnnntf"), min_size=1, max_size=3))
    kinds += ["n"] * draw(st.sampled_from([0, 0, 6]))
    terms: list[Any] = []
    for place, kind in enumerate(kinds):
        gone = rng.random(n + others) < draw(st.sampled_from([0.0, 0.0, 0.0, 0.2, 1.0]))
        if kind == "n":
            values = draw(numbers(n + others, rng))
            if draw(st.booleans()):  # between the records, as averages are
                values[n:] = values[n:] / 2 + values[rng.integers(0, n, others)] / 2
            terms.append(NumberTerm(f"n{place}", np.where(gone, np.nan, values), 0.0, 1.0))
            continue
        size = draw(st.sampled_from([1.0, 1 / 3, 1e-30, 1e30]))
        codes = np.where(gone, 7, rng.integers(0, 7, n + others)).astype(np.int32)
        if kind == "t":
            table = rng.integers(0, 5, (8, 8)) * size
            table = np.minimum(table, table.T)
            np.fill_diagonal(table, 0.0)
            terms.append(TableTerm(f"t{place}", codes, table))
        else:
            terms.append(EqualityTerm(f"f{place}", codes, size, 7))
    space = RecordDistance.from_terms(terms)
    return space.take(np.arange(n)), space.take(np.arange(n, n + others))


# ----------------------------------------------------------------------------------------------------------- the tests


@given(spaces())
@settings(max_examples=150)
def test_no_search_passes_by_a_point_that_is_as_near_or_as_far_as_asked(
    both: tuple[RecordDistance, RecordDistance],
) -> None:
    space, others = both
    neighbours = Neighbours(space)
    tree, query, first = neighbours._tree, neighbours._room, neighbours.distinct.first
    before = None
    for queries in (others, space.take(np.arange(min(space.n, 4)))):
        for values, codes in zip(*queries.coordinates, strict=True):
            query[0][:], query[1][:] = values, codes
            gaps = neighbours._gaps | np.isnan(values)
            distance = space.squared_from(values, codes)[first]
            wrong = np.zeros(4, dtype=np.int64)
            missed(space.arrays, gaps, tree, query, distance, wrong)
            assert wrong.tolist() == [0, 0, 0, 0]  # near, far, at a first look near, and far
            found = np.empty((len(tree[7]), LEAF))
            spread(space.arrays, gaps, tree, query, found)
            used = found >= 0
            np.testing.assert_array_equal(found[used], distance[tree[8][used]])
            if before is not None:
                nothing = np.zeros(0)
                shell = (nothing, nothing, nothing, nothing, before[0], before[1], nothing, nothing)
                assert moved_too_far(space.arrays, query, shell, before[2], distance) == 0
            before = values.copy(), codes.copy(), distance


@given(spaces())
@settings(max_examples=100)
def test_searches_find_what_a_scan_finds(both: tuple[RecordDistance, RecordDistance]) -> None:
    space, others = both
    found = Neighbours(space).nearest(others)
    distances = np.array([space.squared_from(*one) for one in zip(*others.coordinates, strict=True)])
    np.testing.assert_array_equal(found.squared, distances.min(axis=1))
    np.testing.assert_array_equal(found.ties, (distances <= found.reach[:, None]).sum(axis=1))
    assert (found.reach >= found.squared).all()
    np.testing.assert_array_equal(mdav(space, 2, path="index"), mdav(space, 2, path="scan"))
