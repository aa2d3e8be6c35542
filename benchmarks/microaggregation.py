"""Exact MDAV: CPU seconds, memory, growth with n, and the ratio to a good numpy scan. Prints a table; tests nothing.

    python benchmarks/microaggregation.py [--quick]

Data are synthetic: a mixture of normals with an integer age, an integer lognormal length of stay and a lognormal
charge; mixed records add an ordinal attribute, a diagnosis with 550 codes of a made-up taxonomy (S-distance, balanced)
and two flat attributes. numpy is timed at a size that it can do, and its time for the larger table is extrapolated by
n²: those ratios are marked "est". At the size that numpy does, its partition must be identical.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxomask.partition import mdav
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm, Term

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Job:
    kind: str  # numeric, mixed, nominal
    n: int
    attributes: int
    k: int
    must: float | None = None  # the target on a quiet machine with two cores of this kind, in CPU seconds


QUICK = [
    Job("numeric", 10_000, 4, 5),
    Job("numeric", 143_472, 4, 5, 0.35),
    Job("mixed", 19_502, 7, 2, 0.25),
    Job("mixed", 19_502, 7, 5, 0.25),
    Job("nominal", 143_472, 1, 2, 0.1),
]
FULL = [
    *(Job("numeric", n, 4, 5, must) for n, must in ((10_000, None), (30_000, None), (100_000, None), (143_472, 0.35))),
    *(Job("numeric", n, 4, 5, must) for n, must in ((300_000, None), (1_000_000, 5.5))),
    Job("numeric", 143_472, 13, 5, 3.5),
    *(
        Job("mixed", n, 7, k, must)
        for k, m in ((2, 5.5), (5, 2.3), (20, 1.0))
        for n, must in ((19_502, 0.25), (143_472, m))
    ),
    Job("nominal", 143_472, 1, 2, 0.1),
    Job("nominal", 143_472, 1, 20),
    Job("numeric", 1_000_000, 3, 10),
    Job("numeric", 10_000_000, 3, 10, 65.0),
]


def numbers(n: int, d: int) -> Float:
    rng = np.random.default_rng(n + d)
    values = rng.normal(0, 3, (8, d))[rng.integers(0, 8, n)] + rng.normal(0, 1, (n, d))
    values[:, 0] = np.clip(np.rint(50 + 5 * values[:, 0]), 0, 100)
    if d > 1:
        values[:, 1] = np.rint(np.exp(1.2 + 0.8 * rng.normal(0, 1, n)))
    if d > 2:
        values[:, 2] = np.exp(9 + rng.normal(0, 1, n))
    return values


def number_term(name: str, values: Float) -> NumberTerm:
    scale = 1 / np.sqrt(2 * values.var(ddof=1))
    return NumberTerm(name, (values - values.min()) * scale, float(values.min()), float(scale))


def taxonomy_table(categories: int) -> Float:
    """log2(1 + share of ancestors not in common) of a made-up taxonomy of four levels, codes in its order."""
    rng = np.random.default_rng(categories)
    chapter = np.sort(rng.integers(0, 17, categories))
    section = np.lexsort((rng.integers(0, 8, categories), chapter))
    levels = [chapter, chapter * 1000 + np.sort(section) // 5, chapter * 1000 + np.sort(section) // 2]
    common = 1.0 + sum((level[:, None] == level).astype(float) for level in levels)
    np.fill_diagonal(common, 5.0)
    table = np.log2(1 + (10 - 2 * common) / (10 - common))
    return table


def taxonomic_term(n: int, categories: int = 550) -> TableTerm:
    rng = np.random.default_rng(n)
    share = rng.permutation(1 / np.arange(1, categories + 1) ** 0.8)
    codes = rng.choice(categories, n, p=share / share.sum()).astype(np.int32)
    counts, table = np.bincount(codes, minlength=categories), taxonomy_table(categories)
    wide = np.zeros((categories + 1, categories + 1))
    wide[:-1, :-1] = table * (n * (n - 1) / (counts @ table @ counts))
    wide[-1, :-1] = wide[:-1, -1] = wide.max()
    return TableTerm("diagnosis", codes, wide)


def space(kind: str, n: int, attributes: int) -> RecordDistance:
    rng = np.random.default_rng(n)
    terms: list[Term] = []
    if kind != "nominal":
        terms = [number_term(str(a), column) for a, column in enumerate(numbers(n, min(attributes, 13)).T)]
    if kind == "mixed":
        terms = terms[:3]
        levels = rng.integers(0, 5, n).astype(np.int32)
        scale = float(1 / np.sqrt(2 * levels.var(ddof=1)))
        terms.append(NumberTerm("beds", levels * scale, 0.0, scale, levels=levels, categories=5))
    if kind != "numeric":
        terms.append(taxonomic_term(n))
    if kind == "mixed":
        for categories in (2, 4):
            codes = rng.integers(0, categories, n).astype(np.int32)
            terms.append(EqualityTerm("flat", codes, categories / (categories - 1), categories))
    out = object.__new__(RecordDistance)
    out.names, out.n, out.terms = tuple(term.name for term in terms), n, tuple(terms)
    out.arrays  # noqa: B018 - made before the clock starts
    return out


def numpy_mdav(space: RecordDistance, k: int) -> NDArray[np.int32]:
    """A good numpy scan of numbers: columns side by side, what is used up squeezed out, no sorting of more than k."""
    values = np.ascontiguousarray(space.arrays[0].T)
    ones = [2.0 ** min(62 - space.n.bit_length() - int(np.frexp(row.max())[1]), 60) for row in values]
    whole = np.stack([np.rint(row * one) for row, one in zip(values, ones, strict=True)]).astype(np.int64)
    left, group, number = np.arange(space.n), np.empty(space.n, np.int32), 0

    def away(point: Float) -> Float:
        total = np.square(values[0] - point[0])
        for row, value in zip(values[1:], point[1:], strict=True):
            total += np.square(row - value)
        return total

    def cluster(at: int, but: int) -> NDArray[np.int64]:
        distance = away(values[:, at])
        distance[at] = -1.0
        if but >= 0:
            distance[but] = np.inf
        limit = np.partition(distance, k - 1)[k - 1]
        inside, tied = np.flatnonzero(distance < limit), np.flatnonzero(distance == limit)
        return np.concatenate([inside, tied[: k - len(inside)]])

    def squeeze(used: NDArray[np.int64]) -> None:
        nonlocal values, whole, left
        keep = np.ones(len(left), bool)
        keep[used] = False
        values, whole, left = values[:, keep], whole[:, keep], left[keep]

    while len(left) >= 2 * k:
        average = np.array([float(s) / len(left) / one for s, one in zip(whole.sum(axis=1), ones, strict=True)])
        r = int(np.argmax(away(average)))
        s = -1
        if len(left) >= 3 * k:
            distance = away(values[:, r])
            distance[r] = -1.0
            s = int(np.argmax(distance))
        used = cluster(r, s)
        group[left[used]], number = number, number + 1
        if s < 0:
            squeeze(used)
            break
        s -= int((used < s).sum())
        squeeze(used)
        used = cluster(s, -1)
        group[left[used]], number = number, number + 1
        squeeze(used)
    group[left] = number
    return group


def seconds(job: Job, repeats: int) -> tuple[float, NDArray[np.int32]]:
    table = space(job.kind, job.n, job.attributes)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        groups = mdav(table, job.k)
        best = min(best, time.process_time() - start)
    sizes = np.bincount(groups)
    assert sizes.min() >= job.k
    assert sizes.max() < 2 * job.k
    return best, groups


def numpy_seconds(k: int, d: int, n: int) -> float:
    """CPU seconds of numpy at a size that it can do; its partition must be ours."""
    table = space("numeric", n, d)
    start = time.process_time()
    groups = numpy_mdav(table, k)
    taken = time.process_time() - start
    assert (groups == mdav(table, k)).all(), "numpy and taxomask disagree"
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a minute's worth")
    quick = parser.parse_args().quick
    for kind in ("numeric", "mixed", "nominal"):
        mdav(space(kind, 30_000, 4), 5)  # compiled, or loaded from the cache
    at = 5_000 if quick else 10_000
    print(f"{'table':<26}{'k':>4}{'CPU s':>9}{'must':>7}{'numpy s':>12}{'ratio':>8}{'peak MB':>9}{'growth':>8}")
    reference: dict[tuple[int, int], float] = {}
    last: dict[tuple[str, int, int], tuple[int, float]] = {}
    for job in QUICK if quick else FULL:
        taken, _ = seconds(job, 3 if job.n < 500_000 else 1)
        key = (job.kind, job.attributes, job.k)
        growth = ""
        if key in last and last[key][0] != job.n:
            growth = f"n^{np.log(taken / last[key][1]) / np.log(job.n / last[key][0]):.2f}"
        last[key] = job.n, taken
        numpy_taken = ratio = ""
        if job.kind == "numeric":
            shape = (job.attributes, job.k)
            reference.setdefault(shape, numpy_seconds(job.k, job.attributes, at))
            estimate = reference[shape] * (job.n / at) ** 2
            numpy_taken = f"{estimate:,.1f}{'' if job.n == at else ' est'}"
            ratio = f"{estimate / taken:,.0f}x"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        name = f"{job.kind} {job.n:,} x {job.attributes}"
        must = f"{job.must:g}" if job.must else ""
        print(
            f"{name:<26}{job.k:>4}{taken:>9.3f}{must:>7}{numpy_taken:>12}{ratio:>8}{peak:>9.0f}{growth:>8}", flush=True
        )


if __name__ == "__main__":
    main()
