"""A short run over every format; `python tests/fuzz/files.py` runs longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz.files import CHANGES, damaged, outcome, targets

TURNS = 25


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    faults = {}
    for target in targets(tmp_path):
        assert outcome(target, target.whole, tmp_path) == "read", target.name  # a seed that is no good finds nothing
        for turn in range(TURNS):
            found = outcome(target, damaged(target, 1, turn), tmp_path)
            if found not in ("read", "refused"):
                faults[target.name, turn] = found
    assert not faults


@pytest.mark.parametrize("change", CHANGES)
def test_changes_depend_on_the_seed_alone(change) -> None:
    data = bytes(range(256)) * 4
    changed = {change(random.Random(seed), data) for seed in range(50)}
    assert len(changed) > 20
    assert changed == {change(random.Random(seed), data) for seed in range(50)}
    assert isinstance(change(random.Random(1), b""), bytes)  # of a file that was cut to nothing
