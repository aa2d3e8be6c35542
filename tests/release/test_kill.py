"""A release that is killed at any moment leaves the old file or the new one, and nothing that others can read."""

from __future__ import annotations

import gzip
import json
import random
import stat
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from disks import small_disk
from killing import Runner
from taxomask import examples
from taxomask.release.in_place import belongs, find_audit

PLAN = """
attributes:
  - {{name: id, role: identifier}}
  - {{name: age, role: quasi_identifier, kind: continuous}}
  - {{name: sex, role: quasi_identifier, kind: nominal}}
  - {{name: race, role: other}}
  - {{name: region, role: quasi_identifier, kind: nominal}}
  - {{name: n_beds, role: other}}
  - {{name: care_days, role: quasi_identifier, kind: continuous}}
  - {{name: dx01, role: confidential, kind: taxonomic, taxonomy: icd9cm}}
  - {{name: pc01, role: other}}
method: {{name: microaggregation, k: {k}}}
"""


@pytest.mark.slow  # killed_before_every_step is always run
@pytest.mark.parametrize("kills", [6, 200])
def test_killed_at_any_moment(tmp_path: Path, kills: int) -> None:
    (plan, data), target = small_table(tmp_path), tmp_path / "out.csv"
    with Runner(plan, data, target) as runner:
        assert runner.run(seed=0)
        old = target.read_bytes()
        calls = runner.run(seed=1)
        assert calls is not None
        new = target.read_bytes()
        assert old != new
        found = set()
        for moment in calls.moments(kills, random.Random(kills)):
            target.write_bytes(old)
            assert runner.run(1, moment) is None
            assert target.read_bytes() in (old, new)
            found.add("new" if target.read_bytes() == new else "old")
            for path in tmp_path.iterdir():
                if path.name.endswith(".part"):
                    found.add("part")
                    assert not path.read_text(errors="replace").startswith("id,")  # protected rows at most
                if path.name.endswith((".part", ".lock")) or ".next-" in path.name:
                    assert stat.S_IMODE(path.stat().st_mode) == 0o600
                    path.unlink()  # the next run is to make the same calls, and would settle or sweep it
    assert found == {"new", "old", "part"}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def small_table(folder: Path) -> tuple[Path, Path]:
    """A plan and sixty rows to protect by it."""
    plan, data = folder / "plan.yaml", folder / "some.csv"
    plan.write_text(PLAN.format(k=4))
    with gzip.open(examples.path(), "rt") as file:
        data.write_text("".join(islice(file, 61)))
    return plan, data


def audits_of(folder: Path, table: Path) -> list[Path]:
    """The audits, settled or not, that belong to a table."""
    every = [one for one in folder.glob("out.audit*.json") if not one.name.startswith(".")]
    return [one for one in every if belongs(json.loads(one.read_text()), table)]


@pytest.mark.parametrize("engine", ["memory", pytest.param("local", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["out.csv", *(pytest.param(one, marks=pytest.mark.slow) for one in ("out.parquet", "out.csv/"))]
)
def test_killed_before_every_step(tmp_path: Path, name: str, engine: str) -> None:
    """A table has its own audit at every instant, and the next run settles what was left."""
    plan, data = small_table(tmp_path)
    place = tmp_path / "here"
    place.mkdir()
    table, steps = place / name.rstrip("/"), 0
    with Runner(plan, data, f"{place}/{name}", engine) as runner:
        assert runner.run(seed=0, what="step")
        while True:
            steps += 1
            done = runner.run(steps, steps, what="step")  # with a seed of its own: every table is another one
            assert len(audits_of(place, table)) == 1
            assert find_audit(place / "out.audit.json", str(table)) == audits_of(place, table)[0]
            if done is not None:
                break
    assert steps > 20
    assert audits_of(place, table) == [place / "out.audit.json"]
    assert json.loads((place / "out.audit.json").read_text())["seed"] == steps + 2**64
    left = {path.name for path in place.iterdir() if "warm" not in path.name}
    assert left == {table.name, "out.audit.json", "out.note.md", f"{table.name}.html"}


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """On a real file system of 64 kB."""
    with small_disk(tmp_path / "small", "64k") as small:
        plan, target = tmp_path / "plan.yaml", small / "out.csv"
        plan.write_text(PLAN.format(k=4))
        target.write_text("old\n")
        code = "import sys; from taxomask.cli import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", code, "protect", "--plan", str(plan), str(examples.path())]
        done = subprocess.run([*command, "--force", "-o", str(target)], capture_output=True, text=True)
        assert done.returncode == 2
        assert "no space left on the device" in done.stderr.lower()
        assert target.read_text() == "old\n"
        assert [path.name for path in small.iterdir()] == ["out.csv"]
