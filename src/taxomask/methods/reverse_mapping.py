from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing
from ..engines import Engine, Memory
from ..errors import DataError, PlanError, SchemaError
from ..microdata import CategoricalColumn, Column, Microdata
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.frames import Frame
from ..microdata.people import class_owners, largest_share
from ..semantics.ordering import masked_ranks, rank_keys
from ._ranks import placed, put_back, random_order, random_order_on
from .base import Check, Masked, Method, Progress, Promise, chosen
from .microaggregation import Microaggregation
from .promises import KAnonymity, Permutation, equal_records, of_people, smallest_of

__all__ = ["ReverseMapping"]


@dataclass(frozen=True)
class ReverseMapping(Method):
    """The values that another method made are replaced by original ones of the same rank.

    Let x be the original and y the masked values of an attribute: z_i = x_(rank of y_i), ties in random order. Each
    attribute of the result is a permutation of the original one, whatever the other method does to it.

    Numbers are ranked as they are, ordered categories by their place on the scale; all others by their marginality in
    the original sample, also concepts that do not occur in it, then in the order of the taxonomy (or sorted).

    A value that is missing in the original stays missing. One that only the other method left out gets a random rank.

    Parameters
    ----------
    inner
        The method whose result is mapped back, such as ``Microaggregation(k=5)``. Its own promises do not hold for the
        result. Its masked table is never released: together with the result it would give the original values away.
    attributes
        The columns to map back; by default all that the inner method has changed.
    unlinked
        If the records of the inner method's table do not come from records of the original one (fully synthetic data):
        ``"error"``, or ``"quantile"`` to give each record the original value at the same quantile. The distributions
        are then equal within 1 / min(m, n), for m and n values.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, PSD, LNCS 8744; Soria-Comas, Domingo-Ferrer (2012), Probabilistic
    k-anonymity through microaggregation and data swapping, FUZZ-IEEE.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.ReverseMapping(tm.Microaggregation(k=2)), seed=1)
    >>> sorted(release.data["age"].to_pylist()[:2])
    [20, 21]
    >>> print(release.promise[-1])
    holds: probabilistic 2-anonymity: age in random order among at least k = 2 records (the smallest of 2 classes has
    2 records; 0 values outside the ranks of their class)
    """

    inner: Annotated[Method, "Write, for example, ReverseMapping(Microaggregation(k=5))."]
    attributes: Sequence[str] | None = None
    unlinked: Literal["error", "quantile"] = "error"

    name = "reverse_mapping"
    about = (
        "Lets another method mask the table, then puts original values of the same rank in place of the masked ones."
    )
    reference = "Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping, PSD, LNCS 8744"

    def check_parameters(self) -> None:
        super().check_parameters()
        self.inner.check_parameters()

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        before, after = rng.spawn(2)
        inner = self.inner.mask_on(engine, data, before)
        if not inner.linked and self.unlinked == "error":
            raise PlanError(
                f"{self.inner.name} makes records that do not come from records of the table, so there is nothing to "
                "map back record by record.",
                hint='Pass unlinked="quantile" to give each value the original one at the same quantile.',
            )
        names = self._mapped(data, inner.data)
        anonymous = self._anonymous(data)
        copies, notes = [], list(inner.notes)
        for number, copy in enumerate(inner.copies or (inner.data,)):
            pairs = [(data.columns[name], copy.columns[name]) for name in names]
            children = after.spawn(len(names))
            items = [(*pair, inner.linked, child) for pair, child in zip(pairs, children, strict=True)]
            if data.n <= engine.chunk or not inner.linked:  # of new people no order is that of the table
                found = engine.map(_mapped_back, items, "mapping back")
            else:
                found = [_mapped_back_on(engine, *pair, own) for pair, own in zip(pairs, children, strict=True)]
            copies.append(copy.replace(dict(zip(names, (column for column, _ in found), strict=True))))
            if not number:
                notes += [note for _, some in found for note in some]
        if _any_missing(data, anonymous):
            notes.append("Missing cells stay in their records, so probabilistic k-anonymity is not promised.")
        return ReverseMapped(
            copies[0],
            inner.groups,
            tuple(notes),
            copies=tuple(copies) if inner.copies else (),
            linked=inner.linked,
            attributes=names,
            inner=inner,
        )

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._anonymous(data)
        if names and not _any_missing(data, names):
            assert isinstance(self.inner, Microaggregation)
            return (OriginalValues(), ProbabilisticAnonymity(self.inner.k, names))
        return (OriginalValues(),)

    def _anonymous(self, data: Microdata) -> tuple[str, ...]:
        """The attributes whose values are equal in at least k records of the inner method's table."""
        promises = self.inner.promises(data) if isinstance(self.inner, Microaggregation) else ()
        return next((promise.attributes for promise in promises if isinstance(promise, KAnonymity)), ())

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        """What is masked and not mapped back is replaced as well."""
        return self.inner.protects(data)

    def _mapped(self, data: Microdata, masked: Microdata) -> tuple[str, ...]:
        changed = masked.changed_from(data)
        if not changed:
            raise DataError(
                f"{self.inner.name} has changed no column, so there is nothing to map back.",
                hint="Check the parameters of the inner method.",
            )
        names = tuple(dict.fromkeys(chosen(data, self.attributes, changed, "changed column")))
        same = [name for name in names if name not in changed]
        if same:
            raise SchemaError(
                f"{self.inner.name} does not change {listing(same)}; mapped back, it would be released as it is.",
                hint=f"Choose from {listing(changed)}.",
            )
        return names


@dataclass(frozen=True, eq=False)
class ReverseMapped(Masked):
    """A table that was mapped back, with what the checks need: the attributes, and the inner table (never released)."""

    attributes: tuple[str, ...] = ()
    inner: Masked | None = field(default=None, repr=False)


def _mapped(masked: Masked) -> ReverseMapped:
    assert isinstance(masked, ReverseMapped)
    return masked


# --------------------------------------------------------------------------------------- the mapping


def _mapped_back(original: Column, inner: Column, linked: bool, rng: np.random.Generator) -> tuple[Column, list[str]]:
    """A column mapped back; what became of its missing values."""
    mapped = (_by_record if linked else _by_quantile)(original, inner, rng)
    return mapped, _about_missing(original, inner) if linked else []


def _mapped_back_on(
    engine: Engine, original: Column, inner: Column, rng: np.random.Generator
) -> tuple[Column, list[str]]:
    """The same of a long column, in chunks."""
    missing, masked_out = engine.fold(_gone, np.add, [original, inner], what="mapping back").tolist()
    if isinstance(original, CategoricalColumn) and isinstance(inner, CategoricalColumn):
        before, after = (one.outline(engine.count(one)) for one in (original, inner))
        ranks = np.append(masked_ranks(after, before), np.int32(-1))
        keys = engine.each(_keys_of, [original, inner], ranks, what="mapping back")
    else:
        keys = engine.each(_numbers_of, [original, inner], what="mapping back")
    order = random_order_on(engine, keys, rng, "mapping back")
    if masked_out:
        ties, places = rng.spawn(2)
        keys = engine.each(_left_out, [original, inner], what="mapping back")
        order = _mixed_on(engine, order, random_order_on(engine, keys, ties, "mapping back"), places)
    return put_back(engine, original, order), _notes(original.attribute.name, missing, masked_out)


def _left_out(original: Column, inner: Column) -> NDArray[np.int32]:
    """0 for values that only the inner method left out; all others are missing."""
    return np.where(inner.missing & ~original.missing, np.int32(0), np.int32(-1))


def _mixed_on(
    engine: Engine, order: NDArray[np.int64], others: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Rows in their order with others at random places between them, all choices of places being as likely."""
    how_many, which = rng.spawn(2)
    n = len(order) + len(others)
    lengths = [stop - start for start, stop in engine.parts(n)]
    new = how_many.multivariate_hypergeometric(lengths, len(others), method="marginals")
    ends = [np.concatenate([[0], np.cumsum(some)]) for some in (np.array(lengths) - new, new)]
    own = [
        tuple(rows[end[at] : end[at + 1]] for rows, end in zip((order, others), ends, strict=True))
        for at in range(len(new))
    ]
    mixed: NDArray[np.int64] = engine.each(_mixed, [range(n)], what="mapping back", rng=which, own=own)
    return mixed


def _mixed(
    rows: range, rng: np.random.Generator, own: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.int64]:
    order, others = own
    places = np.zeros(len(rows), dtype=np.bool_)
    places[rng.permutation(len(rows))[: len(others)]] = True
    mixed = np.empty(len(rows), dtype=np.int64)
    mixed[places], mixed[~places] = others, order
    return mixed


def _gone(original: Column, inner: Column) -> NDArray[np.int64]:
    """How many original values are missing, and how many others the inner method left out."""
    return np.array([original.missing.sum(), (inner.missing & ~original.missing).sum()])


def _keys_of(original: CategoricalColumn, inner: CategoricalColumn, ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(original.missing, np.int32(-1), ranks[inner.codes])


def _numbers_of(original: Column, inner: Column) -> NDArray[np.float64]:
    alike(original.part(0, 0), inner.part(0, 0))  # an error where numbers were masked as categories
    return np.where(original.missing, np.nan, inner.numbers())


def _by_record(original: Column, masked: Column, rng: np.random.Generator) -> Column:
    """z_i = x_(rank of y_i) among the records with an original value; ties, and values only masked out, at random."""
    keys, absent = rank_keys(masked, original), masked.missing
    rows = np.flatnonzero(~original.missing)
    known = rows[~absent[rows]]
    order = known[random_order(keys[known], rng)]
    if len(known) < len(rows):
        unknown = rows[absent[rows]]
        places = rng.permutation(len(rows))[: len(unknown)]
        taken = np.zeros(len(rows), dtype=np.bool_)
        taken[places] = True
        mixed = np.empty(len(rows), dtype=np.int64)
        mixed[places], mixed[~taken] = unknown, order
        order = mixed
    return placed(original, order)


def _by_quantile(original: Column, masked: Column, rng: np.random.Generator) -> Column:
    """The original value at the quantile of each masked one; a masked cell without a value stays so."""
    keys = rank_keys(masked, original)
    rows = np.flatnonzero(~masked.missing)
    if original.missing.all():
        rows = rows[:0]
    return placed(original, rows[random_order(keys[rows], rng)], len(masked))


def _any_missing(data: Microdata, names: tuple[str, ...]) -> bool:
    return any(bool(data.columns[name].missing.any()) for name in names)


def _about_missing(original: Column, inner: Column) -> list[str]:
    return _notes(original.attribute.name, *_gone(original, inner).tolist())


def _notes(name: str, missing: int, masked_out: int) -> list[str]:
    notes = []
    if missing:
        notes.append(f"{name}: {missing:,} missing values stayed where they were.")
    if masked_out:
        notes.append(f"{name}: {masked_out:,} values that were masked out got random ranks.")
    return notes


# --------------------------------------------------------------------------------------- what is promised


@dataclass(frozen=True)
class OriginalValues(Promise):
    """The columns that were mapped back hold the original values: a permutation, or, if records are not linked, values
    whose distribution differs by at most 1 / min(m, n)."""

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return _mapped(masked).attributes

    def permuted(self, masked: Masked) -> tuple[str, ...]:
        return self.settled(masked) if masked.linked else ()

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if not masked.linked:
            return super().check_on(engine, original, released, masked)
        return Permutation(_mapped(masked).attributes).check_on(engine, original, released, masked)

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        names = _mapped(masked).attributes
        if masked.linked:
            return Permutation(names).check(original, released, masked)
        worst, allowed, strange, holds = 0.0, 0.0, 0, True
        for name in names:
            before, after = original.columns[name], code(released, original.schema[name]).column
            x, z = np.sort(rank_keys(before)[~before.missing]), np.sort(rank_keys(after, before)[~after.missing])
            strange += int((~np.isin(z, x)).sum())
            if len(x) and len(z):
                gap = np.searchsorted(x, x, side="right") / len(x) - np.searchsorted(z, x, side="right") / len(z)
                largest, own = float(np.abs(gap).max()), 1 / min(len(x), len(z))  # of this attribute, by its values
                worst, allowed, holds = max(worst, largest), max(allowed, own), holds and largest <= own
        return Check(
            f"the values of {', '.join(names)} are original ones, and as frequent, within {allowed:.2g}",
            holds and not strange,
            f"the largest difference of distributions is {worst:.2g}; {strange:,} values are not original ones",
        )


@dataclass(frozen=True)
class ProbabilisticAnonymity(Promise):
    """At least k records are equal in the microaggregated table, and the values that they get are in random order.

    So nobody can tell, with a probability above 1/k, which record of the release a record of the original has become.
    It is checked that the classes are large enough and that each holds exactly the original values of its ranks; the
    order within it comes from the generator. Where the schema names a person, or a household, k different ones are
    meant, and the largest share that one has of a class is stated.
    """

    family: ClassVar[str] = "chances"
    by_chance: ClassVar[bool] = True

    k: int
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        made = _mapped(masked)
        assert made.inner is not None
        classes = equal_records(made.inner.data.seen(), self.attributes)
        sizes = class_owners(classes, original.units)
        smallest = int(sizes.min(initial=self.k))
        outside = 0
        for name in made.attributes:
            x, y = original.columns[name], made.inner.data.columns[name]
            z = rank_keys(code(released, original.schema[name]).column, x)
            outside += int((z[np.lexsort((z, rank_keys(y, x)))] != np.sort(rank_keys(x))).sum())
        # Who owns more than 1/k of a class is found with more: the order is as random, but the name would say too much.
        equal = original.units is None or largest_share(classes, original.units) <= (1 + 1e-12) / self.k
        return Check(
            f"{f'probabilistic {self.k}-anonymity: ' if equal else ''}{', '.join(self.attributes)} in random order "
            f"among at least k = {self.k} {original.unit}{of_people(original, classes)}",
            smallest >= self.k and not outside,
            f"{smallest_of(len(sizes), smallest, original.unit)}; {outside:,} values outside the ranks of their class",
        )

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes  # a random order may be the original one, and must be as likely as every other
