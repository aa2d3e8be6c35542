from __future__ import annotations

import pickle

import numpy as np
import pytest

from taxomask.errors import DataError
from taxomask.microdata import Attribute, CategoricalColumn, ContinuousColumn, TaxonomicColumn
from taxomask.taxonomy import Taxonomy

SEX = Attribute("sex", kind="nominal")


def test_continuous() -> None:
    column = ContinuousColumn(Attribute("age", kind="continuous"), np.array([1.0, np.nan, 3.0]))
    assert len(column) == 3
    assert column.missing.tolist() == [False, True, False]
    assert column.take([2, 0]).values.tolist() == [3.0, 1.0]
    assert column.take(~column.missing).values.tolist() == [1.0, 3.0]
    assert column.with_values([1, 2]).values.dtype == np.float64


def test_categorical() -> None:
    column = CategoricalColumn(SEX, np.array([1, -1, 1, 0]), ("f", "m", "x"))
    assert column.codes.dtype == np.int32
    assert column.counts.tolist() == [1, 2, 0]
    assert column.counts.dtype == np.int64
    assert column.missing.tolist() == [False, True, False, False]
    taken = column.take([0, 1])
    assert (taken.codes.tolist(), taken.categories) == ([1, -1], ("f", "m", "x"))
    compact = column.compact()
    assert (compact.codes.tolist(), compact.categories) == ([1, -1, 1, 0], ("f", "m"))
    assert compact.compact() is compact


def test_numbers_and_where_two_versions_agree() -> None:
    ages = ContinuousColumn(Attribute("age", kind="continuous"), np.array([1.0, np.nan, np.nan, 3.0]))
    assert ages.numbers() is ages.values
    assert ages.same(ages.with_values([1.0, np.nan, 2.0, 4.0])).tolist() == [True, True, False, False]
    codes = CategoricalColumn(SEX, np.array([1, -1, -1, 0]), ("f", "m"))
    np.testing.assert_array_equal(codes.numbers(), [1.0, np.nan, np.nan, 0.0])
    assert codes.same(codes.with_codes([1, -1, 0, -1])).tolist() == [True, True, False, False]


def test_an_empty_column() -> None:
    column = CategoricalColumn(SEX, np.array([], dtype=np.int32), ())
    assert len(column) == 0
    assert column.counts.tolist() == []


@pytest.mark.parametrize("codes", [[0, 2], [-2, 0]])
def test_codes_must_fit_the_categories(codes: list[int]) -> None:
    with pytest.raises(DataError, match="column 'sex': codes must be between -1 and 1; got"):
        CategoricalColumn(SEX, np.array(codes), ("f", "m"))


def test_every_category_has_a_position(codes: Taxonomy) -> None:
    attribute = Attribute("dx", kind="taxonomic", taxonomy=codes)
    with pytest.raises(DataError, match="column 'dx': 2 categories but 1 positions"):
        TaxonomicColumn(attribute, np.array([0]), ("250", "038"), np.array([1]))


def taxonomic(taxonomy: Taxonomy, names: list[str], distance: str = "ancestors") -> TaxonomicColumn:
    attribute = Attribute("dx", kind="taxonomic", taxonomy=taxonomy, distance=distance)
    positions = np.sort(taxonomy.lookup(names))
    return TaxonomicColumn(attribute, np.arange(len(names)), tuple(taxonomy.names(positions)), positions)


def test_the_table_holds_the_distances_between_categories(codes: Taxonomy) -> None:
    column = taxonomic(codes, ["2500", "2501", "0380"])
    assert column.categories == ("0380", "2500", "2501")
    # Ancestor sets of three each, one or two of them in common: log2(1 + 4/5), log2(1 + 2/4).
    far, near = np.log2(1 + 4 / 5), np.log2(1 + 2 / 4)
    np.testing.assert_allclose(column.table, [[0, far, far], [far, 0, near], [far, near, 0]])
    assert column.table is column.table


def test_the_table_is_made_once_for_all_parts_of_a_column(codes: Taxonomy) -> None:
    column = taxonomic(codes, ["2500", "2501", "0380"])
    part = column.take([1])
    assert part.table is column.table
    assert part.scopes is column.scopes


def test_without_unused_categories_the_scope_is_made_anew(codes: Taxonomy) -> None:
    column = taxonomic(codes, ["2500", "2501", "0380"], "wu_palmer")
    part = column.take([1, 2]).compact()
    assert part.categories == ("2500", "2501")
    assert part.positions.tolist() == codes.lookup(["2500", "2501"]).tolist()
    # Below 250 the least common subsumer is the root of the scope: 1 - 2·1 / (2·1 + 1 + 1).
    assert part.table[0, 1] == pytest.approx(0.5)
    assert column.table[1, 2] == pytest.approx(1 - 4 / 6)


def test_more_categories_keep_the_scope_of_the_original(codes: Taxonomy) -> None:
    column = taxonomic(codes, ["2500", "2501"], "wu_palmer")
    wider = column.including(codes.lookup(["250", "2501", "2500"]))
    assert wider.categories == ("250", "2500", "2501")
    assert wider.codes.tolist() == [1, 2]
    assert wider.table[1, 2] == column.table[0, 1] == pytest.approx(0.5)


def two_taxonomies(further: float = 1.0) -> tuple[Attribute, Taxonomy, Taxonomy]:
    first = Taxonomy.from_edges([("a", "r"), ("b", "r")], name="first")
    second = Taxonomy.from_edges([("b", "q"), ("c", "q"), ("d", "c"), ("q", "s"), ("e", "s")], name="second")
    attribute = Attribute("x", kind="taxonomic", taxonomy=[first, (second, further)], distance="ancestors")
    return attribute, first, second


def test_several_taxonomies_share_in_the_distance() -> None:
    attribute, first, second = two_taxonomies(3.0)
    names = ("a", "b", "c", "d")
    places = np.stack([taxonomy.lookup(names) for taxonomy in (first, second)])
    column = TaxonomicColumn(attribute, np.arange(4), names, places[0], places[1:])
    ab = first.distance("a", "b")
    bc, bd, cd = (second.distance(*pair) for pair in (("b", "c"), ("b", "d"), ("c", "d")))
    largest = max(ab, bc, bd, cd)
    expected = [
        [0, ab, largest, largest],
        [ab, 0, bc, bd],
        [largest, bc, 0, cd],
        [largest, bd, cd, 0],
    ]
    np.testing.assert_allclose(column.table, expected)


def test_where_both_taxonomies_know_both_values_the_mean_is_weighted() -> None:
    first = Taxonomy.from_edges([("a", "r"), ("b", "r")])
    second = Taxonomy.from_edges([("a", "q"), ("b", "q"), ("q", "s")])
    attribute = Attribute("x", kind="taxonomic", taxonomy=[(first, 1), (second, 3)])
    places = np.stack([taxonomy.lookup(["a", "b"]) for taxonomy in (first, second)])
    column = TaxonomicColumn(attribute, np.arange(2), ("a", "b"), places[0], places[1:])
    expected = (first.distance("a", "b") + 3 * second.distance("a", "b")) / 4
    assert column.table[0, 1] == pytest.approx(expected)


def test_more_categories_with_several_taxonomies() -> None:
    attribute, first, second = two_taxonomies()
    places = np.stack([taxonomy.lookup(["a", "c"]) for taxonomy in (first, second)])
    column = TaxonomicColumn(attribute, np.array([1, 0]), ("a", "c"), places[0], places[1:])
    wider = column.including(first.lookup(["b"]))
    assert wider.categories == ("a", "b", "c")
    assert wider.codes.tolist() == [2, 0]
    assert wider.further is not None
    assert wider.further.tolist() == [second.lookup(["a", "b", "c"]).tolist()]


def test_columns_can_be_sent_to_other_processes(codes: Taxonomy) -> None:
    column = taxonomic(codes, ["2500", "0380"])
    again = pickle.loads(pickle.dumps(column))
    np.testing.assert_allclose(again.table, column.table)
