from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._support.spelling import listing
from ..errors import SchemaError
from ..microdata import Kind, Microdata
from ..microdata.combinations import combined
from ..microdata.frames import Frame
from ..partition import Order, Ordinal, aggregate, along_one_column
from .base import Check, Masked, Method, Progress, Promise
from .microaggregation import GroupSize
from .promises import class_sizes

__all__ = ["IndividualRanking", "SharedValues"]


@dataclass(frozen=True)
class IndividualRanking(Method):
    """Each column by itself: its values are ranked, and groups of at least k neighbours get their average.

    The groups of a number are the best of all: no others with at least k values have a smaller sum of squared
    differences. Values stay very close to the original ones, and every value is shared by at least k records. That is
    **not k-anonymity**: the combination of the columns of a record may still be one of its own, and near to the
    original. Whoever knows several columns well finds most people.

    Missing cells of a column are a group if they are at least k. Fewer get the average of the group in the middle.

    Parameters
    ----------
    k
        The smallest size of a group.
    order
        How codes of a taxonomy are ranked: in the order of the ``"taxonomy"``, in which related codes stand together,
        or by ``"marginality"``.
    ordinal
        The average of ordered categories: ``"median"`` or ``"convex_median"``.
    attributes
        The columns to protect; by default all quasi-identifiers. Plain categories have no order and are refused.

    References
    ----------
    Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on
    Knowledge and Data Engineering 15.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72, 73], "grade": ["low", "top", "low", "mid", "top"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "top"]),
    ... ])
    >>> release = tm.protect(table, schema, tm.IndividualRanking(k=2))
    >>> release.data.to_pydict()
    {'age': [20.5, 20.5, 71.67, 71.67, 71.67], 'grade': ['low', 'top', 'low', 'top', 'top']}
    >>> print(release.promise[-1])
    holds: in each of age, grade by itself at least k = 2 records share every value; their combinations are not covered
    (the rarest value has 2 records; 3 of 5 records have a combination of their own)
    """

    k: GroupSize
    order: Order = "taxonomy"
    ordinal: Ordinal = "median"
    attributes: Sequence[str] | None = None

    name = "individual_ranking"
    about = "Gives at least k records with neighbouring values the same value, each column by itself."
    reference = "Hansen, Mukherjee (2003), IEEE Transactions on Knowledge and Data Engineering 15"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns, notes = {}, []
        for name in self._attributes(data):
            column = data.columns[name]
            groups = along_one_column(column, self.k, data.units, order=self.order)
            columns[name] = aggregate(column, groups, ordinal=self.ordinal)
            was, is_now = column.missing, columns[name].missing
            filled, emptied = int((was & ~is_now).sum()), int((is_now & ~was).sum())
            if filled:
                notes.append(f"{name}: {filled:,} missing cells, too few for a group, got the value of the middle one.")
            if emptied:
                notes.append(f"{name}: {emptied:,} values, too few for a group, became missing.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (SharedValues(self.k, self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(super()._attributes(data)))
        plain = [name for name in names if data.schema[name].kind == Kind.NOMINAL]
        if plain:
            others = [name for name in names if name not in plain]
            named = f"Name attributes=[{', '.join(others)}], and p" if others else "P"
            raise SchemaError(
                f"individual ranking cannot treat {listing(plain)}: plain categories have no order.",
                hint=f"{named}rotect plain categories by another method, such as pram or suppression, or give them a "
                "taxonomy.",
            )
        return names


@dataclass(frozen=True)
class SharedValues(Promise):
    """In each of these attributes by itself every value is shared by at least k records, missing being a value.

    Where the schema names a person or a household, by records of at least k different people or households. Nothing is
    said of combinations, so it does not suffice for any column: a table that has it already is not protected by it.
    """

    k: int
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        columns = [released.distinct(name).codes.astype(np.int64) for name in self.attributes]
        rarest = min((int(class_sizes(codes, original.units).min(initial=released.n)) for codes in columns), default=0)
        alone = int((class_sizes(combined(columns, released.n), None) == 1).sum())
        unit = original.unit
        different = "" if unit == "records" else "different "
        return Check(
            f"in each of {', '.join(self.attributes)} by itself at least k = {self.k} {different}{unit} share every "
            "value; their combinations are not covered",
            rarest >= self.k,
            f"the rarest value has {rarest:,} {unit}; {alone:,} of {released.n:,} records have a combination of their "
            "own",
        )
