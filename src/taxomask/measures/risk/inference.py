"""Inference: an intruder takes the confidential value of a person from the nearest released records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from ..measure import Measure, Tables
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
    asked = [confidential]
    return _inferences(original, released, asked, attributes, control, levels, percent, scale)[confidential]


def guess_chances(
    original: Microdata, released: Microdata, confidential: str, level: str, rows: Whole
) -> NDArray[np.float64]:
    """The chance that the value of each of some people is guessed right at a level of `inference`; NaN if missing."""
    names = chosen(original, released, None)
    here, there = spaces(original, released, names)
    (truth, codes), right = confidential_codes([data.columns[confidential] for data in (original, released)], None, 5.0)
    known = rows[truth[rows] >= 0]
    found = np.full(original.n, np.nan)
    secrets = {confidential: _Secret(codes, truth[known], {level: right[level]})}
    for _, _, asked, chances in _each(Neighbours(there), here.take(known), secrets, None):
        found[known[asked]] = chances
    return found[rows]


# --------------------------------------------------------------------------------------- inside


@dataclass(frozen=True, eq=False)
class _Secret:
    """A confidential attribute in codes: of the released records, of the people who are guessed, and what is right."""

    released: Whole
    truth: Whole
    right: Mapping[str, Runs]


def _inferences(
    original: Microdata,
    released: Microdata,
    confidential: Sequence[str],
    attributes: Iterable[str] | None = None,
    control: Microdata | None = None,
    levels: Mapping[str, int] | None = None,
    percent: float = 5.0,
    scale: Scale = "balanced",
    progress: Progress | None = None,
) -> dict[str, Inference]:
    """What is guessed of each of several attributes: the nearest records are the same for all of them."""
    check_number("percent", percent, above=0, at_most=100)
    names = chosen(original, released, attributes)
    tables = [original, released, *([] if control is None else [control])]
    for data, which in zip(tables, ("original", "released", "control"), strict=False):
        chosen(original, data, [*names, *confidential])
        check_records(data, which)
    shared = {name: in_one_numbering(*(data.columns[name] for data in tables)) for name in names}
    first, *others = (
        data.replace({name: columns[i] for name, columns in shared.items()}) for i, data in enumerate(tables)
    )
    space = RecordDistance(first, names, scale=scale)
    records, *outside = (space.of(data) for data in others)
    codes = {
        name: confidential_codes([data.columns[name] for data in tables], levels, percent) for name in confidential
    }
    neighbours, rates = Neighbours(records), []
    for table, people in ((0, space), *((2, queries) for queries in outside)):
        secrets = {name: _Secret(found[1], found[table], right) for name, (found, right) in codes.items()}
        rates.append(_guessed(neighbours, people, secrets, tables[table].people, progress))
    inside, *controls = rates
    return {
        name: Inference(
            name,
            {
                level: Guess(rate, controls[0][name].get(level) if controls else None)
                for level, rate in inside[name].items()
            },
        )
        for name in confidential
    }


def _guessed(
    neighbours: Neighbours,
    people: RecordDistance,
    secrets: Mapping[str, _Secret],
    whose: Whole | None,
    progress: Progress | None,
) -> dict[str, dict[str, Rate]]:
    """How often the values of people are guessed right from released ones; everybody counts once."""
    counts = {name: _shares(one.truth >= 0, whose) for name, one in secrets.items()}
    hits = {name: dict.fromkeys(one.right, 0.0) for name, one in secrets.items()}
    for name, level, asked, chances in _each(neighbours, people, secrets, progress):
        hits[name][level] += float(chances.sum() if whose is None else counts[name][asked] @ chances)
    return {name: _rates(one, counts[name], hits[name]) for name, one in secrets.items()}


def _shares(known: NDArray[np.bool_], whose: Whole | None) -> NDArray[np.float64]:
    """How much each record counts: each of somebody's n known values 1/n."""
    counts = known.astype(np.float64)
    if whose is not None:
        counts[known] = row_shares(whose[known])
    return counts


def _rates(secret: _Secret, counts: NDArray[np.float64], hits: Mapping[str, float]) -> dict[str, Rate]:
    """The share of right guesses at each level, beside that of values drawn from the released ones."""
    known = np.flatnonzero(secret.truth >= 0)
    if not len(known):
        return {level: Rate.of(0, 0, 0.0) for level in hits}
    truth, n, some = secret.truth[known], round(counts.sum()), np.zeros(len(known), dtype=np.int64)
    everything = Tally(np.zeros(len(secret.released), dtype=np.int64), secret.released)
    drawn = {level: counts[known] @ everything.count(some, truth, secret.right[level]) / n for level in hits}
    return {level: Rate.of(hits[level], n, float(drawn[level]) / len(secret.released)) for level in hits}


def _each(
    neighbours: Neighbours, people: RecordDistance, secrets: Mapping[str, _Secret], progress: Progress | None
) -> Iterator[tuple[str, str, Whole, NDArray[np.float64]]]:
    """For each attribute and level some people at a time, and their chances to be guessed."""
    known = np.flatnonzero(np.any([one.truth >= 0 for one in secrets.values()], axis=0))
    if not len(known):
        return
    people = people.take(known)
    distinct = Distinct.of(people, always=True)
    queries = people.take(distinct.first)
    for piece, points, counts in neighbours.nearest_points(queries):
        rows, whose = members_of(neighbours.distinct, points, counts)
        ties = np.bincount(whose, minlength=len(counts))
        everybody = distinct.records[distinct.start[piece.start] : distinct.start[piece.stop]]
        for name, secret in secrets.items():
            asked = everybody[secret.truth[known[everybody]] >= 0]
            truth, query = secret.truth[known[asked]], distinct.point[asked].astype(np.int64) - piece.start
            tally = Tally(whose, secret.released[rows])
            for level, runs in secret.right.items():
                found = tally.count(query, truth, runs)
                yield name, level, known[asked], found / ties[query]
        if progress is not None:
            progress(piece.stop / queries.n)


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
    return _inferences(*tables.both, tables.confidential, control=tables.control, progress=progress)


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
