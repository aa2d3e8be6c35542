"""All methods that permute: shuffling and reverse mapping (shuffling.py), rank swapping (swapping.py).

python benchmarks/permutation.py [case …]
"""

from __future__ import annotations

from measuring import run
from shuffling import CASES as SHUFFLING
from swapping import CASES as SWAPPING
from swapping import MUST

if __name__ == "__main__":
    answers = run({**SHUFFLING, **SWAPPING})
    for name, must in MUST.items():
        if name in answers:
            print(f"{name}: must {must} s")
