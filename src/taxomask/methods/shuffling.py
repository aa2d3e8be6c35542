from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing
from ..engines import Engine, Memory
from ..errors import DataError, SchemaError
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, Microdata
from ..semantics.ordering import category_ranks
from ._copula import Conditional, Ranked, conditional, normal_scores, positive_definite, ranked, spearman
from ._ranks import put_back
from .base import Masked, Method, Progress, Promise, chosen
from .promises import Permutation

__all__ = ["Shuffling"]

Counts = NDArray[np.int64]
Float = NDArray[np.float64]

_INDICATORS = 20  # of a plain attribute with many categories
_NEARLY_ALL = 0.95  # of a variance: what is left moves values little


@dataclass(frozen=True)
class Shuffling(Method):
    """Confidential values are exchanged between records so that their rank correlations stay, and nothing else.

    The table is modelled as a Gaussian copula. With r the rank correlations, ρ = 2 sin(π r / 6), and s* the normal
    scores Φ⁻¹((rank − 0.5) / n) of the given attributes S, the confidential attributes X get Y* ~ N(ρ_XS ρ_SS⁻¹ s*,
    ρ_XX − ρ_XS ρ_SS⁻¹ ρ_SX), drawn without looking at X; the record with the j-th smallest y* gets the j-th smallest
    value of X. Missing values stay where they are; a given value that is missing counts as an average one (s* = 0).

    Numbers and ordered categories are ranked as they are; taxonomic attributes by marginality, then in the order of the
    taxonomy. A plain attribute among those to shuffle is ranked by frequency; among the given ones it enters as
    indicators of its categories (all but the most frequent one; from the 22nd on, categories share one).

    Parameters
    ----------
    attributes
        The columns to shuffle; by default all confidential ones.
    given
        The columns that the shuffled ones shall go on to be correlated with; by default all quasi-identifiers that are
        not shuffled. With none, ``given=()``, the result tells nothing about a record's own values.
    ties
        Where many records share a value, scores spread less and ranks follow them less closely, so correlations
        shrink. ``"corrected"`` makes up for it: the scores of a given attribute are stretched to the spread that they
        have without ties, and r is divided by what the ties of both attributes take away. ``"paper"`` does not.
        Without ties both are the same.

    References
    ----------
    Muralidhar, Sarathy (2006), Data shuffling: a new masking approach for numerical data, Management Science 52,
    doi 10.1287/mnsc.1050.0503; Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic
    microdata, PSD (taxonomic attributes; its 2π sin(r)/6 is a misprint).

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 30, 40, 50], "pay": [10, 25, 30, 44]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("pay", role="confidential", kind="continuous"),
    ... ])
    >>> release = tm.protect(table, schema, tm.Shuffling(given=()), seed=5)
    >>> sorted(release.data["pay"].to_pylist())
    [10, 25, 30, 44]
    """

    attributes: Sequence[str] | None = None
    given: Sequence[str] | None = None
    ties: Literal["corrected", "paper"] = "corrected"

    name = "shuffling"
    about = "Exchanges confidential values between records and keeps their correlations, also with the other columns."
    reference = "Muralidhar, Sarathy (2006), doi 10.1287/mnsc.1050.0503"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if engine.in_one_job(data.n):
            return super().mask_on(engine, data, rng)
        shuffled, still = self._varying(engine, data)
        model, scores, notes = self._copula(engine, data, shuffled, self._given(data))
        notes += still
        noise, columns = [], {}
        for place, (name, child) in enumerate(zip(shuffled, rng.spawn(len(shuffled)), strict=True)):
            column = data.columns[name]
            noise.append(engine.each(_noise, [range(data.n)], what="drawing", rng=child))
            drawn, gone = engine.each(_drawn, [column, *noise, *scores], model, place, what="shuffling", main=True)
            columns[name] = put_back(engine, column, engine.order(drawn, "shuffling"))
            notes += _left_in_place(name, sum(gone))
        return Masked(data.replace(columns), notes=tuple(notes))

    def _varying(self, engine: Engine, data: Microdata) -> tuple[dict[str, Ranked], list[str]]:
        """The ranks of the attributes to shuffle, and notes on those that do not vary and stay as they are.

        Those that are named must vary, and so must one at least.
        """
        ranks = {name: _response(engine, data.columns[name]) for name in self._attributes(data)}
        still = {name: "only one value" if one.m else "no value" for name, one in ranks.items() if one.constant}
        if still and (self.attributes is not None or len(still) == len(ranks)):
            name, what = next(iter(still.items()))
            raise DataError(
                f"column {name!r} has {what}, so there is nothing to shuffle.",
                hint="Leave it out: name attributes=[…] without it, or give it the role 'other'.",
            )
        notes = [f"{name}: has {what} and stays as it is." for name, what in still.items()]
        return {name: one for name, one in ranks.items() if name not in still}, notes

    def _copula(
        self, engine: Engine, data: Microdata, shuffled: dict[str, Ranked], given: tuple[str, ...]
    ) -> tuple[Conditional, list[Float], list[str]]:
        """The shuffled attributes given the others, the scores s* of these, and what is worth knowing."""
        notes: list[str] = []
        names, ranks = tuple(shuffled), list(shuffled.values())
        for name in given:
            ranks += _given(engine, data.columns[name], notes)
        r = spearman(engine, ranks)
        unknown = np.isnan(r)
        if unknown.any():
            count = int(unknown.sum()) // 2
            notes.append(f"{count:,} rank correlations are not known (too few records with both values): taken as 0.")
            r[unknown] = 0.0
        tied = {one.m for one in ranks if one.tied} if self.ties == "corrected" else set()
        untied = {m: _Untied.of(engine, m) for m in tied}
        fidelity = [_sorted_fidelity(engine, one, untied.get(one.m)) for one in ranks[: len(names)]]
        scores = []
        for one in ranks[len(names) :]:
            score, close = _scored(engine, one, untied.get(one.m))
            scores.append(score)
            fidelity.append(close)
        r = np.clip(r / np.outer(fidelity, fidelity), -1, 1)
        rho = 2 * np.sin(np.pi / 6 * r)
        np.fill_diagonal(rho, 1.0)
        usable = positive_definite(rho)
        if usable is not rho:
            change = float(np.abs(usable - rho).max())
            notes.append(f"The correlations were not positive definite and were changed, by {change:.2g} at most.")
        model = conditional(usable, len(names))
        notes += _predictable(names, model.explained)
        return model, scores, notes

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (Permutation(self._attributes(data)),)

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return _once(chosen(data, self.attributes, data.schema.confidential, "confidential attribute"), "attributes")

    def _given(self, data: Microdata) -> tuple[str, ...]:
        shuffled = self._attributes(data)
        if self.given is None:
            return tuple(name for name in data.schema.quasi_identifiers if name not in shuffled)
        names = _once(chosen(data, self.given, (), "given attribute"), "given") if len(self.given) else ()
        both = [name for name in names if name in shuffled]
        if both:
            raise SchemaError(
                f"{listing(both)} cannot be shuffled and given at once.",
                hint="Take it out of attributes=[…], or out of given=[…].",
            )
        return names


def _once(names: tuple[str, ...], field: str) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaError(f"{field} names {listing(twice)} twice.", hint="Name every column once.")
    return names


# --------------------------------------------------------------------------------------- ranks


def _response(engine: Engine, column: Column) -> Ranked:
    """The ranks of a column to be shuffled."""
    if isinstance(column, ContinuousColumn):
        return ranked(engine, engine.rank(column.values, "ranking"), column)
    counts = engine.count(column)
    return _by_place(engine, column, counts, category_ranks(column.outline(counts)))


def _given(engine: Engine, column: Column, notes: list[str]) -> list[Ranked]:
    """What a given column contributes: its ranks, or those of indicators; nothing if it does not vary."""
    name = column.attribute.name
    if isinstance(column, ContinuousColumn):
        every = [ranked(engine, engine.rank(column.values, "ranking"), column)]
    else:
        counts = engine.count(column)
        places = [category_ranks(column.outline(counts))]
        if column.attribute.kind == Kind.NOMINAL:
            categories = int(np.count_nonzero(counts))
            places = _indicators(places[0], categories)
            pooled = categories - _INDICATORS - 1
            if pooled > 1:
                notes.append(f"{name}: the {pooled:,} rarest categories count as one.")
        every = [_by_place(engine, column, counts, one) for one in places]
    found = [one for one in every if not one.constant]
    if not found:
        notes.append(f"{name}: does not vary, so nothing follows from it; it was not used.")
    elif found[0].m < len(column):
        notes.append(f"{name}: {len(column) - found[0].m:,} missing values counted as average ones.")
    return found


def _by_place(engine: Engine, column: CategoricalColumn, counts: Counts, places: NDArray[np.int32]) -> Ranked:
    """The ranks of categories by their places; several may have the same."""
    sizes = np.bincount(places, counts).astype(np.int64) if len(places) else np.zeros(1, dtype=np.int64)
    ranks = (2 * np.cumsum(sizes) - sizes - counts.sum()).astype(np.float64)
    return ranked(engine, engine.each(_by_code, [column], np.append(ranks[places], 0.0), what="ranking"), column)


def _by_code(column: CategoricalColumn, table: Float) -> Float:
    """What stands in a table for each code; the last entry for a missing one."""
    return table[column.codes]


def _indicators(places: NDArray[np.int32], categories: int) -> list[NDArray[np.int32]]:
    """Whether a category is the second, third, … most frequent one; one for all after the 21st."""
    single = [(places == j).astype(np.int32) for j in range(1, min(categories, _INDICATORS + 1))]
    return [*single, (places > _INDICATORS).astype(np.int32)] if categories > _INDICATORS + 1 else single


# --------------------------------------------------------------------------------------- scores, and ties


@dataclass(frozen=True, eq=False)
class _Untied:
    """Different values: their scores in order, and the sums of these with their ranks."""

    scores: Float
    sums: Float

    @classmethod
    def of(cls, engine: Engine, m: int) -> _Untied:
        scores = engine.each(_scores_of_different, [range(m)], m, what="scoring")
        return cls(scores, engine.fold(_sums_of_different, np.add, [range(m), scores], m, what="scoring"))


def _scored(engine: Engine, column: Ranked, untied: _Untied | None) -> tuple[Float, float]:
    """The scores of a given column, stretched to those without ties, and how closely ranks follow them."""
    scores: Float = engine.each(normal_scores, [column.ranks], column.m, what="scoring")
    if untied is None or not column.tied:
        return scores, 1.0
    found = engine.fold(_sums, np.add, [column.ranks, scores], what="scoring")
    stretch = np.sqrt(untied.sums[2] / found[2])
    return engine.each(_stretched, [scores], stretch, what="scoring"), _correlation(found) / _correlation(untied.sums)


def _sorted_fidelity(engine: Engine, column: Ranked, untied: _Untied | None) -> float:
    """How closely the ranks follow a normal variable that the values are sorted by; 1 without ties."""
    if untied is None or not column.tied:
        return 1.0
    present = column.ranks
    if column.present is not None:
        present = engine.each(_known, [column.ranks, column.present], what="scoring")
    found = engine.fold(_sums, np.add, [engine.sort(present, "scoring"), untied.scores], what="scoring")
    return _correlation(found) / _correlation(untied.sums)


def _known(ranks: Float, present: NDArray[np.bool_]) -> Float:
    return np.where(present, ranks, np.nan)


def _stretched(scores: Float, factor: float) -> Float:
    return scores * factor


def _scores_of_different(rows: range, m: int) -> Float:
    return normal_scores(_different(rows, m), m)


def _sums_of_different(rows: range, scores: Float, m: int) -> Float:
    return _sums(_different(rows, m), scores)


def _different(rows: range, m: int) -> Float:
    """The centred ranks of different values."""
    return np.arange(2 * rows.start + 1 - m, 2 * rows.stop + 1 - m, 2, dtype=np.float64)


def _sums(a: Float, b: Float) -> Float:
    return np.array([(a * b).sum(), np.square(a).sum(), np.square(b).sum()])


def _correlation(sums: Float) -> float:
    return float(sums[0] / np.sqrt(sums[1] * sums[2]))


# --------------------------------------------------------------------------------------- the result


def _noise(rows: range, rng: np.random.Generator) -> Float:
    return rng.standard_normal(len(rows))


def _drawn(column: Column, *more: Any) -> tuple[Float, int]:
    """Y* of each record, drawn without looking at the values; none where one is missing, and how many these are."""
    *rows, model, place = more
    drawn, gone = model.draw(place, rows[: place + 1], rows[place + 1 :]), column.missing
    drawn[gone] = np.nan
    return drawn, int(gone.sum())


def _predictable(names: tuple[str, ...], explained: Float) -> list[str]:
    return [
        f"{name}: the given attributes explain {share:.1%} of its variance, so its values move little."
        for name, share in zip(names, explained.tolist(), strict=True)
        if share > _NEARLY_ALL
    ]


def _left_in_place(name: str, count: int) -> list[str]:
    return [f"{name}: {count:,} missing values stayed where they were."] if count else []
