from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..checks import check_choice
from ..engines import Here, Keeper, Site, open_site
from ..errors import DataError, SchemaError
from ..microdata import CategoricalColumn, Column, Kind, Microdata
from ..microdata.spelling import listing
from ..semantics.ordering import Keys, rank_keys
from ._copula import Ranked, conditional, normal_scores, positive_definite, ranked, spearman
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
        return self.spread(Here(progress), data, rng)

    def spread(self, site: Site, data: Microdata, rng: np.random.Generator) -> Masked:
        check_choice("ties", self.ties, ["corrected", "paper"])
        names, given = self._attributes(data), self._given(data)
        prefix = site.prefix(self.name)
        jobs = [site.dump((data, name, name in given, prefix), prefix) for name in (*names, *given)]
        found = site.map(_rank, jobs, "ranking")
        notes = [note for _, some in found for note in some]
        ranked = [one for ones, _ in found for one in ones]
        pairs = site.map(_correlate, [ranked[: place + 1] for place in range(len(ranked))], "correlating")
        r, unknown = _matrix(pairs)
        if unknown:
            notes.append(f"{unknown:,} rank correlations are not known (too few records with both values): taken as 0.")
        site.map(_score_table, sorted({(prefix, one.m) for one in ranked}), "scoring")
        scored = [(one, place >= len(names), self.ties == "corrected", prefix) for place, one in enumerate(ranked)]
        fidelity = site.map(_score, scored, "scoring")
        site.store.drop(*(one.key for one in ranked), *(f"{prefix}/table-{one.m}" for one in ranked))
        r = np.clip(r / np.outer(fidelity, fidelity), -1, 1)
        rho = 2 * np.sin(np.pi / 6 * r)
        np.fill_diagonal(rho, 1.0)
        usable = positive_definite(rho)
        if usable is not rho:
            change = float(np.abs(usable - rho).max())
            notes.append(f"The correlations were not positive definite and were changed, by {change:.2g} at most.")
        model = conditional(usable, len(names))
        notes += _predictable(names, model.explained)
        seeds = [child.bit_generator.seed_seq for child in rng.spawn(len(names))]
        scores = ranked[len(names) :]
        jobs = [
            site.dump((data, name, place, model, seeds[: place + 1], scores, prefix), prefix)
            for place, name in enumerate(names)
        ]
        shuffled = site.map(_shuffle, jobs, "shuffling", main=True)
        noise = (f"{prefix}/noise-{place}" for place in range(len(names)))
        site.store.drop(*(f"{one.key}-scores" for one in scores), *noise)
        notes += [note for _, some in shuffled for note in some]
        return Masked(site.joined(data, [site.load(one) for one, _ in shuffled]), notes=tuple(notes))

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


# --------------------------------------------------------------------------------------- jobs


@dataclass(frozen=True, order=True)
class _Kept:
    """The ranks of a column, or of an indicator of it: where they are kept, and how many values there are."""

    key: str
    m: int


def _rank(store: Keeper, dumped: Any) -> tuple[list[_Kept], list[str]]:
    data, name, given, prefix = open_site(store).load(dumped)
    notes: list[str] = []
    column = data.columns[name]
    found = _given(column, notes) if given else [_response(column)]
    kept = []
    for place, one in enumerate(found):
        key = f"{prefix}/ranks-{list(data.columns).index(name)}-{place}"
        store.put(key, one)
        kept.append(_Kept(key, one.m))
    return kept, notes


def _correlate(store: Keeper, columns: list[_Kept]) -> list[float]:
    """The rank correlations of the last column with those before it."""
    *others, last = columns
    ranks = store.get(last.key)
    return [spearman(store.get(one.key), ranks) for one in others]


def _matrix(pairs: list[list[float]]) -> tuple[Float, int]:
    """Correlations as a matrix, 0 for those that are not known, and how many these are."""
    matrix = np.eye(len(pairs))
    for j, row in enumerate(pairs):
        matrix[:j, j] = matrix[j, :j] = row
    unknown = np.isnan(matrix)
    matrix[unknown] = 0.0
    return matrix, int(unknown.sum()) // 2


def _score_table(store: Keeper, item: tuple[str, int]) -> None:
    prefix, m = item
    store.put(f"{prefix}/table-{m}", normal_scores(m))


def _score(store: Keeper, item: tuple[_Kept, bool, bool, str]) -> float:
    """Keep the scores of a given column; how closely ranks follow scores, if that is to be corrected."""
    kept, given, corrected, prefix = item
    ranks, table = store.get(kept.key), store.get(f"{prefix}/table-{kept.m}")
    if not given:
        return _sorted_fidelity(ranks, table) if corrected else 1.0
    scores = _scores(ranks, table)
    fidelity = _stretched(scores, ranks, table) if corrected else 1.0
    store.put(f"{kept.key}-scores", scores)
    return fidelity


def _noise(store: Keeper, seeds: list[Any], n: int, prefix: str) -> Iterator[Float]:
    """Rows of noise for a column and those before it; in memory the latter were kept, elsewhere they are drawn anew."""
    kept = isinstance(open_site(store), Here)
    for place, seed in enumerate(seeds):
        key = f"{prefix}/noise-{place}"
        if kept and place + 1 < len(seeds):
            yield store.get(key)
            continue
        row = np.random.default_rng(seed).standard_normal(n)
        if kept:
            store.put(key, row)
        yield row


def _shuffle(store: Keeper, dumped: Any) -> tuple[Any, list[str]]:
    site = open_site(store)
    data, name, place, model, seeds, given, prefix = site.load(dumped)
    noise = _noise(store, seeds, data.n, prefix)
    drawn = model.draw(place, noise, (store.get(f"{one.key}-scores") for one in given))
    column = data.columns[name]
    return site.dump(data.replace({name: _shuffled(column, drawn)}), prefix), _left_in_place(column)


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
