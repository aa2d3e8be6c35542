"""What is private says so and is its owner's only; passwords are shown nowhere; earlier releases are named."""

from __future__ import annotations

import json
import stat
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.comparison import compare
from taxomask.microdata.files import shown
from taxomask.web.workspace import Workspace

SCHEMA = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
TABLE = pa.table({"age": [21, 26, 33, 41, 47, 58, 66, 79]})


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:s3cret@db/hospital?table=stays",
        "postgresql://ann:s3@cret@db/hospital?table=stays",
        "postgresql://ann@db/hospital?password=s3cret&table=stays",
        "postgresql://ann:s3cret@db/hospital",
        "postgresql://ann:s3/cret@db/hospital?table=stays",
        "postgresql://ann:s3?cret@db/hospital?table=stays",
        "postgresql://ann:s3#cret@db/hospital?table=stays",
        "postgresql://ann:s3cret@[::1/db/hospital?table=stays",
    ],
)
def test_addresses_are_shown_without_passwords(address: str) -> None:
    assert "cret" not in shown(address)
    assert "db/hospital" in shown(address)


def test_a_scheduler_has_no_password() -> None:
    from taxomask.engines.dask import DaskCluster

    with pytest.raises(tm.EngineError, match="no user and no password: …@host:8786") as error:
        DaskCluster("tls://ann:s3cret@host:8786")
    assert "cret" not in str(error.value)


def test_the_audit_begins_with_saying_that_it_is_private(tmp_path: Path) -> None:
    done = tm.protect(TABLE, SCHEMA, tm.Microaggregation(2)).write(tmp_path / "out.csv")
    assert next(iter(json.loads(done.audit.read_text()))) == "private"
    folder = tm.protect(TABLE, SCHEMA, tm.Microaggregation(2)).write(f"{tmp_path}/more.parquet/")
    for path in (done.audit, *Path(folder.tables[0]).iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_pages_and_json_begin_with_saying_that_they_are_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from taxomask.cli import main
    from taxomask.microdata.files import write_table

    write_table(TABLE, tmp_path / "in.csv")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: in.csv\nattributes: [{name: age, role: quasi_identifier, kind: continuous}]\n"
        "method: {name: microaggregation, k: 2}\ncompare: [{name: microaggregation, k: 2}]\n"
    )
    out, page, report = (str(tmp_path / name) for name in ("out.csv", "map.html", "report.html"))
    commands = [
        ["inspect", str(tmp_path / "in.csv"), "--json"],
        ["protect", "--plan", str(plan), "-o", out, "--report", report, "--json"],
        ["evaluate", str(tmp_path / "in.csv"), out, "--plan", str(plan), "--json"],
        ["compare", "--plan", str(plan), "-o", page, "--json"],
    ]
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert not ended.value.code
        assert next(iter(json.loads(capsys.readouterr().out))) == "private"
    for path in (page, report):
        text = Path(path).read_text()
        assert "Private" in text.partition("\n")[0]
        assert text.partition("<main>")[2].lstrip().startswith('<p class="soft"><b>Private.</b>')


def test_the_note_gives_no_limits_that_are_values_of_people(tmp_path: Path) -> None:
    done = tm.protect(TABLE, SCHEMA, tm.TopBottomCoding(top=70, bottom=20)).write(tmp_path / "out.csv")
    note = done.note.read_text()
    assert "every value of age is between two limits" in note
    assert not any(str(age) in note for age in TABLE["age"].to_pylist())


def test_the_cache_of_comparisons_is_its_owners(tmp_path: Path) -> None:
    compare(TABLE, SCHEMA, [tm.Microaggregation(2)], cache=tmp_path / "kept", workers=1)
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "kept").iterdir()] == [0o600]


def test_earlier_releases_of_the_same_table_are_named(tmp_path: Path) -> None:
    first = tm.protect(TABLE, SCHEMA, tm.Microaggregation(2)).write(tmp_path / "first.csv")
    assert not any("released before" in note for note in first.release.notes)
    other = tm.protect(pa.table({"age": [*range(20, 28)]}), SCHEMA, tm.Microaggregation(2)).write(
        tmp_path / "other.csv"
    )
    assert not any("released before" in note for note in other.release.notes)
    second = tm.protect(TABLE, SCHEMA, tm.Microaggregation(3)).write(tmp_path / "second.csv")
    assert any("released before: first.csv." in note for note in second.release.notes)
    again = tm.protect(TABLE, SCHEMA, tm.Microaggregation(4)).write(tmp_path / "second.csv", force=True)
    assert any("released before: first.csv." in note for note in again.release.notes)


def test_missing_cells_that_stay_are_told_with_what_they_tell() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(50, 9, (200, 8)).round(1)
    values[rng.random((200, 8)) < 0.35] = np.nan
    table = pa.table({f"x{i}": pa.array(column, from_pandas=True) for i, column in enumerate(values.T)})
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in table.column_names])
    alone = {tuple(row) for row in np.isnan(values).tolist()}
    patterns = [tuple(row) for row in np.isnan(values).tolist()]
    expected = sum(patterns.count(one) == 1 for one in alone)
    checks = [
        check for check in tm.protect(table, schema, tm.Noise(0.1)).promise if "that were missing" in check.promise
    ]
    assert len(checks) == 1
    assert f"finds {expected:,} of 200 records" in checks[0].found
    assert expected > 20
    whole = table.set_column(0, "x0", pa.array(rng.normal(50, 9, 200))).select(["x0"])
    assert not any(
        "that were missing" in check.promise
        for check in tm.protect(whole, tm.Schema([schema["x0"]]), tm.Noise(0.1)).promise
    )


def test_a_dangling_link_in_the_temporary_folder_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "taxomask-1-gone").symlink_to(tmp_path / "nowhere")
    Workspace().close()
