"""A first look at a table in files: the same draft as of the table in one piece, whatever the pieces."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from taxomask import examples
from taxomask.microdata import read_table
from taxomask.microdata.files import open_table, write_table
from taxomask.plan import first_look
from taxomask.plan.draft import draft_schema
from taxomask.plan.first_look import FirstLook

N = 600


def table() -> pa.Table:
    """Columns of all kinds as text, with repeated, missing and many different values."""
    rng = np.random.default_rng(3)
    code, visit = rng.integers(0, 40, N), np.arange(N)
    town = [f"town {one}" for one in rng.integers(0, 150, N)]
    gone = rng.random(N) < 0.1
    columns: dict[str, Any] = {
        "visit_id": [f"v{one:05}" for one in visit],
        "patient_id": [f"P{one // 3}" if one % 7 else f"p{one // 3} " for one in visit],  # two spellings
        "national_id": ["unknown" if one % 5 == 0 else f"x{one}" for one in visit],  # only the missing one repeats
        "age": [None if no else str(20 + one % 61) for one, no in zip(visit, gone, strict=True)],
        "pay": [f"{value:.2f}" for value in rng.gamma(2, 900, N)],
        "diagnosis": [f"I{10 + one}" for one in code],
        "diagnosis_text": [f"disease {one}" for one in code],
        "town": town,
        "region": [f"region {int(one.split()[1]) // 10}" for one in town],
        "admission_date": [f"{2001 + one % 9}-{1 + one % 12:02}-{1 + one % 28:02}" for one in code],
        "remark": [None] * N,
        "grade": ["A", "a", "B"] * (N // 3),
    }
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def in_files(folder: Path, whole: pa.Table, suffix: str, parts: int = 5) -> Path:
    folder.mkdir()
    for part in range(parts):
        some = whole.slice(part * N // parts, N // parts)
        if suffix == "csv":
            pc.write_csv(some, folder / f"{part}.csv")
        else:
            pq.write_table(some, folder / f"{part}.parquet")
    return folder


@pytest.fixture(params=[(64, 1 << 17), (64, 20), (10_000, 20)], ids=["pieces", "few values", "whole, few values"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of few rows, and columns of which few values are held."""
    monkeypatch.setattr(first_look, "_PIECE", request.param[0])
    monkeypatch.setattr(first_look, "MANY", request.param[1])


@pytest.mark.usefixtures("small")
def test_every_way_to_read_gives_the_same_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table()
    folders = [in_files(tmp_path / suffix, whole, suffix) for suffix in ("csv", "parquet")]
    write_table(whole, tmp_path / "one.csv")
    found = [
        draft_schema(open_table(one, text=True), beside=one, roles={"*": "other"})
        for one in [*folders, tmp_path / "one.csv"]
    ]
    monkeypatch.setattr(first_look, "MANY", 1 << 17)
    expected = draft_schema(whole, roles={"*": "other"})
    assert expected.person == "patient_id"
    assert expected["region"].follows == "town"
    assert expected["diagnosis_text"].follows == "diagnosis"
    assert [one.to_dict() for one in found] == [expected.to_dict()] * 3


@pytest.mark.parametrize("limit", [1, 7, 20, 599, 600])
@pytest.mark.usefixtures("small")
def test_the_most_frequent_values_are_those_that_counting_finds(tmp_path: Path, limit: int) -> None:
    whole = table()
    look = FirstLook(open_table(in_files(tmp_path / "csv", whole, "csv"), text=True))
    assert look.n == N
    for name in whole.column_names:
        values = [one for one in whole[name].to_pylist() if one is not None]
        often = Counter(values)  # in the order in which they are met
        top = [value for value, _ in often.most_common(limit)]
        found = look.frequent(name, limit)
        assert (found.rows, found.distinct) == (N, len(often)), name
        chosen = dict(zip(found.values, found.counts.tolist(), strict=True))
        if len(often) <= limit or not found.complete:
            assert list(chosen) == [value for value in often if value in top], name
        assert all(often[value] == count for value, count in chosen.items())


@pytest.mark.usefixtures("small")
def test_whoever_stands_in_several_rows_is_found(tmp_path: Path) -> None:
    look = FirstLook(open_table(in_files(tmp_path / "parquet", table(), "parquet"), text=True))
    found = {name: look.repeats(name, ("", "unknown")) for name in ("visit_id", "patient_id", "national_id", "remark")}
    assert found == {"visit_id": False, "patient_id": True, "national_id": False, "remark": False}
    assert look.repeats("national_id", ())


@pytest.mark.usefixtures("small")
def test_what_goes_with_what_is_counted(tmp_path: Path) -> None:
    whole = table()
    look = FirstLook(open_table(in_files(tmp_path / "csv", whole, "csv"), text=True))
    for leader in ("town", "diagnosis", "grade", "visit_id", "age"):
        for name in ("region", "diagnosis_text", "patient_id", "remark", "pay", "admission_date"):
            rows = [
                (one, other)
                for one, other in zip(whole[leader].to_pylist(), whole[name].to_pylist(), strict=True)
                if one and other
            ]
            beside: dict[str, Counter[str]] = {}
            for one, other in rows:
                beside.setdefault(one, Counter())[other] += 1
            values = len({one for one in whole[leader].to_pylist() if one})
            others = len({one for one in whole[name].to_pylist() if one})
            share = sum(max(one.values()) for one in beside.values()) / len(rows) if rows else 0.0
            says = others >= 2 and others <= values and 2 * values <= len(rows) and share >= 0.9
            found = look.goes_with(leader, name, 0.9)
            assert found[1] == values
            assert (found[0] if found[0] >= 0.9 else 0.0) == pytest.approx(share if says else 0.0), (leader, name)


def test_types_of_files_are_kept(tmp_path: Path) -> None:
    whole = read_table(examples.path())
    write_table(whole, tmp_path / "typed.parquet")
    assert draft_schema(open_table(tmp_path / "typed.parquet")).to_dict() == draft_schema(whole).to_dict()


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="but no rows"):
        draft_schema(open_table(tmp_path / "empty.csv", text=True))
