"""What semantic noise leaves of codes: the error of estimated chapter counts, beside PRAM of equal risk. Tests nothing.

    python benchmarks/semantic_noise.py [records]

The diagnoses are those of the shipped example (2,000 real discharges), at the level of three digits, drawn with
replacement to 100,000 records. The domain is every three-digit category of ICD-9-CM. Risk is the chance that the best
guess of a code from its release is right, for somebody who knows how frequent all codes are. The error is the root of
the mean variance of the counts of chapters, computed from the matrices (nothing is drawn), in % of the records:
corrected counts for noise and randomised response; for PRAM, which is invariant, the counts as they are released.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa

import taxomask as tm
from taxomask import examples
from taxomask.methods._ancestors import cut
from taxomask.methods._transition import Transition
from taxomask.methods.estimated_counts import _corrected
from taxomask.microdata import Microdata, read_table

CATEGORY = 4  # the depth of three-digit categories in ICD-9-CM
CHAPTER = 2


def main(n: int) -> None:
    icd = tm.Taxonomy.builtin("icd9cm")
    texts = read_table(examples.path(), ["dx01"], text=True)["dx01"].to_pylist()
    positions = cut(icd, icd.lookup([one for one in texts if one]), CATEGORY)
    drawn = positions[np.random.default_rng(1).integers(0, len(positions), n)]
    domain = [icd.ids[i] for i in np.flatnonzero(icd.depth == CATEGORY)]
    domain = sorted({*domain, *(icd.ids[i] for i in np.unique(drawn))})
    table = pa.table({"dx": [icd.ids[i] for i in drawn.tolist()]})
    print(f"{n:,} records, a domain of {len(domain):,} codes, {len(np.unique(drawn))} of them occur\n")
    schemas = {
        distance: tm.Schema(
            [tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy=icd, distance=distance)]
        )
        for distance in ("ancestors", "equality")
    }
    tables = {distance: Microdata.from_frame(table, schema) for distance, schema in schemas.items()}
    print(
        "| ε | code stays: noise / `sharp` / response | risk: noise / `sharp` | error %: noise / `sharp` / response "
        "| PRAM of the risk of noise / of `sharp` |"
    )
    print("|---|---|---|---|---|")
    for epsilon in (1, 2, 4, 8, 16, 32):
        cases = {
            "noise": (tm.SemanticNoise(epsilon, domain={"dx": domain}), "ancestors"),
            "sharp": (tm.SemanticNoise(epsilon, domain={"dx": domain}, sharp=True), "ancestors"),
            "response": (tm.SemanticNoise(epsilon, domain={"dx": domain}), "equality"),
        }
        stays, risk, error = [], {}, []
        for name, (method, distance) in cases.items():
            transition = method.transition(tables[distance], "dx")
            assert transition is not None
            counts = np.bincount(transition.numbers(tables[distance].columns["dx"]), minlength=len(transition.values))
            matrix = transition.matrix()
            stays.append(f"{counts @ matrix.diagonal() / n:.3f}")
            risk[name] = float((counts[:, None] * matrix).max(axis=0).sum() / n)
            groups = chapters(icd, transition)
            try:
                found = _corrected(transition, counts @ matrix, groups, int(groups.max()) + 1, "dx")[1]
                error.append(f"{100 * np.sqrt(found.mean()) / n:.2f}")
            except tm.DataError:
                error.append("singular")
        print(
            f"| {epsilon} | {' / '.join(stays)} | {risk['noise']:.3f} / {risk['sharp']:.3f} | {' / '.join(error)} "
            f"| {pram(icd, tables['ancestors'], risk['noise'])} / {pram(icd, tables['ancestors'], risk['sharp'])} |"
        )


def chapters(icd: tm.Taxonomy, transition: Transition) -> np.ndarray:
    assert transition.positions is not None
    return np.unique(cut(icd, transition.positions, CHAPTER), return_inverse=True)[1]


def pram(icd: tm.Taxonomy, data: Microdata, risk: float) -> str:
    """The error of PRAM with flat redraws (semantic ones cannot be told from the original so well) of the same risk."""
    low, high = 1e-9, 1.0
    for _ in range(30):
        keep = (low + high) / 2
        transition = tm.Pram(keep, semantic=False).transition(data, "dx")
        counts = np.bincount(transition.numbers(data.columns["dx"]), minlength=len(transition.values))
        matrix = transition.matrix()
        found = float((counts[:, None] * matrix).max(axis=0).sum() / data.n)
        low, high = (keep, high) if found < risk else (low, keep)
    member = np.eye(chapters(icd, transition).max() + 1)[chapters(icd, transition)]
    each = matrix @ member
    return f"{100 * np.sqrt((counts @ (each * (1 - each))).mean()) / data.n:.2f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
