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


# What longer runs found: a separator that is a space to str.strip and not to float; columns that cannot be nullable,
# made in the child and not in its parent; names of columns that are no text.
FOUND = [("csv", 119), ("gz inside", 1586), ("feather", 880), ("sqlite", 1018)]


def test_what_was_found_stays_mended(tmp_path: Path) -> None:
    every = {target.name: target for target in targets(tmp_path)}
    for name, turn in FOUND:
        assert outcome(every[name], damaged(every[name], 1718, turn), tmp_path) in ("read", "refused"), name


@pytest.mark.parametrize("change", CHANGES)
def test_changes_depend_on_the_seed_alone(change) -> None:
    data = bytes(range(256)) * 4
    changed = {change(random.Random(seed), data) for seed in range(50)}
    assert len(changed) > 20
    assert changed == {change(random.Random(seed), data) for seed in range(50)}
    assert isinstance(change(random.Random(1), b""), bytes)  # of a file that was cut to nothing
