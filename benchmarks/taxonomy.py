"""Loading taxonomies, distance matrices, marginality and distance covariance, against other libraries and naive code.

python benchmarks/taxonomy.py [CASE …]
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import taxomask as tm
from measuring import best, peak, run, timed
from synthetic import random_taxonomy
from taxomask.semantics import covariance_of_tables
from taxomask.taxonomy import Taxonomy, builtin
from taxomask.taxonomy.distances import get_distance

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import naive

DATA = Path(__file__).parents[1] / "tests" / "data"
OBO = {"doid": DATA / "doid" / "doid.obo.gz", "go": DATA / "go" / "go-basic.obo.gz"}
WORDNET = DATA / "wordnet30" / "wordnet30_noun_edges.csv.gz"
NACE = DATA / "nace_rev2" / "nace_rev2_skos.ttl.gz"
CANCER = DATA / "doid" / "DO_cancer_slim.owl.gz"


# --------------------------------------------------------------------------------------- loading


def load(path: Path, *others: str) -> dict[str, Any]:
    taxonomy, seconds = timed(lambda: Taxonomy.read(path))
    answer: dict[str, Any] = {"concepts": len(taxonomy), "CPU s": seconds}
    for library in others:
        _, theirs = timed(partial(_LIBRARIES[library], path))
        answer[f"{library} ÷ ours"] = theirs / seconds
    return answer


def _pronto(path: Path) -> object:
    import warnings

    import pronto

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pronto.Ontology(str(path))


def _obonet(path: Path) -> object:
    import obonet

    return obonet.read_obo(str(path))


def _rdflib(path: Path) -> object:
    import rdflib

    graph = rdflib.Graph()
    return graph.parse(data=gzip.open(path).read(), format="turtle" if ".ttl" in path.name else "xml")


_LIBRARIES: dict[str, Callable[[Path], object]] = {"pronto": _pronto, "obonet": _obonet, "rdflib": _rdflib}


# --------------------------------------------------------------------------------------- matrices and marginality


def matrix(path: Path, distance: str, size: int = 10_000) -> dict[str, Any]:
    taxonomy = Taxonomy.read(path)
    rng = np.random.default_rng(1)
    positions = np.sort(rng.choice(len(taxonomy.ids), size, replace=False)).astype(np.int32)
    taxonomy.table(positions[:10], distance=distance)  # load the kernels
    seconds = timed(lambda: taxonomy.table(positions, distance=distance).shape)[1]
    answer = {"CPU s": seconds, "peak MB": peak()}
    if distance == "lin":  # its naive version counts descendants one by one: hours
        return answer
    reference = naive.NaiveTaxonomy({c: list(taxonomy.parents(c)) for c in taxonomy.ids})
    some = taxonomy.names(rng.choice(positions, 8, replace=False))
    expected, theirs = timed(
        lambda: [
            [naive.DISTANCES[distance](reference, a, b, [taxonomy.root], taxonomy.ids) for b in some] for a in some
        ]
    )
    np.testing.assert_allclose(taxonomy.distance_matrix(some, distance=distance, sample=[taxonomy.root]), expected)
    return {**answer, "naive ÷ ours": theirs / len(some) ** 2 / (seconds / size**2)}


def marginality(concepts: int, sampled: int, depth: int, second_parents: float, distance: str) -> dict[str, Any]:
    taxonomy = random_taxonomy(concepts, depth, second_parents)
    rng = np.random.default_rng(1)
    positions = np.sort(rng.choice(len(taxonomy.ids), sampled, replace=False)).astype(np.int32)
    counts = rng.integers(1, 20, sampled)
    warm = random_taxonomy(50, 4, second_parents)
    get_distance(distance).sums(warm.scope(np.arange(50)), np.arange(50, dtype=np.int32), np.ones(50, np.int64))
    sums, seconds = timed(lambda: get_distance(distance).sums(taxonomy.scope(positions), positions, counts))
    rows = np.sort(rng.choice(sampled, 50, replace=False))
    expected, pairs = timed(
        lambda: taxonomy.table(positions[rows], positions, distance=distance, scope=taxonomy.scope(positions)) @ counts
    )
    np.testing.assert_allclose(sums[rows], expected, rtol=1e-9)
    return {"CPU s": seconds, "all pairs ÷ ours (est)": pairs / len(rows) * sampled / seconds}


def column(n: int = 1_000_000) -> dict[str, Any]:
    """Marginality of a column of texts, counting included."""
    import pyarrow as pa

    icd = Taxonomy.builtin("icd9cm")
    codes = [c for c in icd if icd[c].children == ()]
    values = pa.array([codes[i] for i in np.random.default_rng(1).integers(0, len(codes), n)])
    tm.marginality(values[:1000], icd)
    return {"codes": len(codes), "CPU s": timed(lambda: tm.marginality(values, icd))[1]}


def covariance(categories_a: int, categories_b: int, n: int = 1_000_000) -> dict[str, Any]:
    """From codes: counting, centring and multiplying; the distance tables are given."""
    icd = Taxonomy.builtin("icd9cm")
    rng = np.random.default_rng(1)
    tables = [
        icd.table(np.sort(rng.choice(len(icd.ids), c, replace=False)), distance="wu_palmer")
        for c in (categories_a, categories_b)
    ]
    x, y = rng.integers(0, categories_a, n), rng.integers(0, categories_b, n)

    def ours(a: Any, b: Any) -> float:
        joint = np.bincount(a * categories_b + b, minlength=categories_a * categories_b)
        return covariance_of_tables(joint.reshape(categories_a, categories_b).astype(float), *tables)

    small = slice(0, 2000)
    expected, theirs = timed(
        lambda: naive.distance_covariance(tables[0][np.ix_(x[small], x[small])], tables[1][np.ix_(y[small], y[small])])
    )
    np.testing.assert_allclose(ours(x[small], y[small]), expected, rtol=1e-9)
    seconds = best(lambda: ours(x, y))
    return {"CPU s": seconds, "n×n ÷ ours (est)": theirs * (n / 2000) ** 2 / seconds}


CASES = {
    **{f"load {name}": partial(load, path, "pronto", "obonet") for name, path in OBO.items()},
    "load wordnet": partial(load, WORDNET),
    "load nace (Turtle)": partial(load, NACE, "rdflib"),
    "load doid cancer (OWL)": partial(load, CANCER, "pronto", "rdflib"),
    **{f"load {name}": partial(load, builtin.path(name)) for name in builtin.names()},
    **{
        f"10,000² {distance} {name}": partial(matrix, path, distance)
        for name, path in {**OBO, "wordnet": WORDNET}.items()
        for distance in ("ancestors", "wu_palmer", "lin")
    },
    **{
        f"marginality tree 300,000 {distance}": partial(marginality, 480_000, 300_000, 10, 0.0, distance)
        for distance in ("ancestors", "edge_weight", "wu_palmer")
    },
    **{
        f"marginality DAG {sampled:,} {distance}": partial(marginality, concepts, sampled, depth, 0.1, distance)
        for concepts, sampled, depth in ((15_200, 15_000, 6), (480_000, 300_000, 10))
        for distance in ("ancestors", "wu_palmer")
    },
    "marginality, column of 1,000,000": column,
    "distance covariance 500 × 500": partial(covariance, 500, 500),
    "distance covariance 500 × 1,000": partial(covariance, 500, 1000),
    "distance covariance 1,000 × 1,000": partial(covariance, 1000, 1000),
}

if __name__ == "__main__":
    run(CASES)
