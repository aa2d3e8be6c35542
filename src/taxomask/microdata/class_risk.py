"""The chance to find a record from the size of its class, in the table or in the population behind it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .microdata import Microdata
from .people import class_owners

__all__ = ["class_risk", "people_risk", "survey_weights"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


def class_risk(classes: Whole, people: Whole | None = None, weights: Float | None = None) -> Float:
    """The chance of each record to be found by somebody who knows its class, and that its person is in the table.

    1/f for f people in the class. With weights, of somebody who does not know that, and finds F people in the
    population: E(1/F | f) with F negative binomial, success rate p = f / Σ weights: (p/f)·₂F₁(1, 1; f+1; 1-p).

    Parameters
    ----------
    classes
        The number of each record's class, from 0 without gaps.
    people
        The number of each record's person; without, each record is somebody.
    weights
        For how many people of the population each record stands.

    >>> class_risk(np.array([0, 0, 1])).tolist()
    [0.5, 0.5, 1.0]
    >>> class_risk(np.array([0, 0, 1]), weights=np.array([10.0, 10.0, 10.0])).round(4).tolist()
    [0.0827, 0.0827, 0.2558]
    """
    f = class_owners(classes, people)
    if weights is None:
        return np.asarray(1 / f[classes])
    p = np.minimum(f / _summed(classes, weights, people), 1.0)
    return np.asarray((p / f * _series(f, 1 - p))[classes])


def people_risk(records: Float, people: Whole | None) -> Float:
    """The risk of each person: of the record of theirs that is found most easily. NaN counts as not looked for.

    >>> people_risk(np.array([0.1, 0.5, 0.2]), np.array([0, 0, 1])).tolist()
    [0.5, 0.2]
    """
    if people is None:
        return records
    found = np.full(int(people.max(initial=-1)) + 1, np.nan)
    np.fmax.at(found, people, records)
    return found[np.unique(people)]


def survey_weights(data: Microdata) -> Float | None:
    """For how many people each record stands, as the table says, or alike, as the size of the population says."""
    size = data.schema.population_size
    if data.weights is not None or size is None:
        return data.weights
    people = data.n if data.people is None else len(np.unique(data.people))
    return np.full(data.n, max(size / max(people, 1), 1.0))


def _summed(classes: Whole, weight: Float, people: Whole | None) -> Float:
    """The weights of each class, that of a person with several records in it once, as their mean."""
    if people is not None:
        pairs = classes * (int(people.max(initial=0)) + 1) + people
        _, pair, rows = np.unique(pairs, return_inverse=True, return_counts=True)
        weight = weight / rows[pair]
    return np.asarray(np.bincount(classes, weights=weight), dtype=np.float64)


def _series(f: Whole, z: Float) -> Float:
    """₂F₁(1, 1; f+1; z) = Σ z^i / C(f+i, i), term by term where f is large: scipy gives up there."""
    from scipy.special import hyp2f1

    out = hyp2f1(1.0, 1.0, np.minimum(f, 20) + 1.0, z)
    large = f > 20  # then 60 terms are all that count
    term, total = np.ones(int(large.sum())), np.ones(int(large.sum()))
    for i in range(1, 61):
        term = term * (i * z[large] / (f[large] + i))
        total += term
    out[large] = total
    return np.asarray(out)
