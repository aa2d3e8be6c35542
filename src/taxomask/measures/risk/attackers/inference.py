from __future__ import annotations

import numpy as np

from ....engines import Engine
from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from ..inference import Guess, guess_chances
from ..rates import Rate
from ..sampling import TARGETS, targets
from .attacker import Attack, Attacker

__all__ = ["INFERENCE_ATTACK", "share_beyond_control"]


def share_beyond_control(guess: Guess) -> Rate:
    """What is guessed of people in the table; what is guessed of people outside of it as well is no disclosure."""
    rate = guess.targets
    known = rate.baseline if guess.control is None else max(rate.baseline, guess.control.value)
    return Rate(rate.value, rate.low, rate.high, known, rate.n)


def _inference(tables: Tables, _: Progress | None) -> Attack:
    share, name, level, how = _most_telling(tables)
    rows = targets(tables, tables.n)
    chances = np.full(tables.n, np.nan)
    chances[rows] = guess_chances(*tables.both, name, level, rows)
    return Attack(share, how, share.n, chances)


def _most_telling(tables: Tables) -> tuple[Rate, str, str, str]:
    levels = [
        (share_beyond_control(guess), name, level)
        for name, found in tables.found["inference"].items()
        for level, guess in found.levels.items()
    ]
    share, name, level = max(levels, key=lambda one: one[0].excess)
    share = share.largest_of(len(levels))
    how = f"{name} ({level}), the most telling of {len(levels)} guesses, from the nearest released record."
    return share, name, level, how


def _inference_on(engine: Engine, tables: Tables) -> Attack:
    """Of the sample that the measure looked for."""
    share, _, _, how = _most_telling(tables)
    if tables.control is not None:
        return Attack(share, how, share.n)
    if tables.original.people is not None:
        return Attack(share, f"{how} The records of {share.n:,} people, drawn at random, were looked for.", share.n)
    count = min(TARGETS, tables.n)
    return Attack(share, f"{how} A random {count:,} of {tables.n:,} records were looked for.", share.n)


INFERENCE_ATTACK = Attacker(
    "inference",
    title="confidential value of the nearest record",
    about="The share of confidential values that the nearest released record has, for the most telling attribute.",
    knows="The original quasi-identifiers of everybody, and no confidential value.",
    after="confidential",
    compute=_inference,
    on_engine=_inference_on,
    seconds=lambda tables: 2e-6 * tables.n,
    columns=Role.CONFIDENTIAL,
    uses=("inference",),
    applies=lambda tables: bool(tables.confidential),
)
