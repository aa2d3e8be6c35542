"""The best groups of one number, from array to groups: CPU seconds, beside what they must be.

python benchmarks/one_number.py
"""

from __future__ import annotations

import numpy as np

from measuring import best
from taxomask.partition import optimal_groups

MUST = {10_000: 0.005, 100_000: 0.04, 1_000_000: 0.4}

if __name__ == "__main__":
    values = np.random.default_rng(1).normal(size=max(MUST))
    optimal_groups(values[:100], 5)  # compiled
    for n, must in MUST.items():
        for k in (3, 5, 500):
            seconds = best(lambda n=n, k=k: optimal_groups(values[:n], k), 5)  # type: ignore[misc]
            print(f"{n:>9,} values, k = {k:>3}: {seconds:.4f} s (must {must} s)")
