"""A release that is killed at any moment leaves the old file or the new one, and nothing that others can read."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taxomask import examples

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
# Forked after the imports, so that a kill falls into the work and not into the start of Python.
RUNNER = """
import os, sys
from taxomask.cli import main
import taxomask as tm
from taxomask.carrying_out import run
from taxomask.plan import Plan
plan, data, target = sys.argv[1:4]
run(Plan.read(plan), data=data, output=target.replace("out", "warm"), force=True)
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        run(Plan.read(plan), data=data, output=target, force=True)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@pytest.mark.parametrize("kills", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path: Path, kills: int) -> None:
    plan, target = tmp_path / "plan.yaml", tmp_path / "out.csv"
    plan.write_text(PLAN.format(k=4))
    arguments = [sys.executable, "-c", RUNNER, str(plan), str(examples.path()), str(target)]
    chance = random.Random(kills)
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdin is not None
        assert runner.stdout is not None
        assert runner.stdout.readline() == "ready\n"

        def go() -> int:
            assert runner.stdin is not None
            assert runner.stdout is not None
            runner.stdin.write("go\n")
            runner.stdin.flush()
            return int(runner.stdout.readline())

        started = time.monotonic()
        go()
        assert runner.stdout.readline() == "gone\n"
        whole = time.monotonic() - started
        lines = len(target.read_text().splitlines())
        killed = new = 0
        for _ in range(kills):
            before = target.read_bytes()
            child = go()
            time.sleep(chance.uniform(0, 1.05 * whole))
            try:
                os.kill(child, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
            assert runner.stdout.readline() == "gone\n"
            after = target.read_bytes()
            assert after.endswith(b"\n")
            assert len(after.splitlines()) == lines
            new += after != before
            for path in tmp_path.iterdir():
                if path.name.endswith(".part"):
                    assert stat.S_IMODE(path.stat().st_mode) == 0o600
                    assert not path.read_text(errors="replace").startswith("id,")  # protected rows at most
        runner.stdin.close()
    assert killed > kills // 2  # the kills fell into the work
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """On a real file system of 64 kB; where it cannot be made, the test says so."""
    small = tmp_path / "small"
    small.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if made.returncode:
        reason = "a small file system can only be made by root"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    try:
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
    finally:
        subprocess.run(["umount", str(small)], check=True)
