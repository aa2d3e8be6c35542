"""Microaggregation in blocks: time against the size of the table, and the loss against the unblocked result.

The loss is Σ δ² between records and the averages of their groups, on the synthetic tables of microaggregation.py.

python benchmarks/blocks.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from measuring import timed
from microaggregation import space
from taxomask.partition import mdav, median_cuts, members
from taxomask.records import RecordDistance

K = 5


def loss(table: RecordDistance, groups: NDArray[np.int32]) -> float:
    """Within-group squares of the number coordinates."""
    values = table.arrays[0]
    sizes = np.bincount(groups)
    means = np.stack([np.bincount(groups, weights=column) / sizes for column in values.T], axis=1)
    return float(np.square(values - means[groups]).sum())


def blocked(table: RecordDistance, size: int) -> NDArray[np.int32]:
    groups, first = np.empty(table.n, dtype=np.int32), 0
    for rows in members(median_cuts(table, size)):
        inside = mdav(table.take(rows), K)
        groups[rows] = inside + first
        first += int(inside.max()) + 1
    return groups


def main() -> None:
    print(f"{'records':>10} {'block size':>11} {'CPU s':>8} {'ns per record':>14} {'loss against unblocked':>23}")
    mdav(space("numeric", 20_000, 4), K)  # load the kernels
    for n in (100_000, 1_000_000, 3_000_000):
        table = space("numeric", n, 4)
        whole = None
        if n <= 1_000_000:
            groups, seconds = timed(lambda table=table: mdav(table, K))
            whole = loss(table, groups)
            print(f"{n:>10,} {'unblocked':>11} {seconds:>8.2f} {1e9 * seconds / n:>14,.0f} {'':>23}", flush=True)
        for size in (2_000, 10_000, 50_000):
            groups, seconds = timed(lambda table=table, size=size: blocked(table, size))
            assert np.bincount(groups).min() >= K
            against = f"{100 * (loss(table, groups) / whole - 1):+.1f} %" if whole else ""
            print(f"{n:>10,} {size:>11,} {seconds:>8.2f} {1e9 * seconds / n:>14,.0f} {against:>23}", flush=True)


if __name__ == "__main__":
    main()
