"""Twins: columns that are released as they are and tell what was protected or removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..microdata import ContinuousColumn, Kind, Microdata
from ..microdata.alike import alike
from .computed import LEAST, computed
from .dummies import together, written_apart
from .groups import LIKELY, grown, most_told
from .neighbours import alike_in_both, pairs_of_numbers, running_totals
from .seen import Seen, seen
from .telling import ENOUGH, Guess, View, cells_of, few, gain, guess, ranked, same_number
from .weighted import HALVED, weighted, within_groups
from .words import telling_words

__all__ = ["Finding", "Told", "counted", "pairs_to_try", "percent", "told_by"]

MOST_PAIRS = 200  # of columns
_TO_COMPUTE = (computed, weighted, within_groups, running_totals)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """Released columns that let a protected or removed one out, in words."""

    columns: tuple[str, ...]
    of: str
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Told:
    """What was found about one protected or removed column: findings, and the most that any other column tells."""

    findings: tuple[Finding, ...]
    most: float = 0.0
    by: str = ""


@dataclass(frozen=True, eq=False)
class _Target:
    """A protected or removed column: what is to be told, and what the release itself tells of it."""

    name: str
    views: tuple[View, ...]
    numbers: Floats | None
    released: Seen | None = None
    identity: tuple[NDArray[np.int32], ...] = ()
    changed: NDArray[np.bool_] | None = None


def told_by(
    data: Microdata, masked: Microdata, name: str, columns: Sequence[Seen], pairs: Sequence[tuple[int, int]]
) -> Told:
    """What each of some columns tells of a protected or removed one, and what pairs of them do, and columns that may be
    one column written apart, a group to which the best pair grows, and numbers that several of them are together.

    Pairs and the group are tried on a sample first, and if that is likely, on all records; columns that tell it by
    themselves are left out.
    """
    target = _target(data, masked, name)
    looked = [_alone(target, column) for column in columns]
    guilty = {place for place, (finding, _) in enumerate(looked) if finding is not None}
    named: list[tuple[tuple[str, ...], tuple[Finding | None, float]]] = [
        ((column.name,), found) for column, found in zip(columns, looked, strict=True)
    ]

    def look(group: tuple[int, ...], cells: NDArray[np.int32]) -> None:
        names = tuple(columns[place].name for place in group)
        named.append((names, _found(target, names, [cells])))

    some = few(len(columns[0].codes)) if columns else np.empty(0, np.int64)
    views = [View(view.codes[some], view.places) for view in target.views]
    alone = [0.0 if place in guilty else _by_itself(one.take(some), views) for place, one in enumerate(columns)]

    def beyond(group: Iterable[int], cells: NDArray[np.int32]) -> float:
        """What they tell of the sample; nothing, if it is what one of them tells that the release tells as well."""
        told, most = most_told(cells, views), max(alone[place] for place in group)
        return told if most < ENOUGH or 1 - told < HALVED * (1 - most) else 0.0

    open_ = [(a, b) for a, b in pairs if a not in guilty and b not in guilty]
    tried = [beyond((a, b), _joined(columns[a], columns[b], some)) for a, b in open_]
    for (a, b), told in zip(open_, tried, strict=True):
        if told >= LIKELY:
            look((a, b), _joined(columns[a], columns[b]))
            guilty.update((a, b) if named[-1][1][0] is not None else ())
    groups = [group for group in written_apart(columns) if not guilty.intersection(group)]
    if any(tried):
        best = open_[int(np.argmax(tried))]
        groups += [group for group in grown(columns, best, guilty, views, some) if group not in groups]
    for group in groups:
        cells = together([columns[place] for place in group])
        if beyond(group, cells[some]) > 0:
            look(group, cells)
    parts = [part for place, one in enumerate(columns) if place not in guilty for part in one.apart]
    named += _by_computing(target, [*columns, *parts], guilty)
    alone += [_by_itself(part.take(some), views) for part in parts]
    named += _by_neighbours(target, [*columns, *parts], guilty, alone, some)
    first = {finding.columns: finding for _, (finding, _) in reversed(named) if finding is not None}
    findings = tuple(reversed(first.values()))
    most, by = max(((told, names) for names, (finding, told) in named if finding is None), default=(0.0, ()))
    return Told(findings, most, listing_of(by))


def pairs_to_try(columns: Sequence[Seen], records: int | None = None) -> tuple[list[tuple[int, int]], int]:
    """Pairs of columns whose values come together often enough to tell anything, and how many are not looked at.

    Those with the fewest combinations come first; a pair with more combinations than records is left out. The records
    are those of the columns, or more, if they are a sample of so many.
    """
    n = len(columns[0].codes) if columns else 0
    n = n if records is None else min(records, np.iinfo(np.int32).max)  # combinations have a number each
    every = [(a, b) for b in range(len(columns)) for a in range(b) if columns[a].size > 1 and columns[b].size > 1]
    sizes = {(a, b): columns[a].size * columns[b].size for a, b in every}
    fit = sorted((pair for pair in every if sizes[pair] <= n), key=lambda pair: sizes[pair])[:MOST_PAIRS]
    return fit, len(every) - len(fit)


# --------------------------------------------------------------------------------------- one column


def _alone(target: _Target, column: Seen) -> tuple[Finding | None, float]:
    found = _same_number(target, (column.name,), column.name, column.numbers)
    return _found(target, (column.name,), _ways(target, column)) if found is None else (found, 1.0)


def _same_number(target: _Target, names: tuple[str, ...], what: str, numbers: Floats | None) -> Finding | None:
    """A finding if numbers are those of the target in another unit."""
    if target.numbers is None or numbers is None:
        return None
    hits = same_number(target.numbers, numbers)
    if hits is None or (target.changed is not None and hits[target.changed].mean() < ENOUGH):
        return None
    words = f"{what} is {target.name}, or that in another unit, in {percent(float(hits.mean()))} of the records"
    return Finding(names, target.name, words)


def _by_computing(
    target: _Target, columns: Sequence[Seen], guilty: set[int]
) -> Iterator[tuple[tuple[str, ...], tuple[Finding | None, float]]]:
    """What can be computed from columns: the number itself, or one that nearly goes in its order."""
    if target.numbers is None or not columns:
        return
    known: list[set[int]] = []
    for one in chain(*(way(columns, guilty, target.numbers) for way in _TO_COMPUTE)):
        if any(places.issubset(one.places) for places in known):
            continue
        names = tuple(dict.fromkeys(columns[place].name for place in one.places))
        found = _same_number(target, names, one.words, one.numbers)
        if found is None:
            cells = cells_of(ranked(one.numbers).codes, one.numbers)
            found, _ = _found(target, names, cells, LEAST)
            if found is not None:
                found = Finding(names, target.name, found.words.replace(listing_of(names), one.words, 1))
        if found is not None:
            known.append(set(one.places))
            yield names, (found, 1.0)


def _by_neighbours(
    target: _Target, columns: Sequence[Seen], guilty: set[int], alone: Sequence[float], some: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, ...], tuple[Finding | None, float]]]:
    """What two numbers that hardly repeat tell together: a plain value, or a number as closely as by computing."""
    views = [View(view.codes[some], view.places) for view in target.views]
    for a, b in pairs_of_numbers(columns, guilty):
        names = tuple(dict.fromkeys((columns[a].name, columns[b].name)))
        first, second = (columns[place].amounts for place in (a, b))
        assert first is not None
        assert second is not None
        told = most_told(alike_in_both(first[some], second[some]), views)
        if told < LIKELY or 1 - told >= HALVED * (1 - max(alone[a], alone[b])):
            continue
        cells, least = alike_in_both(first, second), ENOUGH if target.numbers is None else LEAST
        found, _ = _found(target, names, [cells], least)
        if found is not None:
            yield names, (found, 1.0)


def _by_itself(column: Seen, views: Sequence[View]) -> float:
    """The most that a column of numbers or values tells for sure of one of some views."""
    found = [guess(cells, view) for cells in cells_of(column.codes, column.amounts) for view in views]
    return max((one.surely for one in found if one is not None), default=0.0)


def _ways(target: _Target, column: Seen) -> Iterator[NDArray[np.int32]]:
    """The ways in which a column may tell something: by its values, by which are missing, by what stands in them and by
    how they are written; the last two are tried on a sample first."""
    yield from cells_of(column.codes, column.amounts)
    if column.gaps is not None and column.gaps.any() and (column.gaps != column.gaps[0]).any():
        yield column.gaps
    some = few(len(column.codes))
    views = [View(view.codes[some], view.places) for view in target.views]
    yield from (cells for cells in column.parts if most_told(cells[some], views) >= LIKELY)
    if column.words is not None:
        told = (telling_words(column.words, view) for view in target.views)
        yield from (cells for cells in told if cells is not None)


def _found(
    target: _Target, names: tuple[str, ...], ways: Iterable[NDArray[np.int32]], least: float = ENOUGH
) -> tuple[Finding | None, float]:
    """The first way in which columns tell a target, at least so much of it, and else the most that they may tell."""
    most = 0.0
    for cells in ways:
        for place, view in enumerate(target.views):
            found = guess(cells, view)
            if found is None:
                continue
            told = found.surely
            if told >= least:
                told = min(told, _beyond(target, place, found, cells))
            if told >= least:
                return Finding(names, target.name, _words(target, names, view, found)), told
            most = max(most, told)
    return None, most


def _words(target: _Target, names: tuple[str, ...], view: View, found: Guess) -> str:
    who = listing_of(names)
    verb = "tells" if len(names) == 1 else "together tell"
    near = "" if view.places is None else " to a tenth of the ranks"
    return (
        f"{who} {verb} {target.name}: of {found.records:,} records guessed from the others, {percent(found.right)} are "
        f"right{near}, and {percent(found.blind)} without"
    )


def _beyond(target: _Target, place: int, found: Guess, cells: NDArray[np.int32]) -> float:
    """What is told beyond the released version of the target itself; everything, if there is none.

    It is the larger of two: the share that is told of what the release leaves open, and twice the share that the
    release leaves open of the telling column itself. A group of age beside ages that were grouped is neither; a
    description beside a code of which most were left as they are is the first, and exact groups of age beside averages
    of ages the second.
    """
    if target.released is None:
        return 1.0
    view = target.views[place]
    told, without = found.errors(cells, view)
    guesses, known = [_identity(view, target.identity[place], without)], 0.0
    for ways in cells_of(target.released.codes, target.released.numbers):
        of_target, of_column = guess(ways, view), guess(ways, View(cells))
        if of_target is not None:
            errors, _ = of_target.errors(ways, view)
            guesses.append(np.where(np.isnan(errors), without, errors))
        known = max(known, of_column.told if of_column is not None else 0.0)
    best = min(guesses, key=lambda errors: float(np.nansum(errors)))
    return max(gain(told, without, best), min(2 * (1 - known), 1.0) if best.any() else 0.0)


def _identity(view: View, codes: NDArray[np.int32], without: Floats) -> Floats:
    """The error of taking the released value for the original one; where there is none, of a constant guess."""
    if view.places is None:
        errors = (codes != view.codes).astype(np.float64)
    else:
        errors = np.abs(np.append(view.places, np.nan)[codes] - np.append(view.places, np.nan)[view.codes])
    return np.where(codes == -1, without, errors)


# --------------------------------------------------------------------------------------- targets


def _target(data: Microdata, masked: Microdata, name: str) -> _Target:
    if name in data.schema.identifiers:
        column = seen(data.frame, name).take(data.rows)
        repeated = column.size < int((column.codes >= 0).sum())
        return _Target(name, (View(column.codes),) if repeated else (), column.numbers)
    original = data.columns[name]
    if isinstance(original, ContinuousColumn):
        return _of_numbers(name, original.values, masked.continuous(name).values)
    before, after = alike(original, masked.columns[name])
    views, identity = [View(before.codes)], [after.codes]
    numbers = None
    if before.attribute.kind == Kind.ORDINAL:
        scale = ranked(_as_numbers(before.codes))
        places = np.append(scale.places if scale.places is not None else [], np.nan)
        used = np.unique(before.codes[before.codes >= 0])
        views.append(scale)
        identity.append(_nearest(used.astype(np.float64), _as_numbers(after.codes), len(places) - 1))
        numbers = _as_numbers(before.codes)
    changed = before.codes != after.codes
    return _Target(name, tuple(views), numbers, Seen(name, after.codes), tuple(identity), changed)


def _as_numbers(codes: NDArray[np.int32]) -> Floats:
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def _of_numbers(name: str, before: Floats, after: Floats) -> _Target:
    present = ~np.isnan(before)
    values, inverse = np.unique(before[present], return_inverse=True)
    codes = np.full(len(before), -1, dtype=np.int32)
    codes[present] = inverse
    scale = ranked(before)
    assert scale.places is not None
    step = np.full(len(values), -1, dtype=np.int32)
    step[codes[present]] = scale.codes[present]  # on which step each value stands
    nearest = _nearest(values, after, len(values))
    exact = np.where((nearest >= 0) & (np.append(values, np.nan)[nearest] != after), np.int32(-2), nearest)
    released = np.unique(after[~np.isnan(after)], return_inverse=True)[1]
    seen_after = np.full(len(after), -1, dtype=np.int32)
    seen_after[~np.isnan(after)] = released
    changed = (before != after) & ~(np.isnan(before) & np.isnan(after))
    identity = (exact, np.append(step, np.int32(-1))[nearest])
    return _Target(name, (View(codes), scale), before, Seen(name, seen_after, after), identity, changed)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # numbers may be as large as they come
def _nearest(values: Floats, wanted: Floats, size: int) -> NDArray[np.int32]:
    """The place of the value that is nearest to each wanted one; -1 for none."""
    found = np.full(len(wanted), -1, dtype=np.int32)
    present = ~np.isnan(wanted)
    if not size:
        return found
    right = np.searchsorted(values, wanted[present]).clip(max=size - 1)
    left = np.maximum(right - 1, 0)
    lower = np.abs(wanted[present] - values[left]) <= np.abs(values[right] - wanted[present])
    found[present] = np.where(lower, left, right)
    return found


# --------------------------------------------------------------------------------------- pieces


def _joined(first: Seen, second: Seen, rows: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
    """The number of each combination of two columns, in some or all records; -1 where one of them has no value."""
    a, b = (one.codes if rows is None else one.codes[rows] for one in (first, second))
    return np.where((a < 0) | (b < 0), np.int32(-1), a * np.int32(second.size) + b)


def listing_of(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listing_of(("a",)), listing_of(("a", "b")), listing_of(("a", "b", "c"))
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(count: int, what: str) -> str:
    """A count with its noun: "1 pair", "2,000 records"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def percent(share: float) -> str:
    """A share that does not claim more than it is: 99.97 % is not 100 %, and some are not none."""
    whole = np.floor(1000 * share + 1e-9) / 10
    if share > 0 and not whole:
        return "fewer than 0.1 %"
    return f"{whole:.1f} %"
