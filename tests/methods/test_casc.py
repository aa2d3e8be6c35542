"""Known answers of the literature, from a file to a release: 100·SSE/SST of MDAV on the CASC reference data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.microdata import read_table

DATA = Path(__file__).parents[1] / "data" / "casc"
EIA = ["UTILITYID", *(f"{who}{what}" for who in ("RES", "COM", "IND", "OTH", "TOT") for what in ("REVENUE", "SALES"))]


def table(name: str) -> Any:
    whole = read_table(DATA / f"{name}.csv")
    chosen = [c for c in whole.column_names if c in EIA or c == "OTHRSALES"] if name == "EIA" else whole.column_names
    return whole.select(chosen)


def loss(table: Any, k: int) -> float:
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in table.column_names])
    release = tm.protect(table, schema, tm.Microaggregation(k))
    sse = sst = 0.0
    for name in table.column_names:
        x, y = table[name].to_numpy().astype(float), release.data[name].to_numpy()
        x, y = x - x.min(), y - x.min()
        sse += np.square(x - y).sum() / x.var()
        sst += np.square(x - x.mean()).sum() / x.var()
    return 100 * sse / sst


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CASCrefmicrodata", {3: 5.6922, 5: 9.0884, 10: 14.156}),
        ("Tarragona", {3: 16.9326, 5: 22.4619, 10: 33.1929}),
        ("EIA", {3: 0.4829, 5: 1.6667, 10: 3.8397}),
    ],
)
def test_known_losses(name: str, expected: dict[int, float]) -> None:
    for k, value in expected.items():
        assert loss(table(name), k) == pytest.approx(value, abs=1.01e-4 if value == 14.156 else 5.1e-5)


@pytest.mark.parametrize("k", [3, 10])
def test_a_large_offset_of_fractions_costs_nothing(k: int) -> None:
    census = table("CASCrefmicrodata")
    near = pa.table({name: census[name].to_numpy() / 7 for name in census.column_names})
    far = pa.table({name: census[name].to_numpy() / 7 + 1e9 for name in census.column_names})
    assert loss(far, k) == pytest.approx(loss(near, k), abs=1e-6)
