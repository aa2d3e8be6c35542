from __future__ import annotations

import pytest

from taxomask import Taxonomy, TaxonomyError
from taxomask.taxonomy import check_normalize
from taxomask.taxonomy.listing import Listing
from taxomask.taxonomy.order import arrange


@pytest.fixture(scope="module")
def icd() -> Taxonomy:
    return Taxonomy.builtin("icd9cm")


def found(icd: Taxonomy, *values: str, **options: object) -> list[str]:
    positions = icd.lookup(values, **options)  # type: ignore[arg-type]
    return ["" if p < 0 else icd.ids[p] for p in positions.tolist()]


def test_identifiers_codes_and_labels(icd: Taxonomy) -> None:
    assert found(icd, "25001", "250.01", "zzz") == ["25001", "", ""]
    assert found(icd, "250.01", "25001", match="code") == ["25001", ""]
    assert found(icd, "Typhoid fever", match="label") == ["0020"]
    assert icd.names(icd.lookup(["25001"]), match="code") == ["250.01"]


def test_lost_zeros_are_restored_before_dots_are_dropped(icd: Taxonomy) -> None:
    # 38.9 is septicaemia (038.9), not hearing loss (389)
    assert found(icd, "38.9", "8", "V27", "E909", "250.6", normalize=["zeros:3", "dots"]) == [
        "0389",
        "008",
        "V27",
        "E909",
        "2506",
    ]
    assert found(icd, "8") == [""]
    assert found(icd, "38", match="code", normalize="zeros:3") == ["038"]


def test_case_and_spaces(icd: Taxonomy) -> None:
    assert found(icd, " v27", "e909 ", normalize=["spaces", "case"]) == ["V27", "E909"]


def test_unknown_normalisations_and_matches_are_errors(icd: Taxonomy) -> None:
    with pytest.raises(TaxonomyError, match=r"got 'zeros'\.\nDid you mean 'zeros:3'"):
        check_normalize("zeros")
    with pytest.raises(TaxonomyError, match="match must be 'id', 'label' or 'code'; got 'name'"):
        icd.lookup(["x"], match="name")  # type: ignore[arg-type]


def test_ambiguous_labels_are_errors_only_when_they_are_used() -> None:
    listing = Listing("twins.csv")
    for concept, label in (("root", "all"), ("a", "same"), ("b", "same"), ("c", "other")):
        listing.add(concept, label=label)
        if concept != "root":
            listing.link(concept, "root")
    taxonomy = Taxonomy(arrange(listing), "twins")
    assert taxonomy.lookup(["other"], match="label").tolist() == [3]
    with pytest.raises(TaxonomyError, match="'same' is the label of several concepts of twins"):
        taxonomy.lookup(["same"], match="label")


def test_aliases_stand_for_their_concept() -> None:
    listing = Listing("aliases.obo", aliases={"OLD:1": "NEW:1"})
    listing.add("NEW:1")
    taxonomy = Taxonomy(arrange(listing), "aliases")
    assert taxonomy.lookup(["OLD:1"]).tolist() == [0]
    assert "OLD:1" in taxonomy
    assert list(taxonomy) == ["NEW:1"]
