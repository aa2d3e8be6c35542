"""Measures of utility as they are defined, over pairs of records, and small tables of all kinds to try them on."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import erf, isnan, log2, nan, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import taxomask as tm
from naive import DISTANCES, NaiveTaxonomy, distance_covariance

PARENTS = {
    "r": [], "a": ["r"], "b": ["r"], "a1": ["a"], "a2": ["a"], "b1": ["b"], "b2": ["b"], "b11": ["b1"], "b12": ["b1"],
}  # fmt: skip
EDGES = [(child, parent) for child, above in PARENTS.items() for parent in above]
NAIVE = NaiveTaxonomy(PARENTS)
TREE = tm.Taxonomy.from_edges(EDGES)
SCALE = ["low", "mid", "high", "top"]
SCHEMA = tm.Schema(
    [
        tm.Attribute("number", role="quasi_identifier", kind="continuous"),
        tm.Attribute("amount", role="confidential", kind="continuous"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=SCALE),
        tm.Attribute("plain", role="quasi_identifier", kind="nominal"),
        tm.Attribute("concept", role="quasi_identifier", kind="taxonomic", taxonomy=TREE),
        tm.Attribute("second", role="confidential", kind="taxonomic", taxonomy=TREE),
    ]
)
CONTINUOUS, ORDERED = ("number", "amount"), ("number", "amount", "grade")
PLAIN, TAXONOMIC = ("plain",), ("concept", "second")
NOMINAL, CATEGORICAL = (*PLAIN, *TAXONOMIC), ("grade", *PLAIN, *TAXONOMIC)
Values = dict[str, list[Any]]
Key = Any


@st.composite
def tables(draw: st.DrawFn, n: int, complete: bool = False) -> pa.Table:
    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> pa.Array:
        cell = values if complete else st.one_of(st.none(), values, values, values, values)
        return pa.array(draw(st.lists(cell, min_size=n, max_size=n)), kind)

    return pa.table(
        {
            "number": column(st.integers(-4, 4), pa.int64()),
            "amount": column(st.integers(0, 6).map(lambda i: i / 4), pa.float64()),
            "grade": column(st.sampled_from(SCALE), pa.string()),
            "plain": column(st.sampled_from("xyz"), pa.string()),
            "concept": column(st.sampled_from(sorted(PARENTS)), pa.string()),
            "second": column(st.sampled_from(["a1", "a2", "b", "b11"]), pa.string()),
        }
    )


@st.composite
def both(draw: st.DrawFn, *, least: int = 1, most: int = 14, complete: bool = False) -> tuple[pa.Table, pa.Table]:
    """An original and a released table."""
    n = draw(st.integers(least, most))
    return draw(tables(n, complete)), draw(tables(n, complete))


def coded(*frames: pa.Table) -> list[tm.Microdata]:
    return [tm.Microdata.from_frame(frame, SCHEMA) for frame in frames]


def values(table: pa.Table) -> Values:
    """Numbers, positions from 1, and categories; None where missing."""
    found = table.to_pydict()
    found["grade"] = [None if value is None else SCALE.index(value) + 1 for value in found["grade"]]
    return found


def d(name: str, a: Any, b: Any) -> float:
    if name in ORDERED:
        return abs(a - b)
    return DISTANCES["ancestors"](NAIVE, a, b, [], []) if name in TAXONOMIC else float(a != b)


def there(*columns: list[Any]) -> list[tuple[Any, ...]]:
    """The records that have all values."""
    return [row for row in zip(*columns, strict=True) if None not in row]


def average(name: str, column: list[Any]) -> Any:
    present = [value for value in column if value is not None]
    if name in CONTINUOUS:
        return sum(present) / len(present)
    if name == "grade":
        return sorted(present)[(len(present) - 1) // 2]
    order = sorted(set(present)) if name in PLAIN else [c for c in TREE if c in present]
    sums = [round(sum(d(name, one, other) for other in present), 9) for one in order]
    return order[sums.index(min(sums))]


# --------------------------------------------------------------------------------------- cells


def sse(name: str, x: list[Any], y: list[Any]) -> float:
    return sum(d(name, a, b) ** 2 for a, b in there(x, y))


def overall(name: str, x: list[Any], y: list[Any]) -> float:
    if not there(x):
        return 0.0
    centre = average(name, x)
    lost = sum(d(name, a, centre if b is None else b) ** 2 for a, b in zip(x, y, strict=True) if a is not None)
    total = sum(d(name, a, centre) ** 2 for (a,) in there(x))
    return lost / total if total else (0.0 if lost == 0 else nan)


def entropy(x: list[Any], y: list[Any]) -> float:
    rows = there(x, y)
    total = 0.0
    for _, released in rows:
        same = [a for a, b in rows if b == released]
        total += -sum(share * log2(share) for share in (count / len(same) for count in Counter(same).values()))
    return total


def table_loss(x: Values, y: Values) -> tuple[dict[Key, float], dict[Key, int], dict[Key, int]]:
    losses, cells, appeared = {}, {}, {}
    for names in [*((name,) for name in CATEGORICAL), *combinations(CATEGORICAL, 2)]:
        f = Counter(there(*(x[name] for name in names)))
        g = Counter(there(*(y[name] for name in names)))
        key = names if len(names) == 2 else names[0]
        losses[key] = sum(abs(f[cell] - g[cell]) / f[cell] for cell in f)
        cells[key] = 1
        for name in names:
            cells[key] *= len(SCALE) if name == "grade" else len({value for (value,) in there(x[name])})
        if new := sum(cell not in f for cell in g):
            appeared[key] = new
    return losses, cells, appeared


# --------------------------------------------------------------------------------------- statistics


def relative(before: float, after: float) -> float:
    if isnan(before) or isnan(after):
        return 0.0 if isnan(before) and isnan(after) else nan
    if abs(before) < 1e-9:
        return 0.0 if abs(after) < 1e-9 else nan
    return abs(after - before) / abs(before)


def marginality(name: str, column: list[Any]) -> list[float]:
    return [sum(d(name, one, other) for other in column) for one in column]


def mean(name: str, column: list[Any]) -> float:
    present = [value for (value,) in there(column)]
    if not present:
        return nan
    return float(np.mean(present)) if name in ORDERED else min(marginality(name, present)) / len(present)


def variance(name: str, column: list[Any]) -> float:
    present = [value for (value,) in there(column)]
    if not present:
        return nan
    if name in ORDERED:
        return float(np.var(present, ddof=1)) if len(present) > 1 else 0.0
    return sum(marginality(name, present)) / len(present) ** 2


def covariance(a: str, b: str, x: list[Any], y: list[Any]) -> float:
    rows = there(x, y)
    if not rows:
        return nan
    u, v = [list(column) for column in zip(*rows, strict=True)]
    if a in ORDERED:
        return float(np.cov(u, v)[0, 1]) if len(rows) > 1 else 0.0
    products = zip(marginality(a, u), marginality(b, v), strict=True)
    return sum(sqrt(one * other) for one, other in products) / len(rows) ** 2


def correlation(x: list[Any], y: list[Any]) -> float:
    rows = there(x, y)
    if len(rows) < 2:
        return 0.0
    u, v = np.array(rows, dtype=float).T
    return float(np.corrcoef(u, v)[0, 1]) if np.ptp(u) > 0 and np.ptp(v) > 0 else 0.0


def chance(difference: float, of: float) -> float:
    if abs(difference) < 1e-9:
        return 0.0
    return erf(abs(difference) / sqrt(2 * of)) if of > 1e-15 else 1.0


def quantile_loss(x: list[float], y: list[float]) -> float:
    x, y = sorted(x), sorted(y)
    h = (x[-1] - x[0]) / 1000
    losses = []
    for step in range(1, 20):
        u = step / 20
        before, after = x[int((len(x) - 1) * step // 20)], y[int((len(y) - 1) * step // 20)]
        if h == 0:
            losses.append(chance(after - before, 0.0))
            continue
        f = sum(abs(value - before) < h for value in x) / (2 * h * len(x))
        losses.append(chance(after - before, u * (1 - u) / (len(x) * f**2)))
    return sum(losses) / len(losses)


def moment(rows: np.ndarray, a: int, b: int) -> float:
    centred = rows - rows.mean(axis=0)
    return float((centred[:, 0] ** a * centred[:, 1] ** b).mean())


def joint_losses(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> tuple[float, float]:
    x, y = np.array(before, dtype=float), np.array(after, dtype=float)
    n = len(x)
    m = {(a, b): moment(x, a, b) for a in range(5) for b in range(5)}
    of_covariance = chance(moment(y, 1, 1) - m[1, 1], (m[2, 2] - m[1, 1] ** 2) / n)
    r, released = correlation(*x.T), correlation(*y.T)
    if abs(m[1, 1]) < 1e-9:
        spread = m[2, 2] / (m[2, 0] * m[0, 2]) / n if m[2, 0] * m[0, 2] > 0 else 0.0
    else:
        spread = r**2 / n * (
            m[2, 2] / m[1, 1] ** 2
            + (m[4, 0] / m[2, 0] ** 2 + m[0, 4] / m[0, 2] ** 2 + 2 * m[2, 2] / (m[2, 0] * m[0, 2])) / 4
            - m[3, 1] / (m[1, 1] * m[2, 0])
            - m[1, 3] / (m[1, 1] * m[0, 2])
        )  # fmt: skip
    return of_covariance, chance(released - r, spread)


# --------------------------------------------------------------------------------------- distances


def matrix(name: str, column: list[Any]) -> np.ndarray:
    return np.array([[d(name, one, other) for other in column] for one in column], dtype=float)


def distance_correlation(a: str, b: str, x: list[Any], y: list[Any]) -> float:
    rows = there(x, y)
    if not rows:
        return 0.0
    u, v = (matrix(name, list(column)) for name, column in zip((a, b), zip(*rows, strict=True), strict=True))
    both_vary = distance_covariance(u, u) * distance_covariance(v, v)
    return distance_covariance(u, v) / sqrt(both_vary) if both_vary > 1e-12 else 0.0
