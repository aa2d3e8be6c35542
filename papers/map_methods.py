"""The methods of the risk-utility map: those of the papers and what goes beyond them, each with a few parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import taxomask as tm
from papers.data import NUMBERS
from papers.harness import SEEDS
from papers.map_chart import COLOURS, Look

SEARCHES, SWAPS = SEEDS[:3], SEEDS[:10]  # of refined groups, semantic noise and algorithm 3, which take the longest
GROUPS = (3, 5, 10, 20, 50)
WIDE = (5, 20, 100, 200)
PERCENT = (0.5, 1, 2, 5, 10)
NOISE = (0.1, 0.25, 0.5, 1)
DOMAIN = {"age_years": [0, 120, 1], "care_days": [0, 365, 1]}  # what could be known before the table is seen


@dataclass(frozen=True, eq=False)
class Family:
    """A method with several parameters; where it comes from; how it is drawn."""

    name: str
    source: str
    look: Look
    methods: Mapping[str, tm.Method]
    flat: bool = False
    seeds: Sequence[int] = SEEDS

    @property
    def ours(self) -> bool:
        return "beyond" in self.source


def families() -> list[Family]:
    """The methods of the papers, and what was added to them, each with a few parameters."""
    code, every = ["dx01"], [*NUMBERS, "dx01"]
    printed = {f"k = {k}": tm.Microaggregation(k, scale="paper") for k in GROUPS}
    micro = {f"k = {k}": tm.Microaggregation(k) for k in GROUPS}
    hybrid: dict[str, tm.Method] = {f"k = {k}": tm.MicroHybrid(k) for k in WIDE}
    noise = {f"{a:g}": tm.Pipeline([tm.Noise(a, attributes=NUMBERS), tm.MarginalityNoise(a)]) for a in NOISE}
    blue, orange, green, purple, black, red = COLOURS
    return [
        Family(
            "MDAV-generic (flat diagnosis)",
            "P2",
            Look(blue, "circle"),
            {f"k = {k}": tm.Microaggregation(k, distance="generic") for k in GROUPS},
            flat=True,
            seeds=SEEDS[:1],
        ),
        Family(
            "MDAV (S-distance as printed)",
            "P1",
            Look(blue, "square"),
            printed,
            seeds=SEEDS[:1],
        ),
        Family("MDAV (balanced)", "beyond P1", Look(blue, "square", False), micro, seeds=SEEDS[:1]),
        Family(
            "refined groups (balanced)",
            "beyond P2",
            Look(blue, "circle", False),
            {f"k = {k}": tm.Microaggregation(k, algorithm="refined") for k in GROUPS},
            seeds=SEARCHES,
        ),
        Family(
            "MicroHybrid (as printed)",
            "P0, P1",
            Look(red, "up"),
            {f"k = {k}": tm.MicroHybrid(k, scale="paper", draw="uniform") for k in WIDE},
        ),
        Family("MicroHybrid (balanced)", "beyond P0", Look(red, "up", False), hybrid),
        Family("shuffling", "P0", Look(purple, "star"), {"": tm.Shuffling(attributes=every, given=())}),
        Family(
            "imputation with the diagnosis",
            "beyond P0",
            Look(purple, "star", False),
            {"": tm.Imputation(attributes=every, given=())},
        ),
        Family(
            "rank swapping 1",
            "P3",
            Look(green, "diamond"),
            {f"{p:g} %": tm.RankSwapping(p=p, algorithm=1) for p in PERCENT},
        ),
        Family(
            "rank swapping 2",
            "P3",
            Look(green, "down"),
            {f"{p:g} %": tm.RankSwapping(p=p, algorithm=2) for p in PERCENT},
        ),
        Family(
            "rank swapping 3 (mixed records)",
            "beyond P3",
            Look(green, "down", False),
            {f"{p:g} %": tm.RankSwapping(p=p, algorithm=3) for p in PERCENT},
            seeds=SWAPS,
        ),
        Family(
            "swapping by value and frequency",
            "P3",
            Look(green, "pentagon"),
            {
                f"{p:g} %": tm.Pipeline(
                    [tm.NumericalSwapping(p=p, attributes=NUMBERS), tm.DistributionalSwapping(p=p, attributes=code)]
                )
                for p in PERCENT
            },
        ),
        Family("random swapping", "P3", Look(green, "plus"), {"": tm.RandomSwapping()}),
        Family("noise and marginality noise", "P4, beyond P1", Look(black, "cross", False), noise),
        Family(
            "reverse-mapped noise",
            "P4, beyond P1",
            Look(orange, "pentagon", False),
            {label: tm.ReverseMapping(method) for label, method in noise.items()},
        ),
        Family(
            "reverse-mapped MDAV (as printed)",
            "P4, P1",
            Look(orange, "bar"),
            {label: tm.ReverseMapping(method) for label, method in printed.items()},
        ),
        Family(
            "reverse-mapped MDAV (balanced)",
            "P4, beyond P1",
            Look(orange, "bar", False),
            {label: tm.ReverseMapping(method) for label, method in micro.items()},
        ),
        Family(
            "reverse-mapped MicroHybrid",
            "beyond P4",
            Look(orange, "hexagon", False),
            {label: tm.ReverseMapping(method) for label, method in hybrid.items()},
        ),
        Family(
            "permutation within groups",
            "beyond P3",
            Look(purple, "diamond", False),
            {f"k = {k}": tm.GroupPermutation(k) for k in GROUPS},
        ),
        Family(
            "permutation within refined groups",
            "beyond P3",
            Look(purple, "circle", False),
            {f"k = {k}": tm.GroupPermutation(k, algorithm="refined") for k in GROUPS},
            seeds=SEARCHES,
        ),
        Family(
            "individual ranking",
            "beyond P2",
            Look(black, "square", False),
            {f"k = {k}": tm.IndividualRanking(k) for k in (*WIDE, 1_000)},
            seeds=SEEDS[:1],
        ),
        Family(
            "semantic noise",
            "beyond P1",
            Look(black, "star", False),
            {f"ε = {epsilon}": tm.SemanticNoise(epsilon, domain=DOMAIN) for epsilon in (16, 32, 64)},
            seeds=SEARCHES,
        ),
    ]
