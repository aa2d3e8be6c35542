from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given

from naive import NaiveTaxonomy, Parents, edges_of, taxonomies
from taxomask import Taxonomy, TaxonomyError
from taxomask.errors import UnknownConceptError
from taxomask.taxonomy.listing import Listing
from taxomask.taxonomy.order import arrange

DIAMOND = [("left", "top"), ("right", "top"), ("bottom", "left"), ("bottom", "right"), ("leaf", "bottom")]


@pytest.fixture
def diamond() -> Taxonomy:
    return Taxonomy.from_edges(DIAMOND, name="diamond")


def test_is_a_mapping_of_concepts(diamond: Taxonomy) -> None:
    assert isinstance(diamond, Mapping)
    assert list(diamond) == ["top", "left", "bottom", "leaf", "right"]
    assert len(diamond) == 5
    assert "leaf" in diamond
    assert "elsewhere" not in diamond
    assert [concept.id for concept in diamond.values()] == list(diamond)
    bottom = diamond["bottom"]
    assert [parent.id for parent in bottom.parents] == ["left", "right"]
    assert [child.id for child in bottom.children] == ["leaf"]
    assert bottom.depth == 3
    assert bottom.label == "bottom"
    assert repr(bottom) == "<Concept bottom: bottom>"


def test_answers_questions(diamond: Taxonomy) -> None:
    assert diamond.parents("bottom") == ("left", "right")
    assert diamond.children("top") == ("left", "right")
    assert diamond.ancestors("bottom") == ("top", "left", "bottom", "right")
    assert diamond.descendants("left") == ("left", "bottom", "leaf")
    assert diamond.lcs(["left", "right"]) == "top"
    assert diamond.lcs(["leaf", "bottom"]) == "bottom"
    assert diamond.lcs(["leaf"]) == "leaf"
    assert not diamond.is_tree
    assert diamond.edge_count == 5
    assert repr(diamond) == "<Taxonomy diamond: 5 concepts, DAG of depth 4>"


def test_children_come_in_the_order_of_the_file() -> None:
    taxonomy = Taxonomy.from_edges([("z", "root"), ("a", "root"), ("m", "z"), ("b", "z")])
    assert list(taxonomy) == ["root", "z", "m", "b", "a"]


def test_several_top_concepts_get_a_virtual_root() -> None:
    taxonomy = Taxonomy.from_edges([("a", "one"), ("b", "two")])
    assert taxonomy.roots == ("one", "two")
    assert len(taxonomy) == 4
    assert list(taxonomy) == ["one", "a", "two", "b"]
    assert taxonomy.edge_count == 2
    assert taxonomy.lcs(["a", "b"]) == taxonomy.root == "*"
    assert taxonomy.ancestors("a") == ("*", "one", "a")
    assert taxonomy[taxonomy.root].children == (taxonomy["one"], taxonomy["two"])


def test_the_virtual_root_avoids_names_in_use() -> None:
    assert Taxonomy.from_edges([("a", "*"), ("b", "other")]).root == "**"


def test_a_named_root_takes_only_what_is_below() -> None:
    listing = Listing("file.csv")
    for concept in ("top", "left", "right", "bottom"):
        listing.add(concept)
    for child, parent in DIAMOND[:4]:
        listing.link(child, parent)
    assert arrange(listing, "left").ids == ["left", "bottom"]
    with pytest.raises(TaxonomyError, match=r"file\.csv: there is no concept 'lfet' to take as the root"):
        arrange(listing, "lfet")


@given(taxonomies())
def test_agrees_with_the_definitions(parents: Parents) -> None:
    naive = NaiveTaxonomy(parents)
    taxonomy = Taxonomy.from_edges(edges_of(parents))
    assert set(taxonomy) == set(parents)
    order = list(taxonomy)
    assert order[0] == naive.root
    for concept in parents:
        assert set(taxonomy.ancestors(concept)) == naive.ancestors(concept)
        assert set(taxonomy.descendants(concept)) == naive.descendants(concept)
        assert taxonomy[concept].depth == naive.longest(naive.root, concept)
        assert list(taxonomy.parents(concept)) == parents[concept]
        if parents[concept]:  # depth first, below the first parent listed
            below_first = order.index(concept) - order.index(parents[concept][0])
            assert below_first > 0
    for a in parents:
        for b in parents:
            assert taxonomy.lcs([a, b]) == naive.lcs([a, b], order)


def test_unknown_concepts_are_named_with_the_nearest_one() -> None:
    taxonomy = Taxonomy.builtin("icd9cm")
    with pytest.raises(UnknownConceptError, match=r"'25009' is not a concept of icd9cm\.\nDid you mean '2500"):
        taxonomy.ancestors("25009")
    with pytest.raises(KeyError):
        taxonomy["nothing like it"]
    assert taxonomy.get("nothing like it") is None
    assert taxonomy.nearest("2500x")[0].startswith("2500")


def test_bad_listings_name_file_line_and_concept() -> None:
    def listing(ids: list[str], edges: list[tuple[str, str]]) -> Listing:
        made = Listing("bad.csv")
        for line, concept in enumerate(ids, 2):
            made.add(concept, line=line)
        for line, (child, parent) in enumerate(edges, 2):
            made.link(child, parent, line=line)
        return made

    with pytest.raises(TaxonomyError, match=r"bad\.csv, line 4: concept 'a' is declared twice \(first in line 2\)"):
        arrange(listing(["a", "b", "a"], []))
    with pytest.raises(TaxonomyError, match=r"bad\.csv, line 2: the parent 'x' of the edge 'b' → 'x' is not a concept"):
        arrange(listing(["a", "b"], [("b", "x")]))
    with pytest.raises(TaxonomyError, match=r"bad\.csv, line \d: the edges form a cycle: '[bc]' → '[bcd]'"):
        arrange(listing(["a", "b", "c", "d"], [("b", "a"), ("b", "d"), ("c", "b"), ("d", "c")]))
    with pytest.raises(TaxonomyError, match=r"bad\.csv, line 2: the edges form a cycle: 'a' → 'a'"):
        arrange(listing(["a", "b"], [("a", "a")]))
    with pytest.raises(TaxonomyError, match=r"bad\.csv, line 3: a concept has an empty identifier"):
        arrange(listing(["a", ""], []))
    with pytest.raises(TaxonomyError, match=r"bad\.csv: no concept found"):
        arrange(listing([], []))


def test_lists_not_texts_are_taken_for_several_concepts(diamond: Taxonomy) -> None:
    with pytest.raises(TaxonomyError, match="expected several concepts"):
        diamond.lcs("leaf")
    with pytest.raises(TaxonomyError, match="at least one concept"):
        diamond.lcs([])


def test_survives_pickling(diamond: Taxonomy) -> None:
    copy = pickle.loads(pickle.dumps(diamond))
    assert list(copy) == list(diamond)
    assert copy.ancestors("leaf") == diamond.ancestors("leaf")


@pytest.mark.parametrize(
    ("name", "concepts", "roots"),
    [("icd9cm", 17_731, 1), ("icd9cm_procedures", 4_670, 1), ("nace2", 997, 1), ("isco08", 620, 1)],
)
def test_builtin_taxonomies(name: str, concepts: int, roots: int) -> None:
    taxonomy = Taxonomy.builtin(name)
    assert (len(taxonomy), len(taxonomy.roots), taxonomy.is_tree) == (concepts, roots, True)


def test_unknown_builtin_is_an_error() -> None:
    with pytest.raises(TaxonomyError, match="icd9cm"):
        Taxonomy.builtin("icd9")
