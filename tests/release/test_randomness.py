"""Every draw depends on seed, method, parameters and the values of the table; seeds that can be guessed are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.microdata.files import read_table, write_table
from taxomask.release.randomness import LEAST_SEED, generator, new_seed
from taxomask.release.released import row_order

N = 400
RNG = np.random.default_rng(3)
TABLE = pa.table(
    {
        "age": RNG.integers(18, 90, N).astype(float),
        "pay": RNG.lognormal(8, 1, N).round(2),
        "sex": RNG.choice(["f", "m"], N),
        "born": pa.array(np.datetime64("1950-01-01") + RNG.integers(0, 9000, N), pa.date32()),
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("pay", role="quasi_identifier", kind="continuous"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("born", role="other", kind="continuous"),
    ]
)


def noise(amount: float, table: Any = TABLE, seed: int = 7, **options: Any) -> Any:
    schema = tm.Schema(
        tm.Attribute(name, role=one.role, kind=one.kind, decimals="exact" if name == "pay" else None)
        for name, one in SCHEMA.items()
    )
    return tm.protect(table, schema, tm.Noise(amount, attributes=["pay"], **options), seed=seed)


def test_two_strengths_of_noise_with_one_seed_do_not_give_the_values() -> None:
    x = np.asarray(TABLE["pay"])
    weak, strong = (np.asarray(noise(amount).data["pay"]) for amount in (0.1, 0.2))
    guess = 2 * weak - strong
    assert np.isclose(guess, x, rtol=1e-6).mean() < 0.02  # every one of them, if both had the same draws
    assert abs(np.corrcoef(weak - x, strong - x)[0, 1]) < 0.2


def test_methods_and_tables_with_one_seed_have_rows_in_other_orders() -> None:
    other = TABLE.set_column(0, "age", pa.array(np.asarray(TABLE["age"]) + (np.arange(N) == 5)))
    draws = [
        tm.protect(table, SCHEMA, method, seed=7).audit["draws"]
        for table, method in (
            (TABLE, tm.Microaggregation(3)),
            (TABLE, tm.Microaggregation(4)),
            (TABLE, tm.RankSwapping(p=5)),
            (other, tm.Microaggregation(3)),
        )
    ]
    assert len({tuple(row_order(one, N).tolist()) for one in draws}) == 4


@pytest.mark.parametrize("kind", [pl.from_arrow, pa.Table.to_pandas, lambda table: pd.DataFrame(table.to_pydict())])
def test_the_kind_of_frame_does_not_matter(kind: Any) -> None:
    assert noise(0.1, kind(TABLE)).audit["draws"] == noise(0.1).audit["draws"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.xlsx", "a.sav", "a.arrow"])
def test_the_format_does_not_matter(tmp_path: Path, name: str) -> None:
    write_table(TABLE, tmp_path / name)
    found = noise(0.1, read_table(tmp_path / name))
    assert found.audit["draws"] == noise(0.1).audit["draws"]
    assert found.data["pay"].to_pylist() == noise(0.1).data["pay"].to_pylist()


def test_streams_are_apart() -> None:
    first, second = (generator("a", what).random(1000) for what in ("masking", "rows"))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2
    assert generator("a", "rows").random() == second[0]
    assert "ChaCha" in type(generator("a", "rows").bit_generator).__name__


def test_seeds_that_can_be_guessed_are_refused_for_files(tmp_path: Path) -> None:
    release = noise(0.1)
    with pytest.raises(tm.PlanError, match=r"a seed below 2\*\*64 can be found by trying") as found:
        release.write(tmp_path / "out.csv")
    assert "taxomask seed" in found.value.hint
    assert list(tmp_path.iterdir()) == []
    done = release.write(tmp_path / "out.csv", report=tmp_path / "report.html", practice=True)
    audit = json.loads(done.audit.read_text())
    assert (list(audit)[:2], audit["practice"]) == (["private", "practice"], "practice, not for release")
    assert done.note.read_text().startswith("**Practice, not for release.**")
    assert "Practice, not for release" in (tmp_path / "report.html").read_text()
    noise(0.1, seed=new_seed()).write(tmp_path / "good.csv")
    assert "practice" not in json.loads((tmp_path / "good.audit.json").read_text())


def test_new_seeds_are_large() -> None:
    assert min(new_seed() for _ in range(100)) >= LEAST_SEED
