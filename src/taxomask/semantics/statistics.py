"""Marginality, and the statistics of nominal data that are built on semantic distances.

All of them work on the distinct categories and their counts, never on pairs of records.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..microdata import Attribute, CategoricalColumn, TaxonomicColumn
from ..microdata.coding import code
from ..microdata.frames import Frame
from ..taxonomy import Match, Taxonomy, check_normalize
from ..taxonomy.distances import get_distance

if TYPE_CHECKING:
    from ..taxonomy.distances import Distance

__all__ = [
    "category_marginality",
    "distance_correlation",
    "distance_covariance",
    "distance_variance",
    "first_smallest",
    "marginality",
    "mean_marginality",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "semantic_mean",
]

Float = NDArray[np.float64]


# --------------------------------------------------------------------------------------- of one attribute


def marginality(
    values: Any,
    taxonomy: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "ancestors",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> Float:
    """m(x_j) = Σ_{l≠j} d(x_j, x_l): how far each value lies from the middle of the data.

    Parameters
    ----------
    values
        One value per record: a list, an array or a column of a frame.
    taxonomy
        The taxonomy that the values come from, or the name of a built-in one; without one, values are only equal
        or different.
    distance
        The semantic distance.
    match, normalize
        How the values are spelled; see `Taxonomy.lookup`.

    Returns
    -------
    One number per record; NaN where the value is missing.

    References
    ----------
    Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Anonymization of nominal data based on semantic marginality,
    Information Sciences 242.

    Examples
    --------
    >>> marginality(["25001", "25001", "25002", "4019"], "icd9cm").round(3)
    array([1.289, 1.289, 1.651, 2.778])
    """
    column = _coded(values, taxonomy, distance, match, normalize)
    return np.append(category_marginality(column), np.nan)[column.codes]


def category_marginality(column: CategoricalColumn) -> Float:
    """The marginality of each category of a coded column."""
    if not len(column.categories):
        return np.zeros(0)
    if not isinstance(column, TaxonomicColumn):
        return (column.counts.sum() - column.counts).astype(float)
    if column.further is not None:
        return np.asarray(column.table @ column.counts, dtype=np.float64)
    distance = get_distance(column.attribute.distance)
    return distance.sums(column.scopes[0], column.positions, column.counts)


def nominal_mean(
    values: Any,
    taxonomy: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "ancestors",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> Any:
    """Mean_M: the value of the sample with the smallest marginality; of several the first in taxonomy order.

    Marginalities are equal if they differ by no more than 1e-12 of the largest, which is more than rounding does.

    >>> nominal_mean(["25001", "25002", "4019"], "icd9cm")
    '25001'
    """
    column = _coded(values, taxonomy, distance, match, normalize)
    sums = np.where(column.counts > 0, _sample_marginality(column), np.inf)
    return column.categories[first_smallest(sums)]


def mean_marginality(
    values: Any,
    taxonomy: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "ancestors",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """Num_mean_M: the smallest marginality of the sample, which is that of `nominal_mean`."""
    column = _coded(values, taxonomy, distance, match, normalize)
    return float(_sample_marginality(column)[column.counts > 0].min())


def nominal_variance(
    values: Any,
    taxonomy: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "ancestors",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """Var_M = Σ_j m(x_j) / n, over the values that are not missing."""
    column = _coded(values, taxonomy, distance, match, normalize)
    return float(_sample_marginality(column) @ column.counts / column.counts.sum())


def nominal_covariance(
    x: Any,
    y: Any,
    taxonomy_x: Taxonomy | str | None = None,
    taxonomy_y: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "ancestors",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """Covar_M = Σ_j sqrt(m(x_j)·m(y_j)) / n, over the records with both values."""
    a, b = _both(x, y, taxonomy_x, taxonomy_y, distance, match, normalize)
    root_x, root_y = np.sqrt(category_marginality(a)), np.sqrt(category_marginality(b))
    return float(root_x @ contingency(a, b) @ root_y / len(a))


def semantic_mean(
    values: Any,
    taxonomy: Taxonomy | str,
    *,
    distance: str | Distance = "wu_palmer",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> str:
    """The concept of τ(X), in the sample or not, with the smallest sum of distances to the sample.

    Of several the first in taxonomy order.
    """
    column = _coded(values, taxonomy, distance, match, normalize)
    _sample_marginality(column)
    assert isinstance(column, TaxonomicColumn)
    scope = column.scopes[0]
    counts = np.zeros(len(scope.taxonomy.ids), dtype=np.int64)
    counts[column.positions] = column.counts
    sums = get_distance(distance).sums(scope, scope.concepts, counts[scope.concepts])
    return scope.taxonomy.names([scope.concepts[first_smallest(sums)]], match=match)[0]


# --------------------------------------------------------------------------------------- of two attributes


def distance_covariance(
    x: Any,
    y: Any,
    taxonomy_x: Taxonomy | str | None = None,
    taxonomy_y: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "wu_palmer",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """sdCov: the root of the mean product of the double-centred semantic distances, over records with both values.

    References
    ----------
    Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via
    semantic rank swapping, Information Fusion 45; after Székely, Rizzo, Bakirov (2007).
    """
    a, b = _both(x, y, taxonomy_x, taxonomy_y, distance, match, normalize)
    return covariance_of_tables(contingency(a, b), distance_table(a), distance_table(b))


def distance_variance(
    values: Any,
    taxonomy: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "wu_palmer",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """sdVar: the distance covariance of an attribute with itself."""
    column = _coded(values, taxonomy, distance, match, normalize)
    _sample_marginality(column)
    return variance_of_table(column.counts, distance_table(column))


def distance_correlation(
    x: Any,
    y: Any,
    taxonomy_x: Taxonomy | str | None = None,
    taxonomy_y: Taxonomy | str | None = None,
    *,
    distance: str | Distance = "wu_palmer",
    match: Match = "id",
    normalize: Iterable[str] | str = (),
) -> float:
    """SdCor = sdCov(x, y) / sqrt(sdVar(x)·sdVar(y)), in [0, 1]; 0 if either does not vary.

    >>> round(distance_correlation(["25001", "4019", "4019"], ["25001", "4019", "4019"], "icd9cm", "icd9cm"), 6)
    1.0
    """
    a, b = _both(x, y, taxonomy_x, taxonomy_y, distance, match, normalize)
    table_a, table_b = distance_table(a), distance_table(b)
    spread = variance_of_table(a.counts, table_a) * variance_of_table(b.counts, table_b)
    if spread <= 0:
        return 0.0
    return float(covariance_of_tables(contingency(a, b), table_a, table_b) / np.sqrt(spread))


def covariance_of_tables(joint: Float, table_a: Float, table_b: Float) -> float:
    """Distance covariance from the joint counts of two attributes and their distance tables.

    The n×n sum over pairs of records is Σ_ij N_ij (A N B)_ij, with A and B the double-centred tables.
    """
    n = joint.sum()
    a = _centred(table_a, joint.sum(axis=1) / n)
    b = _centred(table_b, joint.sum(axis=0) / n)
    return _root((joint * (a @ joint @ b)).sum() / n**2)


def variance_of_table(counts: NDArray[np.int64], table: Float) -> float:
    """Distance variance from the counts of the categories and their distance table."""
    share = counts / counts.sum()
    return _root(float(share @ np.square(_centred(table, share)) @ share))


def contingency(a: CategoricalColumn, b: CategoricalColumn) -> Float:
    """The joint counts of two coded columns, over the records that have both values."""
    rows, columns = len(a.categories), len(b.categories)
    if a.codes.min(initial=0) < 0 or b.codes.min(initial=0) < 0:
        present = ~(a.missing | b.missing)
        a, b = a.take(present), b.take(present)
    pairs = a.codes * np.int64(columns) + b.codes
    return np.bincount(pairs, minlength=rows * columns).reshape(rows, columns).astype(float)


def distance_table(column: CategoricalColumn) -> Float:
    """The distances between the categories of a coded column; 0 or 1 without a taxonomy."""
    return column.table if isinstance(column, TaxonomicColumn) else 1.0 - np.eye(len(column.categories))


# --------------------------------------------------------------------------------------- inside


def _centred(table: Float, share: Float) -> Float:
    row = table @ share
    centred: Float = table - row[:, None]
    centred -= row
    centred += share @ row
    return centred


def first_smallest(sums: Float) -> int:
    """The first of the smallest marginalities; those are equal that differ by no more than 1e-12 of the largest."""
    rounding = 1e-12 * np.abs(sums[np.isfinite(sums)]).max()
    return int(np.argmax(sums <= sums.min() + rounding))


def _root(mean: float) -> float:
    """The root of a mean product; a distance that is not a metric can make it negative, which counts as 0."""
    if mean < -1e-12:
        warnings.warn(
            f"the semantic distances give a negative mean product ({mean:.3g}); it counts as 0. "
            "A distance that is a metric, such as 'ancestors', avoids this.",
            RuntimeWarning,
            stacklevel=3,
        )
    return float(np.sqrt(max(mean, 0.0)))


def _coded(
    values: Any,
    taxonomy: Taxonomy | str | None,
    distance: str | Distance,
    match: Match,
    normalize: Iterable[str] | str,
) -> CategoricalColumn:
    """Values as a coded column."""
    import pyarrow as pa

    if taxonomy is None:
        attribute = Attribute("values", kind="nominal")
    else:
        attribute = Attribute(
            "values",
            kind="taxonomic",
            taxonomy=taxonomy,
            distance=distance,
            match=match,
            normalize=check_normalize(normalize),
        )
    return code(Frame(pa.table({"values": pa.array(values)})), attribute).column.categorical


def _both(
    x: Any,
    y: Any,
    taxonomy_x: Taxonomy | str | None,
    taxonomy_y: Taxonomy | str | None,
    distance: str | Distance,
    match: Match,
    normalize: Iterable[str] | str,
) -> tuple[CategoricalColumn, CategoricalColumn]:
    """Two coded columns with the records that have both values."""
    a = _coded(x, taxonomy_x, distance, match, normalize)
    b = _coded(y, taxonomy_y, distance, match, normalize)
    if len(a) != len(b):
        raise DataError(f"x has {len(a):,} records and y has {len(b):,}.", hint="Pass two columns of one table.")
    present = ~(a.missing | b.missing)
    if not present.all():
        a, b = a.take(present), b.take(present)
    if not len(a):
        raise DataError("there is no record with both values.", hint="Pass columns with at least one complete record.")
    return a, b


def _sample_marginality(column: CategoricalColumn) -> Float:
    if not column.counts.sum():
        raise DataError("there is no value that is not missing.", hint="Pass at least one value.")
    return category_marginality(column)
