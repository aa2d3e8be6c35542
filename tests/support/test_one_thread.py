"""The number of threads of the library of linear algebra changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy  # noqa: F401
import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

from taxomask._support.one_thread import one_thread

PROGRAM = """
import hashlib, json
import numpy as np, pyarrow as pa
import taxomask as tm

rng = np.random.default_rng(0)
n = 12_000  # long enough for sums to be cut
age = rng.normal(50, 15, n)
table = pa.table({"age": age, "pay": 30 * age + rng.normal(0, 300, n), "sex": rng.choice(["f", "m"], n)})
schema = tm.Schema([
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    tm.Attribute("pay", role="confidential", kind="continuous"),
])
release = tm.protect(table, schema, METHOD, seed=1)
found = [release.audit["sha256"]["released"], release.evaluate().to_dict() if MEASURED else None]
print(hashlib.sha256(json.dumps(found).encode()).hexdigest())
"""


def printed(method: str, measured: bool, threads: int) -> str:
    program = PROGRAM.replace("METHOD", method).replace("MEASURED", str(measured))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize(
    ("method", "measured"),
    [
        ("tm.Noise()", True),
        ("tm.Imputation(attributes=['pay', 'sex'])", False),
        pytest.param("tm.Shuffling()", False, marks=pytest.mark.slow),
    ],
)
def test_releases_and_measures_do_not_depend_on_the_number_of_threads(method: str, measured: bool) -> None:
    assert printed(method, measured, 1) == printed(method, measured, 3)


def test_the_limit_is_lifted() -> None:
    with threadpool_limits(3, "blas"):
        with one_thread():
            assert threads() == {1}
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {3}


def test_several_threads_hold_the_limit_together() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def second() -> None:
        with one_thread():
            inside.set()
            assert go_on.wait(60)
            found.append(threads())

    found: list[set[int]] = []
    with threadpool_limits(3, "blas"):
        other = threading.Thread(target=second)
        with one_thread():
            other.start()
            assert inside.wait(60)
        # The first has ended: the second still computes with one thread.
        go_on.set()
        other.join()
        assert found == [{1}]
        assert threads() == {3}


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
