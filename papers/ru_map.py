"""Risk against utility of the methods of all five papers on one table, which none of the papers has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import taxomask as tm
from papers import map_chart
from papers.data import discharge_schema, discharges
from papers.harness import SEEDS, Interval, Page, Value, number, over_seeds
from papers.map_methods import SEARCHES, SWAPS, Family, families
from taxomask.measures import distance_correlations, overall_loss
from taxomask.measures.risk import class_sizes, interval_disclosure, record_linkage

LIMITS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
KEYS = ("MDAV (balanced)", "shuffling")

LOSSES = {"loss": "loss of the values", "connections": "change of the connections"}


@dataclass(frozen=True, eq=False)
class Point:
    """What one method with its parameters reached, the means over the seeds."""

    family: Family
    label: str
    found: Mapping[str, Interval]

    @property
    def name(self) -> str:
        return f"{self.family.name}, {self.label}" if self.label else self.family.name

    def __getitem__(self, what: str) -> float:
        return self.found[what].mean


def measured(family: Family, label: str) -> Point:
    """Risk and losses of one method, over the seeds."""
    table, schema = discharges("neoplasm"), discharge_schema()

    def one(seed: int) -> dict[str, float]:
        release = tm.protect(table, discharge_schema(family.flat), family.methods[label], seed=seed)
        both = release.original, release.released
        if family.flat:  # measured with the meaning of the codes all the same
            both = tm.Microdata.from_frame(table, schema), tm.Microdata.from_frame(release.data, schema)
        return {
            "risk": record_linkage(*both).expected.value,
            "interval": interval_disclosure(*both).mean,
            "k": class_sizes(*both).k,
            "loss": overall_loss(*both).overall,
            "connections": distance_correlations(*both).overall,
        }

    return Point(family, label, over_seeds(one, family.seeds))


def everything(quick: bool) -> list[Point]:
    """All points; in a hurry, those of the families with key cells."""
    chosen = [family for family in families() if not quick or family.name in KEYS]
    return [measured(family, label) for family in chosen for label in family.methods]


def beats(one: Point, other: Point, loss: str) -> bool:
    """No worse in risk and in loss, and clearly better in one of them: the intervals are apart."""
    apart = any(one.found[what].high < other.found[what].low for what in ("risk", loss))
    return apart and one["risk"] <= other["risk"] and one[loss] <= other[loss]


def front(points: Sequence[Point], loss: str) -> list[Point]:
    """The points that no other beats, by loss."""
    best = [one for one in points if not any(beats(other, one, loss) for other in points)]
    return sorted(best, key=lambda point: point[loss])


def dominated(points: Sequence[Point], loss: str) -> dict[str, list[str]]:
    """For each family, the families of which every point is beaten by one of its own."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.family.name, []).append(point)
    return {
        one: [
            other
            for other, theirs in groups.items()
            if other != one and all(any(beats(a, b, loss) for a in ours) for b in theirs)
        ]
        for one, ours in groups.items()
    }


def best(points: Sequence[Point], loss: str, limit: float) -> Point:
    """The point with the smallest loss among those whose risk is acceptable."""
    return min((point for point in points if point["risk"] <= limit), key=lambda point: point[loss])


def page(quick: bool = False) -> Page:
    page = Page("ru_map", "Risk and utility of all methods on one table")
    with page.timed("all methods" if not quick else "some methods"):
        points = everything(quick)
    for point in points:
        if point.family.name in KEYS:
            for what in ("risk", *LOSSES):
                page.key(f"{point.name}: {what}", point[what])
    if quick:
        return page
    n = discharges("neoplasm").num_rows
    page.text(
        f"""
None of the five papers sets all of these methods side by side. Here they are, and what goes beyond them, on one
table: the {n:,} neoplasm discharges of NHDS 2010 (age, days of care, diagnosis in ICD-9-CM), which stand in for the
Californian discharges of the papers. Every method masks all three columns. Where chance enters, figures are means
of {len(SEEDS)} seeds ({len(SWAPS)} for rank swapping 3, {len(SEARCHES)} for refined groups and semantic noise, which
take the longest).

- **Risk**: the expected share of records that an intruder who knows all three values links rightly, with the nearest
  record by S-distance. A random guess is right for 1 in {n:,}.
- **Loss of the values**: SSE/SST, the mean of the three columns: what a single record is worth.
- **Change of the connections**: the mean absolute change of the three distance correlations: what an analysis is worth.
  Methods that exchange or redraw values lose the first and may keep the second, so there are two maps.

A point **beats** another if it is no worse in risk and loss, and in one of them better by more than chance: the 95 %
intervals of the means are apart.
"""
    )
    for loss, name in LOSSES.items():
        page.text(f"## {name[0].upper()}{name[1:]}")
        page.figure(
            loss, chart(points, loss, n), f"Risk against {name}; the grey stairs join what no other point beats"
        )
        _sentences(page, points, loss)
    page.text("## The best choice at a given risk")
    for loss, name in LOSSES.items():
        _choices(page, points, loss, name)
    page.text("## What the map says")
    _claims(page, points)
    page.text("## All points")
    edge = {loss: front(points, loss) for loss in LOSSES}
    page.table(
        "",
        ["method", "from", "risk", "interval disclosure", "k", *LOSSES.values(), "on a front"],
        [
            [
                point.name,
                point.family.source,
                *(point.found[what] for what in ("risk", "interval", "k", *LOSSES)),
                ", ".join({"loss": "values"}.get(loss, loss) for loss in LOSSES if point in edge[loss]),
            ]
            for point in points
        ],
    )
    page.text(
        "Intervals (95 %) are those of the mean over seeds. Interval disclosure is the share of original values within "
        "5 % of the ranks (or of the nearest codes) around the released one, k the smallest class of equal records."
    )
    return page


def chart(points: Sequence[Point], loss: str, n: int) -> str:
    """One map."""
    series = [
        map_chart.Series(
            family.name,
            family.look,
            [
                (p[loss], p["risk"], (p.label or family.name).replace("k = ", "").replace(" %", ""))
                for p in points
                if p.family is family
            ],
        )
        for family in dict.fromkeys(point.family for point in points)
    ]
    return map_chart.draw(
        series,
        [(point[loss], point["risk"]) for point in front(points, loss)],
        title=f"Risk against {LOSSES[loss]}: {n:,} discharges, age, days of care and diagnosis",
        loss={
            "loss": "loss of the values, SSE/SST (1: everybody's average; 2: random order)",
            "connections": "mean absolute change of the distance correlations",
        }[loss],
        risk="risk: share of records linked rightly",
        guess=1 / n,
    )


def _sentences(page: Page, points: Sequence[Point], loss: str) -> None:
    edge = front(points, loss)
    counts = {
        family: sum(p.family.name == family for p in edge) for family in dict.fromkeys(p.family.name for p in edge)
    }
    listed = ", ".join(f"{count} of {family}" for family, count in counts.items())
    page.text(
        f"{len(edge)} of the {len(points)} points are beaten by no other, in order of the loss: {listed}. Families "
        "that beat every point of another:"
    )
    for one, others in dominated(points, loss).items():
        if others:
            page.text(f"- **{one}** beats every point of {'; '.join(others)}.")


def _choices(page: Page, points: Sequence[Point], loss: str, name: str) -> None:
    old = [point for point in points if not point.family.ours]
    rows: list[list[Value]] = []
    for limit in LIMITS:
        theirs, ours = best(old, loss, limit), best(points, loss, limit)
        rows.append(
            [f"{limit:g}", theirs.name, theirs[loss], ours.name, ours[loss], f"{1 - ours[loss] / theirs[loss]:.0%}"]
        )
    page.table(
        f"Smallest {name} at a risk of at most …",
        ["risk", "of the papers", "loss", "of all", "loss", "less by"],
        rows,
    )


def _claims(page: Page, points: Sequence[Point]) -> None:
    by = {(point.family.name, point.label): point for point in points}

    def lower(one: str, other: str, what: str, sentence: str) -> None:
        pairs = [(by[one, label], by[other, label]) for family, label in by if family == one]
        wins = sum(a[what] < b[what] for a, b in pairs)
        shown = "; ".join(f"{a.label}: {number(a[what], 3)} for {number(b[what], 3)}" for a, b in pairs)
        page.check(sentence, wins == len(pairs), f"{wins} of {len(pairs)}: {shown}.")

    lower(
        "MDAV (balanced)",
        "MDAV (S-distance as printed)",
        "loss",
        "With the balanced S-distance, groups of the same size lose less of the values than with the printed one",
    )
    lower(
        "refined groups (balanced)",
        "MDAV (balanced)",
        "loss",
        "Refined groups lose less of the values than those of MDAV",
    )
    lower(
        "refined groups (balanced)",
        "MDAV (balanced)",
        "risk",
        "Refined groups have a smaller risk than those of MDAV",
    )
    lower(
        "reverse-mapped MDAV (balanced)",
        "MDAV (balanced)",
        "risk",
        "Reverse mapping lowers the risk of microaggregation at every k",
    )
    lower(
        "reverse-mapped MDAV (balanced)",
        "MDAV (balanced)",
        "loss",
        "Reverse mapping lowers the loss of microaggregation at every k",
    )
    lower(
        "reverse-mapped MicroHybrid",
        "MicroHybrid (balanced)",
        "risk",
        "Reverse mapping lowers the risk of MicroHybrid at every k",
    )
    lower(
        "reverse-mapped noise",
        "noise and marginality noise",
        "risk",
        "Reverse mapping lowers the risk of noise at every amount",
    )
    lower(
        "rank swapping 3 (mixed records)",
        "rank swapping 2",
        "risk",
        "Swapping whole records has a smaller risk than swapping column by column, at every interval",
    )
    imputed, shuffled = by["imputation with the diagnosis", ""], by["shuffling", ""]
    page.check(
        "Imputation that includes the diagnosis keeps the connections better than shuffling, at a risk of the same "
        "order",
        imputed["connections"] < shuffled["connections"] and imputed["risk"] < 10 * shuffled["risk"],
        f"Change {number(imputed['connections'], 3)} for {number(shuffled['connections'], 3)}, risk "
        f"{number(imputed['risk'], 3)} for {number(shuffled['risk'], 3)}.",
    )
    old = [point for point in points if not point.family.ours]
    new = [point for point in points if point.family.ours]
    for loss, name in LOSSES.items():
        beaten = [one for one in old if any(beats(other, one, loss) for other in new)]
        page.check(
            f"Every point of the papers is beaten, in risk and {name}, by a point that goes beyond them",
            len(beaten) == len(old),
            f"{len(beaten)} of {len(old)} are"
            + ("." if len(beaten) == len(old) else f"; not: {'; '.join(p.name for p in old if p not in beaten)}."),
        )
