from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing
from ..engines import Engine, Memory
from ..errors import DataError, SchemaError
from ..microdata import CategoricalColumn, Column, Kind, Microdata
from ..semantics.ordering import Keys, rank_keys
from ._copula import Conditional, Ranked, conditional, normal_scores, positive_definite, ranked, spearman
from ._ranks import placed, stable_order
from .base import Masked, Method, Progress, Promise, chosen
from .promises import Permutation

__all__ = ["Shuffling"]

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
        names, given = self._attributes(data), self._given(data)
        model, scores, notes = self._copula(engine, data, names, given)
        noise = engine.map(_noise, [(child, data.n) for child in rng.spawn(len(names))], "drawing")
        items = [(data.columns[name], model, place, noise[: place + 1], scores) for place, name in enumerate(names)]
        shuffled = engine.map(_shuffle, items, "shuffling", main=True)
        notes += [note for _, some in shuffled for note in some]
        columns = dict(zip(names, (column for column, _ in shuffled), strict=True))
        return Masked(data.replace(columns), notes=tuple(notes))

    def _copula(
        self, engine: Engine, data: Microdata, names: tuple[str, ...], given: tuple[str, ...]
    ) -> tuple[Conditional, list[Float], list[str]]:
        """The shuffled attributes given the others, the scores s* of these, and what is worth knowing."""
        found = engine.map(_ranks, [(data.columns[name], name in given) for name in (*names, *given)], "ranking")
        notes = [note for _, some in found for note in some]
        ranks: list[Ranked] = [one for ones, _ in found for one in ones]
        pairs = engine.map(_correlations, [(ranks[:place], one) for place, one in enumerate(ranks)], "correlating")
        r, unknown = _matrix(pairs)
        if unknown:
            notes.append(f"{unknown:,} rank correlations are not known (too few records with both values): taken as 0.")
        sizes = sorted({one.m for one in ranks})
        tables = dict(zip(sizes, engine.map(normal_scores, [(m,) for m in sizes], "scoring"), strict=True))
        items = [(one, tables[one.m], place >= len(names), self.ties == "corrected") for place, one in enumerate(ranks)]
        scored = engine.map(_score, items, "scoring")
        fidelity = [one for _, one in scored]
        r = np.clip(r / np.outer(fidelity, fidelity), -1, 1)
        rho = 2 * np.sin(np.pi / 6 * r)
        np.fill_diagonal(rho, 1.0)
        usable = positive_definite(rho)
        if usable is not rho:
            change = float(np.abs(usable - rho).max())
            notes.append(f"The correlations were not positive definite and were changed, by {change:.2g} at most.")
        model = conditional(usable, len(names))
        notes += _predictable(names, model.explained)
        return model, [scores for scores, _ in scored[len(names) :]], notes

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


# --------------------------------------------------------------------------------------- the steps


def _ranks(column: Column, given: bool) -> tuple[list[Ranked], list[str]]:
    """The ranks of a column, or of the indicators of it; what is worth knowing."""
    notes: list[str] = []
    return _given(column, notes) if given else [_response(column)], notes


def _correlations(others: list[Ranked], ranks: Ranked) -> list[float]:
    """The rank correlations of a column with those before it."""
    return [spearman(one, ranks) for one in others]


def _matrix(pairs: list[list[float]]) -> tuple[Float, int]:
    """Correlations as a matrix, 0 for those that are not known, and how many these are."""
    matrix = np.eye(len(pairs))
    for j, row in enumerate(pairs):
        matrix[:j, j] = matrix[j, :j] = row
    unknown = np.isnan(matrix)
    matrix[unknown] = 0.0
    return matrix, int(unknown.sum()) // 2


def _score(ranks: Ranked, table: Float, given: bool, corrected: bool) -> tuple[Float | None, float]:
    """The scores of a given column, and how closely ranks follow scores, if that is to be corrected."""
    if not given:
        return None, _sorted_fidelity(ranks, table) if corrected else 1.0
    scores = _scores(ranks, table)
    return scores, _stretched(scores, ranks, table) if corrected else 1.0


def _noise(rng: np.random.Generator, n: int) -> Float:
    return rng.standard_normal(n)


def _shuffle(
    column: Column, model: Conditional, place: int, noise: list[Float], scores: list[Float]
) -> tuple[Column, list[str]]:
    """The values of a column by the rank of Y*, which is drawn without looking at them."""
    return _shuffled(column, model.draw(place, noise, scores)), _left_in_place(column)


# --------------------------------------------------------------------------------------- columns and their scores


def _response(column: Column) -> Ranked:
    found = ranked(rank_keys(column), column.missing)
    if found.constant:
        what = "has no value" if not found.m else "has only one value"
        raise DataError(
            f"column {column.attribute.name!r} {what}, so there is nothing to shuffle.",
            hint="Leave it out: name attributes=[…] without it, or give it the role 'other'.",
        )
    return found


def _given(column: Column, notes: list[str]) -> list[Ranked]:
    """What a given column contributes: its ranks, or those of indicators; nothing if it does not vary."""
    name, missing = column.attribute.name, column.missing
    keys: list[Keys] = [rank_keys(column)]
    if isinstance(column, CategoricalColumn) and column.attribute.kind == Kind.NOMINAL:
        keys = _indicators(keys[0], int(np.count_nonzero(column.counts)))
        pooled = int(np.count_nonzero(column.counts)) - _INDICATORS - 1
        if pooled > 1:
            notes.append(f"{name}: the {pooled:,} rarest categories count as one.")
    found = [one for one in (ranked(key, missing) for key in keys) if not one.constant]
    if not found:
        notes.append(f"{name}: does not vary, so nothing follows from it; it was not used.")
    elif missing.any():
        notes.append(f"{name}: {int(missing.sum()):,} missing values counted as average ones.")
    return found


def _indicators(places: Keys, categories: int) -> list[Keys]:
    """Whether a record has the second, third, … most frequent category; one for all after the 21st."""
    single: list[Keys] = [(places == j).astype(np.int32) for j in range(1, min(categories, _INDICATORS + 1))]
    return [*single, (places > _INDICATORS).astype(np.int32)] if categories > _INDICATORS + 1 else single


def _scores(column: Ranked, table: Float) -> Float:
    scores = table[column.ranks.astype(np.int64) + (column.m - 1)]
    if column.present is not None:
        scores[~column.present] = 0.0
    return scores


# --------------------------------------------------------------------------------------- what ties take away


def _sorted_fidelity(column: Ranked, table: Float) -> float:
    """How closely the ranks follow a normal variable that the values are sorted by; 1 without ties."""
    return _fidelity(np.sort(column.values()), table[::2], table) if column.tied else 1.0


def _stretched(scores: Float, column: Ranked, table: Float) -> float:
    """Stretch the scores of a given column; how closely its ranks follow them, 1 without ties."""
    if not column.tied:
        return 1.0
    fidelity = _fidelity(column.ranks, scores, table)
    scores *= np.sqrt(np.square(table[::2]).sum() / np.square(scores).sum())
    return fidelity


def _fidelity(ranks: Float, scores: Float, table: Float) -> float:
    """The correlation of ranks with scores, as a share of that of different values."""
    untied = table[::2]
    different = np.arange(1.0 - len(untied), len(untied), 2)
    return _correlation(ranks, scores) / _correlation(different, untied)


def _correlation(a: Float, b: Float) -> float:
    return float((a * b).sum() / np.sqrt(np.square(a).sum() * np.square(b).sum()))


# --------------------------------------------------------------------------------------- the result


def _shuffled(column: Column, drawn: Float) -> Column:
    present = np.flatnonzero(~column.missing)
    order = stable_order(drawn) if len(present) == len(drawn) else present[stable_order(drawn[present])]
    return placed(column, order)


def _predictable(names: tuple[str, ...], explained: Float) -> list[str]:
    return [
        f"{name}: the given attributes explain {share:.1%} of its variance, so its values move little."
        for name, share in zip(names, explained.tolist(), strict=True)
        if share > _NEARLY_ALL
    ]


def _left_in_place(column: Column) -> list[str]:
    count = int(column.missing.sum())
    return [f"{column.attribute.name}: {count:,} missing values stayed where they were."] if count else []
