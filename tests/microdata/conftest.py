"""Frames of every kind, from one description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from taxomask.microdata import Attribute, Schema
from taxomask.taxonomy import Taxonomy


def _pandas(columns: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def _polars(columns: dict[str, Any]) -> Any:
    import polars as pl

    return pl.DataFrame(columns, strict=False)


def _pyarrow(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


@pytest.fixture(params=[_pandas, _polars, _pyarrow], ids=["pandas", "polars", "pyarrow"])
def table(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    """Makes a table from lists; every test that asks for it runs on pandas, polars and pyarrow."""
    make: Callable[[dict[str, Any]], Any] = request.param
    return make


@pytest.fixture
def lists() -> Callable[[Any], dict[str, list[Any]]]:
    """The columns of any table as lists, with None for missing."""

    def to_lists(frame: Any) -> dict[str, list[Any]]:
        import narwhals as nw

        columns = nw.from_native(frame, eager_only=True)
        return {name: columns[name].to_arrow().to_pylist() for name in columns.columns}

    return to_lists


@pytest.fixture
def disorders() -> Taxonomy:
    """The taxonomy of P3, Figure 1, with one more branch."""
    return Taxonomy.from_edges(
        [
            ("coma", "nervous"),
            ("neuropathy", "nervous"),
            ("hepatic coma", "coma"),
            ("diabetic coma", "coma"),
        ],
        name="disorders",
    )


@pytest.fixture
def codes() -> Taxonomy:
    """Four codes below two categories; taxonomy order: root, 038, 0380, 0389, 250, 2500, 2501."""
    return Taxonomy.from_edges(
        [
            ("038", "ICD"),
            ("0380", "038"),
            ("0389", "038"),
            ("250", "ICD"),
            ("2500", "250"),
            ("2501", "250"),
        ],
        name="small icd",
    )


@pytest.fixture
def one() -> Callable[..., Schema]:
    """A schema of one attribute, called x."""

    def schema(**options: Any) -> Schema:
        return Schema([Attribute("x", role="confidential", **options)])

    return schema
