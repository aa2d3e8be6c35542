"""What a method made, rounded to as many decimals as it is released with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..engines import Keeper, Site, open_site
from ..microdata import ContinuousColumn, Kind, Microdata
from ..microdata.decimals import resolution
from .base import Masked, Method, Promise

__all__ = ["rounded"]


def rounded(site: Site, data: Microdata, masked: Masked, method: Method, promises: tuple[Promise, ...]) -> Masked:
    """A masked table with its numbers as they are released; everything after this speaks about these.

    Every column of numbers that the method changed is rounded, once for all methods and engines, as `resolution` says.
    A number that would be carried past what is promised is rounded inward, and numbers whose very values are promised
    stay as they are.
    """
    settled = {name for promise in promises for name in promise.settled(masked)}
    names = [
        name
        for name in masked.data.changed_from(data)
        if data.schema[name].kind == Kind.CONTINUOUS and name not in settled
    ]
    if not names:
        return masked
    exact = method.keeps_moments(data)
    tables = []
    for table in masked.copies or (masked.data,):
        prefix = site.prefix("rounded")
        one = replace(masked, data=table, copies=())
        jobs = [site.dump((data, one, promises, name, name in exact, prefix), prefix) for name in names]
        tables.append(site.joined(table, [site.load(made) for made in site.map(_round, jobs, "rounding")]))
    return replace(masked, data=tables[0], copies=tuple(tables) if masked.copies else ())


def _round(store: Keeper, dumped: Any) -> Any:
    site = open_site(store)
    data, masked, promises, name, exact, prefix = site.load(dumped)
    column = masked.data.columns[name]
    assert isinstance(column, ContinuousColumn)
    low, high = -np.inf, np.inf
    for promise in promises:
        least, most = promise.limits(data, masked, name)
        low, high = np.maximum(low, least), np.minimum(high, most)
    values = resolution(data.frame, data.schema[name], exact=exact).rounded(column.values, low, high)
    if np.array_equal(values, column.values, equal_nan=True):
        return site.dump(masked.data, prefix)
    return site.dump(masked.data.replace({name: column.with_values(values)}), prefix)
