"""Whose row it is: the person and the household of each row, and for how many people it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .attribute import Attribute
from .combinations import combined
from .distinct import Distinct, encode
from .frames import Frame
from .meanings import meaning
from .numeric import read_numbers
from .schema import Schema

__all__ = [
    "NOBODY", "Owners", "by_owner", "check_population", "check_weights", "class_owners", "in_order_of_appearance",
    "joined_households", "largest_share", "meanings", "row_shares", "wrong_weights",
]  # fmt: skip

Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Owners:
    """The owners of the rows of a table, each None where the schema does not name its column.

    Attributes
    ----------
    people, households
        The number of each row's person and household, from 0 in the order of their first rows.
    weights
        For how many people of the population each row stands.
    """

    people: Int | None = None
    households: Int | None = None
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, frame: Frame, schema: Schema, rows: Int) -> Owners:
        """The owners of some rows of a table.

        Spellings of a name count as one (see `meaning`), so that nobody is taken for two. Rows that name nobody are
        one, or one each: ``schema.missing_person``. Households that share a person are one household, and a row that
        names its person only belongs to the household of that person.

        >>> import pyarrow as pa
        >>> from taxomask.microdata import Attribute
        >>> table = pa.table({"who": ["b7", "a1", None, "B7 ", ""]})
        >>> schema = Schema([Attribute("who", role="identifier")], person="who")
        >>> Owners.of(Frame(table), schema, np.arange(5)).people.tolist()
        [0, 1, 2, 0, 2]
        """
        person = None if schema.person is None else _names(frame, schema[schema.person], rows)
        household = None if schema.household is None else _names(frame, schema[schema.household], rows)
        each = schema.missing_person == "each"
        people = None if person is None else _numbered(person, each=each)
        households = None if household is None else joined_households(person, household, each)
        weight = schema.sampling_weight
        weights = None if weight is None else _weights(frame, schema[weight], rows)
        found = cls(people, households, weights)
        check_population(schema, len(rows) if people is None else int(people.max(initial=-1)) + 1)
        return found

    def take(self, rows: Any) -> Owners:
        """Of some rows only, with the same numbers."""
        each = (self.people, self.households, self.weights)
        return Owners(*(None if one is None else one[rows] for one in each))


NOBODY = Owners()


def in_order_of_appearance(keys: NDArray[Any]) -> Int:
    """Keys from 0, not much larger than there are rows, numbered without gaps in the order of their first rows.

    >>> in_order_of_appearance(np.array([7, 2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    n = len(keys)
    first = np.full(int(keys.max(initial=-1)) + 1, n, dtype=np.int64)
    first[keys[::-1]] = np.arange(n - 1, -1, -1)  # of equal keys the last one written stays
    starts = np.zeros(n, dtype=np.int64)
    starts[first[first < n]] = 1
    return (np.cumsum(starts) - 1)[first[keys]]


def class_owners(classes: NDArray[Any], owners: NDArray[Any] | None) -> Int:
    """How many different owners the rows of each class have, by its number; without owners, how many rows.

    >>> class_owners(np.array([0, 0, 0, 1, 1]), np.array([4, 4, 7, 4, 5])).tolist()
    [2, 2]
    """
    if owners is None or not len(classes):
        return np.bincount(classes)
    pairs = combined([classes, owners], len(classes))
    first = np.unique(pairs, return_index=True)[1]
    return np.bincount(classes[first])


def row_shares(owners: Int) -> NDArray[np.float64]:
    """What each of some rows counts, if every owner counts 1: one over the number of rows of its owner.

    >>> row_shares(np.array([4, 4, 7])).tolist()
    [0.5, 0.5, 1.0]
    """
    _, place, rows = np.unique(owners, return_inverse=True, return_counts=True)
    return 1.0 / rows[place]


def largest_share(classes: NDArray[Any], owners: NDArray[Any]) -> float:
    """The largest share of the rows of a class that one owner has.

    >>> largest_share(np.array([0, 0, 0, 1, 1]), np.array([4, 4, 7, 4, 5])) == 2 / 3
    True
    """
    _, first, rows = np.unique(combined([classes, owners], len(classes)), return_index=True, return_counts=True)
    return float((rows / np.bincount(classes)[classes[first]]).max(initial=0.0))


def by_owner(values: NDArray[np.float64], owners: NDArray[Any] | None) -> NDArray[np.float64]:
    """The largest value of each owner's rows, in the order of their numbers; without owners, the values as they are.

    >>> by_owner(np.array([0.5, 0.25, 1.0]), np.array([7, 7, 2])).tolist()
    [1.0, 0.5]
    """
    if owners is None or not len(values):
        return values
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=owners[order[0]] - 1))
    return np.asarray(np.maximum.reduceat(values[order], starts))


def _names(frame: Frame, attribute: Attribute, rows: Int) -> Int:
    """The number of the name in each row, -1 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    distinct = frame.distinct(attribute.name)
    codes, dictionary = encode(meanings(distinct))
    absent = pa.array([meaning(marker) for marker in attribute.missing], pa.large_string())
    missing = pc.is_in(dictionary, absent).to_numpy(zero_copy_only=False)
    number = np.append(np.where(missing[codes], -1, codes), -1)  # the last one for rows without a value
    found: Int = number[distinct.codes[rows]].astype(np.int64)
    return found


def meanings(distinct: Distinct) -> Any:
    """What each distinct value says, however it is written, as pyarrow; see `meaning`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = distinct.spelled()
    if pc.all(pc.string_is_ascii(texts)).as_py() is False:
        return pa.array([meaning(value) for value in texts.to_pylist()], pa.large_string())
    return pc.ascii_lower(pc.ascii_trim_whitespace(texts))


def joined_households(person: Int | None, household: Int, each: bool) -> Int:
    """The number of each row's household, given those of its person and its household, from 0, or -1 if it has none."""
    return _numbered(_joined(person, household), each=each)


def _joined(person: Int | None, household: Int) -> Int:
    """The households, those that share a person being one."""
    if person is None:
        return household
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    people, houses = int(person.max(initial=-1)) + 1, int(household.max(initial=-1)) + 1
    both = (person >= 0) & (household >= 0)
    ones, size = np.ones(int(both.sum()), dtype=np.int8), people + houses
    graph = coo_array((ones, (person[both], people + household[both])), shape=(size, size))
    joined = np.append(connected_components(graph, directed=False)[1], -1)
    return np.where(person >= 0, joined[person], joined[np.where(household >= 0, people + household, -1)])


def _numbered(names: Int, *, each: bool) -> Int:
    """Numbers in the order of first rows; rows without a name are together one, or one each."""
    missing, top = names < 0, int(names.max(initial=-1)) + 1
    return in_order_of_appearance(np.where(missing, top + (np.cumsum(missing) if each else 0), names))


def _weights(frame: Frame, attribute: Attribute, rows: Int) -> NDArray[np.float64]:
    weights = read_numbers(frame, attribute).values[rows]
    check_weights(attribute.name, [wrong_weights(weights, rows)])
    return weights


def wrong_weights(weights: NDArray[np.float64], rows: Int) -> tuple[int, int]:
    """How many weights are none, and the row of the first of them."""
    wrong = ~(np.isfinite(weights) & (weights > 0))
    return int(wrong.sum()), int(rows[int(wrong.argmax())]) if wrong.any() else -1


def check_weights(name: str, wrong: Sequence[tuple[int, int]]) -> None:
    """Refuse weights some of which are none, as found in one part of the table after the other."""
    row = next((row for count, row in wrong if count), None)
    if row is not None:
        raise DataError(
            f"column {name!r}: {sum(count for count, _ in wrong):,} sampling weights are missing or not above 0, the "
            f"first in row {row + 1:,}.",
            hint="A row stands for at least one person: repair the weights, or leave 'sampling_weight' out.",
        )


def check_population(schema: Schema, people: int) -> None:
    """Refuse a population that has fewer people than the table."""
    size = schema.population_size
    if size is not None and size < people:
        what = "people" if schema.person is not None else "rows"
        raise DataError(
            f"population_size is {size:,}, but the table has {people:,} {what}.",
            hint="Say how many people the population has of which the table is a sample.",
        )
