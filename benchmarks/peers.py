"""Ours beside packages from PyPI: CPU seconds of one thread, the best of three, and their ratio. Tests nothing.

    python benchmarks/peers.py

The packages live in an environment of their own, ``.venv/peers``, which ``make bench`` makes: pycanon wants an older
numpy. Both sides are given the same tables; where both give a figure, both are shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import taxomask as tm
from linkage import masked, space
from measuring import best
from taxomask.measures.risk import class_sizes, l_diversity, t_closeness
from taxomask.partition import optimal_groups
from taxomask.partition.nearest import Neighbours

PEERS = Path(__file__).parent.parent / ".venv" / "peers" / "bin" / "python"
_TIMED = """
import json, time, numpy as np
def best(work):
    seconds = []
    for _ in range(3):
        start = time.process_time(); found = work(); seconds.append(time.process_time() - start)
    return min(seconds), found
"""
_NUMBER = """
from microagg1d import univariate_microaggregation as groups
x = np.load("number.npy")
seconds, found = best(lambda: groups(x, 5))
sizes = np.bincount(found)
means = np.bincount(found, x) / sizes
print(json.dumps([seconds, float(((x - means[found]) ** 2).sum())]))
"""
_CLASSES = """
import pandas as pd
from pycanon import anonymity
table = pd.read_csv("table.csv")
seconds, found = best(lambda: {})
print(json.dumps([seconds, float(found)]))
"""
_NEAREST = """
from sklearn.neighbors import NearestNeighbors
x, y = np.load("x.npy"), np.load("y.npy")
seconds, _ = best(lambda: NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(x).kneighbors(y))
print(json.dumps([seconds, None]))
"""


def peer(code: str, folder: str) -> tuple[float, float | None]:
    """The CPU seconds that a peer takes in a process of its own, and what it finds."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | one_thread
    command = [str(PEERS), "-c", _TIMED + code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    seconds, found = json.loads(done.stdout.splitlines()[-1])
    return seconds, found


def show(job: str, ours: float, figure: Any, theirs: tuple[float, float | None], name: str) -> None:
    figures = "" if theirs[1] is None else f"  finds {figure:.6g}, {name} {theirs[1]:.6g}"
    print(f"{job:<44}{ours:>8.3f} s  {name} {theirs[0]:.3f} s, {theirs[0] / ours:.1f}x{figures}", flush=True)


def one_number(folder: str) -> None:
    rng = np.random.default_rng(1)
    optimal_groups(rng.normal(size=100), 5)  # compiled
    for n in (10_000, 100_000, 1_000_000):
        values = rng.normal(size=n)
        np.save(f"{folder}/number.npy", values)
        groups = optimal_groups(values, 5)
        means = np.bincount(groups, values) / np.bincount(groups)
        loss = float(np.square(values - means[groups]).sum())
        seconds = best(lambda values=values: optimal_groups(values, 5))
        show(f"best groups of {n:,} numbers, k = 5", seconds, loss, peer(_NUMBER, folder), "microagg1d")


def classes(folder: str, n: int = 20_000) -> None:
    rng = np.random.default_rng(2)
    names = ["age", "sex", "region"]
    table = pa.table(
        {
            "age": rng.integers(0, 40, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(list("nesw"), n),
            "stay": rng.choice(["a", "b", "c", "d"], n),
        }
    )
    pyarrow.csv.write_csv(table, f"{folder}/table.csv")
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            *(tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in names[1:]),
            tm.Attribute("stay", role="confidential", kind="nominal"),
        ]
    )
    data = tm.Microdata.from_frame(table, schema)
    for job, call, ours in (
        ("k", f"anonymity.k_anonymity(table, {names})", lambda: class_sizes(data, data).k),
        ("l", f"anonymity.l_diversity(table, {names}, ['stay'])", lambda: l_diversity(data, data, "stay").l),
        ("t", f"anonymity.t_closeness(table, {names}, ['stay'])", lambda: t_closeness(data, data, "stay").t),
    ):
        theirs = peer(_CLASSES.replace("{}", call), folder)
        show(f"{job} of {n:,} records in 320 classes", best(ours), ours(), theirs, "pycanon")


def nearest(folder: str) -> None:
    for n in (20_000, 143_472):
        table = space("numeric", n, 4)
        queries = masked(table)
        for name, one in (("x", table), ("y", queries)):
            np.save(f"{folder}/{name}.npy", np.stack([term.coordinates for term in one.terms], axis=1))
        Neighbours(table).nearest(queries)  # compiled
        seconds = best(lambda table=table, queries=queries: Neighbours(table).nearest(queries))  # type: ignore[misc]
        show(f"nearest of {n:,} x 4", seconds, None, peer(_NEAREST, folder), "scikit-learn")


if __name__ == "__main__":
    if not PEERS.exists():
        sys.exit("peers.py: no environment of peers; `make bench` makes it.")
    with tempfile.TemporaryDirectory() as place:
        for work in (one_number, classes, nearest):
            work(place)
