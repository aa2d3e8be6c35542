"""Inference: an intruder takes the confidential value of a person from the nearest released records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_number
from ...engines import Engine
from ...methods import Progress
from ...microdata import Microdata, Role
from ...microdata.people import row_shares
from ...partition.nearest import Distinct, Neighbours
from ...records import RecordDistance
from ..measure import Measure, Tables, telling
from ..plain import Result
from ._among_all import space_on
from ._guessed import guesses_on
from .guesses import Runs, Tally, confidential_codes, members_of
from .inputs import check_records, chosen, in_one_numbering
from .linkage import Scale, spaces
from .rates import Rate
from .sampling import numbers_on, targets_on

__all__ = ["INFERENCE", "Guess", "Inference", "guess_chances", "inference"]

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Guess:
    """How often the value (or what it means) is guessed right for people in the table and for people outside of it.

    The baseline is a value drawn from the released ones at random. What is guessed about people outside is general
    knowledge that the release conveys; only the difference is disclosure about those inside.
    """

    targets: Rate
    control: Rate | None

    @property
    def excess(self) -> float | None:
        """(targets - control) / (1 - control): how much more is learnt of people in the table; None without control."""
        if self.control is None:
            return None
        left = 1 - self.control.value
        return (self.targets.value - self.control.value) / left if left > 0 else 0.0


@dataclass(frozen=True)
class Inference(Result):
    """What is guessed of a confidential attribute, by how precise the guess has to be."""

    attribute: str
    levels: Mapping[str, Guess]


def inference(
    original: Microdata,
    released: Microdata,
    confidential: str,
    attributes: Iterable[str] | None = None,
    *,
    control: Microdata | None = None,
    levels: Mapping[str, int] | None = None,
    percent: float = 5.0,
    scale: Scale = "balanced",
) -> Inference:
    """Guess a confidential value from the released records that are nearest in what the intruder knows.

    Of several equally near records (as in `record_linkage`) one is drawn: a guess counts with the share of them that
    are right. Targets whose value is missing are left out; a missing released value is a wrong guess. Spellings that
    differ only in case, outer spaces or Unicode form are the same value. Where the schema names a person, each of
    somebody's n values counts 1/n. The tables need not be linked.

    Parameters
    ----------
    original, released
        The tables.
    confidential
        The attribute to guess.
    attributes
        What the intruder knows; by default all quasi-identifiers.
    control
        People of the same kind whose records were not used for the release.
    levels
        For a taxonomic attribute: what else counts as right, by the depth (the root has 1) of a concept that the guess
        must share with the value, such as ``{"chapter": 2, "category": 4}`` for ICD-9-CM. By default every depth
        from 2.
    percent
        For a continuous or ordinal attribute: also a guess within so many percent of the ranks counts.
    scale
        Of the S-distance; see `RecordDistance`.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    PoPETs.
    """
    check_number("percent", percent, above=0, at_most=100)
    names = chosen(original, released, attributes)
    tables = [original, released, *([] if control is None else [control])]
    for data, which in zip(tables, ("original", "released", "control"), strict=False):
        chosen(original, data, [*names, confidential])
        check_records(data, which)
    shared = {name: in_one_numbering(*(data.columns[name] for data in tables)) for name in names}
    first, *others = (
        data.replace({name: columns[i] for name, columns in shared.items()}) for i, data in enumerate(tables)
    )
    space = RecordDistance(first, names, scale=scale)
    records, *outside = (space.of(data) for data in others)
    codes, right = confidential_codes([data.columns[confidential] for data in tables], levels, percent)
    neighbours = Neighbours(records)
    inside = _guessed(neighbours, space, codes[1], codes[0], right, original.people)
    controls: dict[str, Rate] = {}
    for queries in outside:
        controls = _guessed(neighbours, queries, codes[1], codes[2], right, tables[2].people)
    return Inference(confidential, {level: Guess(rate, controls.get(level)) for level, rate in inside.items()})


def guess_chances(
    original: Microdata, released: Microdata, confidential: str, level: str, rows: Whole
) -> NDArray[np.float64]:
    """The chance that the value of each of some people is guessed right at a level of `inference`; NaN if missing."""
    names = chosen(original, released, None)
    here, there = spaces(original, released, names)
    (truth, codes), right = confidential_codes([data.columns[confidential] for data in (original, released)], None, 5.0)
    known = rows[truth[rows] >= 0]
    found = np.full(original.n, np.nan)
    for _, asked, chances in _each(Neighbours(there), here.take(known), codes, truth[known], {level: right[level]}):
        found[known[asked]] = chances
    return found[rows]


def _guessed(
    neighbours: Neighbours,
    people: RecordDistance,
    released: Whole,
    truth: Whole,
    right: Mapping[str, Runs],
    whose: Whole | None,
) -> dict[str, Rate]:
    """How often the values of people are guessed right from released ones; everybody counts once."""
    known = np.flatnonzero(truth >= 0)
    if not len(known):
        return {level: Rate.of(0, 0, 0.0) for level in right}
    people, truth = people.take(known), truth[known]
    counts = np.ones(len(known)) if whose is None else row_shares(whose[known])
    hits = dict.fromkeys(right, 0.0)
    for level, asked, chances in _each(neighbours, people, released, truth, right):
        hits[level] += float(chances.sum() if whose is None else counts[asked] @ chances)
    everything, n = Tally(np.zeros(len(released), dtype=np.int64), released), round(counts.sum())
    chance = {level: everything.count(np.zeros_like(truth), truth, runs) for level, runs in right.items()}
    guess = {level: one.mean() if whose is None else counts @ one / n for level, one in chance.items()}
    return {level: Rate.of(hits[level], n, float(guess[level]) / len(released)) for level in right}


def _each(
    neighbours: Neighbours, people: RecordDistance, released: Whole, truth: Whole, right: Mapping[str, Runs]
) -> Iterator[tuple[str, NDArray[np.int32], NDArray[np.float64]]]:
    """For each level some people at a time, and their chances to be guessed."""
    if not len(truth):
        return
    distinct = Distinct.of(people, always=True)
    queries = people.take(distinct.first)
    nearest = neighbours.nearest(queries)
    for piece, points, counts in neighbours.within(queries, nearest.reach):
        rows, whose = members_of(neighbours.distinct, points, counts)
        tally = Tally(whose, released[rows])
        asked = distinct.records[distinct.start[piece.start] : distinct.start[piece.stop]]
        query = distinct.point[asked].astype(np.int64)
        for level, runs in right.items():
            found = tally.count(query - piece.start, truth[asked], runs)
            yield level, asked, found / nearest.ties[query]


def _inference_on(engine: Engine, tables: Tables) -> dict[str, Inference]:
    """Of a random sample of people, from the nearest of all records; where outsiders count, in one job."""
    if tables.control is not None:
        found: dict[str, Inference] = engine.run(_each_inference, tables, what="guessing")
        return found
    rows, space = targets_on(engine, tables, tables.n), space_on(engine, tables, chosen(*tables.both, None))
    people = tables.original.people
    guesses = {name: guesses_on(engine, tables, name, rows, space) for name in tables.confidential}
    whose = {name: None if people is None else numbers_on(engine, people, one.rows) for name, one in guesses.items()}
    return {
        name: Inference(name, {level: Guess(one.rate(level, whose[name]), None) for level in one.chances})
        for name, one in guesses.items()
    }


def _each_inference(tables: Tables, progress: Progress | None) -> dict[str, Inference]:
    return {
        name: inference(*tables.both, name, control=tables.control) for name in telling(tables.confidential, progress)
    }


INFERENCE = Measure(
    "inference",
    title="guessed from the nearest record",
    about="The share of confidential values guessed rightly from the nearest released record.",
    compute=_each_inference,
    on_engine=_inference_on,
    seconds=lambda tables: 2.5e-6 * tables.n * len(tables.confidential),
    where="",
    columns=Role.CONFIDENTIAL,
    otherwise={},
    headline=True,
    rates=lambda found: {
        f"{name} guessed from the nearest record: {level}": guess.targets
        for name, one in found.items()
        for level, guess in one.levels.items()
    },
)
