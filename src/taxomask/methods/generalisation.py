from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..microdata import Microdata, TaxonomicColumn
from ..microdata.combinations import numbered
from ..microdata.people import class_owners
from ._classes import ClassSize, check_k, emptied, some_people
from ._kept import how_many
from ._ladders import Ladder, ladder
from .base import Masked, Method, Progress, Promise
from .promises import KAnonymity
from .recoding import known_to_first

__all__ = ["Generalisation"]

Int = NDArray[np.int64]


@dataclass(frozen=True)
class Generalisation(Method):
    """Attributes are made coarser, one step at a time, until every combination of values is shared by k records.

    The greedy search of Datafly: while more records than the limit are in classes of fewer than k, the attribute with
    the most different values goes up one step, for all records alike. A taxonomic attribute loses a level of its
    taxonomy (as in `Recoding`). Numbers and ordered categories are put into intervals with about as many records each,
    half as many intervals at each step; since an interval cannot be written into a column of numbers, its mean (the
    median of ordered categories) is. Plain categories have no step but the last one, which takes all values of an
    attribute away. Steps that leave an attribute one value or none are taken when nothing else is left, those that lose
    least first.

    The records that are then still in classes of fewer than k are suppressed: all their protected cells become missing.
    Suppressed records are a class of their own; if they are fewer than k, some more are suppressed, taken at random
    from the largest class. Where the schema names a person, or a household, a class has k different ones.

    Parameters
    ----------
    k
        The smallest class.
    suppression
        The largest share of records that may be suppressed.
    attributes
        The columns to protect; by default all quasi-identifiers.

    References
    ----------
    Sweeney (2002), Achieving k-anonymity privacy protection using generalization and suppression, International Journal
    of Uncertainty, Fuzziness and Knowledge-Based Systems 10, doi 10.1142/S021848850200165X.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 22, 70, 72], "dx": ["25001", "25002", "4019", "4010"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> tm.protect(table, schema, tm.Generalisation(k=2)).data.to_pydict()
    {'age': [21, 21, 71, 71], 'dx': ['250', '250', '401', '401']}
    """

    k: ClassSize
    suppression: Annotated[float, Ge(0), Le(1), Slider(0, 0.2, 0.005), "0.05 allows 5 %."] = 0.05
    attributes: Sequence[str] | None = None

    name = "generalisation"
    about = "Makes values coarser until k records share every combination, and suppresses a few records."
    reference = "Sweeney (2002), doi 10.1142/S021848850200165X"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        people = check_k(self.k, data)
        names = self._attributes(data)
        for name in names:
            if isinstance(data.columns[name], TaxonomicColumn):
                known_to_first(data.taxonomic(name))
        search = _Search([ladder(data.columns[name]) for name in names], people)
        while (suppressed := search.suppressed(self.k, self.suppression * data.n, rng)) is None:
            search.climb()
        columns = {
            name: emptied(one.written(step), suppressed)
            for name, one, step in zip(names, search.ladders, search.steps, strict=True)
        }
        steps = "; ".join(one.described(step) for one, step in zip(search.ladders, search.steps, strict=True))
        return Masked(
            data.replace(columns),
            notes=(
                f"Generalised to: {steps}.",
                f"{how_many(int(suppressed.sum()), data.n)} records suppressed.",
            ),
        )

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (KAnonymity(self.k, self._attributes(data)),)


class _Search:
    """The step that each attribute has reached, and the classes that the records form there.

    ``cells`` has a row per class, with the values of one of its records: what a further step joins, it finds from them.
    """

    def __init__(self, ladders: list[Ladder], people: NDArray[np.int32] | None = None) -> None:
        self.ladders = ladders
        self.people = people
        self.steps = [0] * len(ladders)
        self.cells = np.column_stack([one.codes for one in ladders])
        self.number: Int = np.arange(len(self.cells))
        self._join()

    def suppressed(self, k: int, limit: float, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """The records to suppress so that all classes have k; None if there would be too many."""
        small = self.sizes < k
        chosen: NDArray[np.bool_] = small[self.number]
        records = int(chosen.sum())
        if records > limit:
            return None
        missing = np.logical_and.reduce([now == one.count for one, now in zip(self.ladders, self._now(), strict=True)])
        together = (missing | small)[self.number]
        short = k - (int(together.sum()) if self.people is None else len(np.unique(self.people[together])))
        if not records or short <= 0:
            return chosen
        if records + short > limit:
            return None
        largest = int(self.sizes.argmax())
        if self.sizes[largest] < k + short:
            return None
        rows = np.flatnonzero(self.number == largest)
        if self.people is None:
            more = rng.choice(rows, short, replace=False)
        else:
            more = some_people(rows, self.people, np.unique(self.people[together]), short, rng)
        if records + len(more) > limit or (self.people is not None and len(np.unique(self.people[more])) < short):
            return None
        chosen[more] = True
        return chosen

    def climb(self) -> None:
        """One more step for an attribute."""
        open_ = [place for place, one in enumerate(self.ladders) if self.steps[place] < one.last]
        self.steps[max(open_, key=self._rank)] += 1
        self._join()

    def _rank(self, place: int) -> tuple[int, int, int]:
        """The attribute with the most values comes first; the first of equal ones.

        Those that the next step leaves with one value or none come after the others, the one that has the fewest to
        lose first, if the step joins anything.
        """
        one, step = self.ladders[place], self.steps[place]
        now = one.values(step)
        if one.values(step + 1) > 1:
            return 2, now + one.gaps, -place
        return int(now + one.gaps > 1), -now, -place

    def _now(self) -> list[Int]:
        return [
            one.classes(step)[self.cells[:, i]]
            for i, (one, step) in enumerate(zip(self.ladders, self.steps, strict=True))
        ]

    def _join(self) -> None:
        number, first = numbered(self._now(), len(self.cells))
        self.cells = self.cells[first]
        self.number = number[self.number]
        self.sizes = class_owners(self.number, self.people)
