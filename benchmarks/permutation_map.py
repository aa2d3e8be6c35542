"""All methods on one scale, how far they move records: docs/permutation.md, made from the neoplasm discharges.

python benchmarks/permutation_map.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import taxomask as tm
from taxomask.measures import distance_correlations, overall_loss
from taxomask.measures.risk import permutation_distance, record_linkage

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
SEEDS = (0, 1, 2)
NUMBERS = ("age_years", "care_days")
TEXT = """# All methods on one scale
How far does a method move a record? The [permutation distance](measures.md#the-permutation-paradigm) answers that for
every method alike: the change of rank after reverse mapping, as a share of all ranks. In a random order it is a third.
Here on the {n:,} neoplasm discharges of NHDS 2010 (age, days of care, diagnosis), the means over {seeds} seeds, from
the method that moves records least to the one that moves them most. Made by `benchmarks/permutation_map.py`.

| method | distance | largest | found by ranks | linkage | loss | change of correlations |
|---|---|---|---|---|---|---|
{rows}

*Distance*: the mean over records and columns. *Largest*: over the columns of a record, on average. *Found by ranks*:
the share of records that the intruder links rightly who knows all original and released records. *Linkage*: the
share that the nearest released record, by the record distance, gives away. *Loss* and *change of correlations*
(distance correlations) as in [Measures](measures.md).

- The same distance is not the same protection: what counts is whether the columns of a record are moved together.
  Individual ranking, top and bottom coding and PRAM of one column move little, and the columns together give most
  records away.
- Methods whose groups or classes have at least k records bound what is found by 1/k on average, at whatever distance:
  microaggregation, group permutation, reverse mapping of microaggregation, generalisation, suppression (whose distance
  is that of the cells which are left). The others do not.
- Of these, group permutation keeps the distance correlations best, for more loss than microaggregation and less than
  reverse mapping.
"""


def methods() -> dict[str, tm.Method]:
    every = [*NUMBERS, "dx01"]
    return {
        "individual ranking, k = 5": tm.IndividualRanking(5),
        "individual ranking, k = 50": tm.IndividualRanking(50),
        "microaggregation, k = 5": tm.Microaggregation(5),
        "microaggregation, k = 20": tm.Microaggregation(20),
        "group permutation, k = 5": tm.GroupPermutation(5),
        "group permutation, refined, k = 5": tm.GroupPermutation(5, algorithm="refined"),
        "group permutation, k = 20": tm.GroupPermutation(20),
        "reverse mapping of microaggregation, k = 5": tm.ReverseMapping(tm.Microaggregation(5)),
        "reverse mapping of microaggregation, k = 20": tm.ReverseMapping(tm.Microaggregation(20)),
        "MicroHybrid, k = 5": tm.MicroHybrid(5),
        "rank swapping 3, k = 5": tm.RankSwapping(k=5, algorithm=3),
        "rank swapping 3, 5 %": tm.RankSwapping(p=5, algorithm=3),
        "rank swapping 2, 5 %": tm.RankSwapping(p=5, algorithm=2),
        "random swapping": tm.RandomSwapping(),
        "shuffling, nothing given": tm.Shuffling(attributes=every, given=()),
        "noise 0.3 and marginality noise 0.3": tm.Pipeline(
            [tm.Noise(0.3, attributes=NUMBERS), tm.MarginalityNoise(0.3)]
        ),
        "PRAM of the diagnosis, 80 % kept": tm.Pram(0.8),
        "rounding to 5 and recoding to level 4": tm.Pipeline([tm.Rounding(5), tm.Recoding(4)]),
        "generalisation, k = 5": tm.Generalisation(5),
        "semantic noise, ε = 32": tm.SemanticNoise(32, domain={"age_years": [0, 120, 1], "care_days": [0, 365, 1]}),
        "multiplicative noise 0.3 and PRAM, 60 % kept": tm.Pipeline(
            [tm.MultiplicativeNoise(0.3, attributes=NUMBERS), tm.Pram(0.6)]
        ),
        "numerical and distributional swapping, 5 %": tm.Pipeline(
            [tm.NumericalSwapping(p=5, attributes=NUMBERS), tm.DistributionalSwapping(p=5, attributes=("dx01",))]
        ),
        "numerical and topological swapping, 5 %": tm.Pipeline(
            [tm.NumericalSwapping(p=5, attributes=NUMBERS), tm.TopologicalSwapping(p=5, attributes=("dx01",))]
        ),
        "top and bottom coding, 5 %": tm.TopBottomCoding(95, 5),
        "imputation of all columns, nothing given": tm.Imputation(attributes=every, given=()),
        "suppression, k = 5": tm.Suppression(5),
    }


def measured(data: tm.Microdata, method: tm.Method) -> list[float]:
    found = []
    for seed in SEEDS:
        masked = method.mask(data, np.random.default_rng(seed)).data
        moved = permutation_distance(data, masked, rng=np.random.default_rng(seed))
        assert moved.intruder is not None
        found.append(
            [
                moved.records_mean.mean,
                moved.records_largest.mean,
                moved.intruder.links.value,
                record_linkage(data, masked).expected.value,
                overall_loss(data, masked).overall,
                distance_correlations(data, masked).overall,
            ]
        )
    means: list[float] = np.mean(found, axis=0).tolist()
    return means


def main() -> None:
    from papers.data import discharge_schema, discharges

    data = tm.Microdata.from_frame(discharges("neoplasm"), discharge_schema())
    points = {}
    for name, method in methods().items():
        points[name] = measured(data, method)
        print(name, *(f"{value:.4f}" for value in points[name]), flush=True)
    ordered = sorted(points.items(), key=lambda one: one[1][0])
    rows = "\n".join(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |" for name, values in ordered)
    (ROOT / "docs" / "permutation.md").write_text(TEXT.format(n=data.n, seeds=len(SEEDS), rows=rows), encoding="utf-8")


if __name__ == "__main__":
    main()
