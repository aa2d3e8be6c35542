"""Classes of equal records counted in chunks: as many, and as small, as counted at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.engines import Engine, Files, Memory, Scratch, Threads
from taxomask.methods import _runs
from taxomask.methods._runs import Runs, combined_on, runs_of
from taxomask.methods.base import Masked
from taxomask.methods.promises import KAnonymity
from taxomask.microdata import Microdata
from taxomask.microdata.combinations import combined
from taxomask.microdata.frames import Frame

SCHEMA = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in "abc"])


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", 7)


@pytest.mark.parametrize("largest", [2**62, 60])
def test_keys_are_equal_where_all_codes_are(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    monkeypatch.setattr(_runs, "_LARGEST", largest)
    rng = np.random.default_rng(1)
    for n in (1, 7, 8, 50):
        parts = [rng.integers(-1, high, n) for high in (1, 3, 40, 2)]
        found, expected = combined_on(Memory(), parts, n), combined(parts, n)
        assert (np.equal.outer(found, found) == np.equal.outer(expected, expected)).all()


def test_runs_of_sorted_keys() -> None:
    rng = np.random.default_rng(2)
    for case in range(300):
        n = int(rng.integers(1, 40))
        keys = np.sort(rng.integers(0, rng.integers(1, 12), n)).astype(np.int64)
        sizes = np.unique(keys, return_counts=True)[1]
        cuts = np.sort(rng.integers(1, n, case % 5)) if n > 1 else np.empty(0, np.int64)
        pieces = [piece for piece in np.split(keys, np.unique(cuts)) if len(piece)]
        found = runs_of(pieces[0])
        for piece in pieces[1:]:
            found = Runs.then(found, runs_of(piece))
        assert (found.count, found.shortest) == (len(sizes), sizes.min())


def test_k_is_the_same_in_chunks(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    with Threads(2) as workers, Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for n, values in ((3, 2), (7, 1), (40, 2), (60, 4)):
            columns = {name: [None if x == 0 else f"v{x}" for x in rng.integers(0, values, n)] for name in "abc"}
            data, frame = Microdata.from_frame(pa.table(columns), SCHEMA), Frame(pa.table(columns))
            for k in (2, 5):
                promise, masked = KAnonymity(k, ("a", "b", "c")), Masked(data)
                expected = promise.check(data, frame, masked)
                assert promise.check_on(Memory(), data, frame, masked) == expected
                assert promise.check_on(Files(workers, scratch), data, frame, masked) == expected


def test_wide_keys_are_sorted_as_they_are() -> None:
    keys = np.array([2**40, 5, 2**40 + 1, 2**40, 0], dtype=np.int64)
    assert Memory().order(keys, "").tolist() == [4, 1, 0, 3, 2]
    assert Memory().rank(keys, "").tolist() == [1, -2, 4, 1, -4]
