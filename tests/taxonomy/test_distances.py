from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from naive import NaiveTaxonomy, Parents, edges_of, taxonomies
from taxomask import Taxonomy, TaxonomyError
from taxomask.taxonomy.distances import DISTANCES, Distance, get_distance

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def disorders() -> Taxonomy:
    """Figure 1 of Rodriguez-Garcia et al. (2019)."""
    top = "Disorder of nervous system"
    return Taxonomy.from_edges(
        [("Coma", top), ("Neuropathy", top), ("Hepatic coma", "Coma"), ("Hypoglycemic coma", "Coma")]
    )


@pytest.mark.parametrize(
    ("reference", "expected"),
    [  # Figures 2 and 3
        ("Coma", [0, 0.20, 0.20, 0.33, 0.50]),
        ("Neuropathy", [0, 0.33, 0.50, 0.60, 0.60]),
    ],
)
def test_printed_distances(disorders: Taxonomy, reference: str, expected: list[float]) -> None:
    distances = disorders.distance_matrix([reference], disorders, distance="wu_palmer")
    assert sorted(distances[0].round(2)) == expected


def test_edge_weights_by_hand(disorders: Taxonomy) -> None:
    # Three levels: the upper edges weigh 2, the lower ones 1.
    matrix = disorders.distance_matrix(["Hepatic coma", "Coma", "Neuropathy"], distance="edge_weight")
    assert matrix.tolist() == [[0, 1, 5], [1, 0, 4], [5, 4, 0]]
    # The deepest value of the attribute decides, not the pair.
    assert disorders.distance("Coma", "Neuropathy", distance="edge_weight") == 2
    assert disorders.distance("Coma", "Neuropathy", distance="edge_weight", sample=list(disorders)) == 4


@pytest.mark.parametrize("name", DISTANCES)
@given(data=st.data())
@settings(max_examples=60)
def test_matrices_equal_the_definitions(name: str, data: st.DataObject) -> None:
    trees = DISTANCES[name].trees_only or data.draw(st.booleans())
    parents = data.draw(taxonomies(trees=trees))
    sample = data.draw(st.lists(st.sampled_from(sorted(parents)), min_size=1, max_size=8))
    within = NaiveTaxonomy(parents)
    top = within.lcs(sample, list(Taxonomy.from_edges(edges_of(parents))))
    # what is outside τ(X) has no depth in it, so columns are kept inside
    columns = within.descendants(top)
    taxonomy = Taxonomy.from_edges(edges_of(parents))
    order = list(taxonomy)
    matrix = taxonomy.distance_matrix(sample, sorted(columns), distance=name, sample=sample)
    expected = [[naive.DISTANCES[name](within, a, b, sample, order) for b in sorted(columns)] for a in sample]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
@given(data=st.data())
@settings(max_examples=60)
def test_sums_equal_the_matrix_times_the_counts(name: str, data: st.DataObject) -> None:
    distance = DISTANCES[name]
    parents = data.draw(taxonomies(trees=distance.trees_only or data.draw(st.booleans()), largest=25))
    taxonomy = Taxonomy.from_edges(edges_of(parents))
    chosen = data.draw(st.sets(st.integers(0, len(taxonomy) - 1), min_size=1))
    positions = np.array(sorted(chosen), dtype=np.int32)
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(chosen), max_size=len(chosen))), np.int64)
    scope = taxonomy.scope(positions)
    expected = distance.matrix(scope, positions, positions) @ counts
    np.testing.assert_allclose(distance.sums(scope, positions, counts), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, distance in DISTANCES.items() if distance.metric])
@given(data=st.data())
@settings(max_examples=40)
def test_metrics_obey_the_axioms(name: str, data: st.DataObject) -> None:
    parents = data.draw(taxonomies(trees=DISTANCES[name].trees_only))
    taxonomy = Taxonomy.from_edges(edges_of(parents))
    matrix = taxonomy.distance_matrix(list(taxonomy), distance=name)
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 0).all()
    assert (matrix[~np.eye(len(matrix), dtype=bool)] > 0).all()
    through = (matrix[:, :, None] + matrix[None, :, :]).min(axis=1)
    assert (matrix <= through + 1e-12).all()


@pytest.mark.parametrize("name", ["ancestors", "wu_palmer", "lin", "jiang_conrath", "equality"])
@given(parents=taxonomies())
@settings(max_examples=40)
def test_distances_lie_between_0_and_1(name: str, parents: Parents) -> None:
    taxonomy = Taxonomy.from_edges(edges_of(parents))
    matrix = taxonomy.distance_matrix(list(taxonomy), distance=name)
    assert matrix.min() >= 0
    assert matrix.max() <= 1 + 1e-12
    np.testing.assert_array_equal(matrix, matrix.T)


def test_order_and_repetition_of_values_do_not_matter(disorders: Taxonomy) -> None:
    names = ["Neuropathy", "Coma", "Neuropathy", "Hepatic coma"]
    matrix = disorders.distance_matrix(names, ["Coma", "Hypoglycemic coma", "Coma"], sample=list(disorders))
    for i, a in enumerate(names):
        for j, b in enumerate(["Coma", "Hypoglycemic coma", "Coma"]):
            assert matrix[i, j] == disorders.distance(a, b, sample=list(disorders))


def test_large_matrices_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    icd = Taxonomy.builtin("icd9cm")
    some = list(icd)[::60]
    whole = icd.distance_matrix(some)
    monkeypatch.setattr("taxomask.taxonomy.distances.base._BLOCK_CELLS", 1000)
    np.testing.assert_array_equal(icd.distance_matrix(some), whole)


def test_edge_weight_refuses_a_dag() -> None:
    dag = Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "a"), ("c", "b")], name="dag")
    with pytest.raises(
        TaxonomyError, match=r"'edge_weight' is defined on trees only, but in dag the concept 'c' has 2 par"
    ):
        dag.distance_matrix(["a", "c"], distance="edge_weight")


def test_unknown_distances_are_errors() -> None:
    with pytest.raises(TaxonomyError, match=r"got 'wu-palmer'\.\nDid you mean 'wu_palmer'"):
        get_distance("wu-palmer")


def test_a_new_distance_is_one_small_class(disorders: Taxonomy) -> None:
    class Different(Distance):
        name, metric, reference = "different", True, "here"

        def block(self, scope, rows, columns):  # type: ignore[no-untyped-def]
            return 2.0 * (rows[:, None] != columns)

    assert disorders.distance_matrix(["Coma", "Neuropathy"], distance=Different()).tolist() == [
        [0, 2],
        [2, 0],
    ]
    scope = disorders.scope([1, 2, 3])
    assert Different().sums(scope, scope.sample, np.array([1, 2, 3])).tolist() == [10, 8, 6]


def test_nxontology_agrees_on_the_disease_ontology() -> None:
    """An independent library: ancestor sets, lin and jiang_conrath on real multi-parent concepts."""
    from nxontology import NXOntology

    doid = Taxonomy.read(DATA / "doid" / "doid.obo.gz")
    other: NXOntology[str] = NXOntology()
    for concept in doid:
        other.add_node(concept)
    for concept in doid:
        for parent in doid.parents(concept):
            other.add_edge(parent, concept)
    other.freeze()
    rng = np.random.default_rng(5)
    chosen = [doid.ids[i] for i in rng.choice(len(doid), 60, replace=False)]
    ours = {name: doid.distance_matrix(chosen, distance=name) for name in ("lin", "jiang_conrath")}
    for i, a in enumerate(chosen):
        assert set(doid.ancestors(a)) == other.node_info(a).ancestors
        for j, b in enumerate(chosen):
            theirs = other.similarity(a, b, ic_metric="intrinsic_ic")
            assert ours["lin"][i, j] == pytest.approx(1 - theirs.lin, abs=1e-6)
            assert ours["jiang_conrath"][i, j] == pytest.approx(1 - theirs.jiang_seco, abs=1e-6)
