"""The covariance matrix of a table whose columns are of several kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn, Kind, Microdata, Schema
from .statistics import category_marginality

__all__ = ["covariance_matrix"]

Float = NDArray[np.float64]


def covariance_matrix(frame: Any, schema: Schema) -> Any:
    """The variances and covariances of the attributes of a table.

    On the diagonal stand variances, elsewhere covariances: for continuous attributes, and ordinal ones by position, the
    usual ones with divisor n - 1; for taxonomic and nominal attributes Var_M (`nominal_variance`) and Covar_M
    (`nominal_covariance`), with the distance that the schema gives them. Between a number and a category there is no
    value: a covariance is defined for two numbers or for two categories only. How such a pair goes together is told by
    its distance correlation (`taxomask.measures.distance_correlations`).

    A variance is over the values that are there, a covariance over the records with both. What is left without a value
    (of numbers: with fewer than two) has none.

    Parameters
    ----------
    frame
        A pandas, polars or pyarrow table.
    schema
        What its columns are. All that have a kind and are no identifiers take part.

    Returns
    -------
    A table of the same kind with a column for each attribute. In pandas the rows are named too, as in ``frame.cov()``;
    elsewhere a first column ``attribute`` names them.

    References
    ----------
    Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Anonymization of nominal data based on semantic marginality,
    Information Sciences 242, section 2.3.2; that there is none between the two kinds is said by Domingo-Ferrer,
    Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, PSD 2012, section 4.

    Examples
    --------
    >>> import pandas as pd, taxomask as tm
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "f", "f", "m"], "ward": ["a", "b", "b", "b"]})
    >>> kinds = {"age": "continuous", "sex": "nominal", "ward": "nominal"}
    >>> schema = tm.Schema(tm.Attribute(name, role="quasi_identifier", kind=kind) for name, kind in kinds.items())
    >>> tm.covariance_matrix(table, schema).round(3)
                   age    sex   ward
    attribute
    age        166.667    NaN    NaN
    sex            NaN  1.500  1.366
    ward           NaN  1.366  1.500
    """
    data = Microdata.from_frame(frame, schema)
    names = list(data.columns)
    found = np.full((len(names), len(names)), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names[: i + 1]):
            found[i, j] = found[j, i] = _covariance(data.columns[a], data.columns[b])
    return _named(frame, names, found)


def _covariance(a: Column, b: Column) -> float:
    """Of two columns, which may be one; NaN between kinds, and where there are too few records."""
    if _numeric(a) != _numeric(b):
        return np.nan
    present = ~(a.missing | b.missing)
    x, y = (_values(column if present.all() else column.take(present)) for column in (a, b))
    if not _numeric(a):
        return float((np.sqrt(x) * np.sqrt(y)).sum() / len(x)) if len(x) else np.nan
    if len(x) < 2:
        return np.nan
    x, y = x - x.min(), y - y.min()  # a large offset costs no digits
    return float(((x - x.mean()) * (y - y.mean())).sum() / (len(x) - 1))


def _numeric(column: Column) -> bool:
    """Whether the values can be treated as numbers."""
    return column.attribute.kind in (Kind.CONTINUOUS, Kind.ORDINAL)


def _values(column: Column) -> Float:
    """The number of each record: the value itself, its position on the scale, or its marginality."""
    if isinstance(column, ContinuousColumn):
        return column.values
    if column.attribute.kind == Kind.ORDINAL:
        return column.codes.astype(np.float64)
    return np.maximum(category_marginality(column), 0.0)[column.codes]  # rounding may leave less than 0


def _named(frame: Any, names: list[str], values: Float) -> Any:
    """A table of the caller's kind with names on both sides."""
    import narwhals as nw

    title = "attribute"
    while title in names:
        title += "_"
    rows = [[None if np.isnan(value) else value for value in row] for row in values.tolist()]
    table = nw.from_dict(
        {title: names, **dict(zip(names, rows, strict=True))},
        schema={title: nw.String(), **dict.fromkeys(names, nw.Float64())},
        backend=nw.from_native(frame).implementation,
    )
    native = table.to_native()
    return native.set_index(title) if table.implementation.is_pandas_like() else native
