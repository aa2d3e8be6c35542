from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taxomask.errors import SchemaError
from taxomask.microdata import Attribute, Kind, Role
from taxomask.taxonomy import Taxonomy


def test_names_become_roles_and_kinds() -> None:
    attribute = Attribute("age", role="quasi_identifier", kind="continuous", weight=np.int64(2))
    assert attribute.role is Role.QUASI_IDENTIFIER
    assert attribute.kind is Kind.CONTINUOUS
    assert attribute.weight == 2.0
    assert isinstance(attribute.weight, float)
    assert attribute.missing == ("",)


def test_an_attribute_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Attribute("age").weight = 2.0  # type: ignore[misc]


def test_lists_become_tuples() -> None:
    attribute = Attribute("beds", kind="ordinal", order=["few", "many"], missing=["?"])
    assert attribute.order == ("few", "many")
    assert attribute.missing == ("?",)


def test_an_identifier_and_an_undecided_column_need_no_kind() -> None:
    assert Attribute("id", role="identifier").kind is None
    assert Attribute("id").role == "undecided"
    assert Attribute("id", role="other").kind is None


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            {"role": "quasi_identifer"},
            "role must be one of 'identifier', 'quasi_identifier', 'confidential', 'other', 'undecided'; got 'quasi_",
            "Did you mean 'quasi_identifier'?",
        ),
        (
            {"kind": "numeric"},
            "kind must be one of 'continuous', 'ordinal', 'nominal', 'taxonomic'; got 'numeric'.",
            "Choose one of 'continuous', 'ordinal', 'nominal', 'taxonomic'.",
        ),
        ({"kind": 3}, "kind must be one of", "Choose one of"),
        ({"role": "confidential"}, "a confidential needs a kind.", "Choose one of"),
        ({"kind": "ordinal"}, "an ordinal attribute needs an order.", "List its categories from the lowest"),
        ({"kind": "ordinal", "order": "low"}, "order must be a list of values; got 'low'.", "Write order="),
        ({"kind": "ordinal", "order": {"a", "b"}}, "order must be a list of values", "Write order="),
        ({"kind": "ordinal", "order": [["a"], ["b"]]}, "order must be a list of values", "Write order="),
        ({"kind": "ordinal", "order": ["1", 1]}, "order lists 1 twice.", "List every category once"),
        (
            {"kind": "ordinal", "order": ["1", None]},
            "order lists an empty value.",
            "List every category once",
        ),
        (
            {"kind": "ordinal", "order": ["a", "?"], "missing": ["?"]},
            "'?' is listed both in order and in missing.",
            "Take it out of one of them.",
        ),
        (
            {"kind": "nominal", "order": ["a"]},
            "order is only for the kind 'ordinal'; got kind 'nominal'.",
            "Set",
        ),
        ({"weight": 0}, "weight must be a number above 0; got 0.", "give it the role 'other'"),
        ({"weight": float("inf")}, "weight must be a number above 0; got inf.", "give it the role 'other'"),
        ({"weight": True}, "weight must be a number above 0; got True.", "give it the role 'other'"),
        ({"weight": "2"}, "weight must be a number above 0; got '2'.", "give it the role 'other'"),
        ({"missing": "?"}, "missing must be a list of values; got '?'.", "Write missing="),
        ({"missing": 9}, "missing must be a list of values; got 9.", "Write missing="),
        ({"match": "ids"}, "match must be one of 'id', 'label', 'code'; got 'ids'.", "Did you mean 'id'?"),
        (
            {"unmapped": "ignore"},
            "unmapped must be one of 'error', 'drop', 'root', 'as_missing'",
            "Choose one of",
        ),
        ({"note": 3}, "note must be text; got 3.", "in quotes"),
        ({"normalize": ["zero"]}, "normalize must name 'spaces', 'case', 'dots' or 'zeros:N'", "zeros:3"),
        ({"kind": "taxonomic"}, "a taxonomic attribute needs a taxonomy.", "such as 'icd9cm'"),
        (
            {"kind": "taxonomic", "taxonomy": "icd9"},
            "taxonomy 'icd9' is neither a shipped taxonomy nor a file.",
            "Did you mean 'icd9cm'?",
        ),
        (
            {"kind": "taxonomic", "taxonomy": 3},
            "taxonomy must be a Taxonomy, a name or a file; got 3.",
            "Write",
        ),
        (
            {"kind": "taxonomic", "taxonomy": [3]},
            "taxonomy must be a Taxonomy, a name or a file; got 3.",
            "Pass",
        ),
        ({"kind": "taxonomic", "taxonomy": []}, "taxonomy is an empty list.", "pairs of a taxonomy"),
        (
            {"kind": "taxonomic", "taxonomy": [("icd9cm", -1)]},
            "taxonomy holds ('icd9cm', -1), which is not a taxonomy with a weight above 0.",
            "pairs of a taxonomy",
        ),
        (
            {"kind": "taxonomic", "taxonomy": "icd9cm", "distance": "wu-palmer"},
            "distance must be one of 'ancestors'",
            "Did you mean 'wu_palmer'?",
        ),
        ({"taxonomy": "icd9cm"}, "taxonomy is only for the kind 'taxonomic'; got kind None.", "Set kind"),
        (
            {"kind": "nominal", "distance": "lin"},
            "distance is only for the kind 'taxonomic'",
            "leave distance out",
        ),
        ({"kind": "nominal", "match": "code"}, "match is only for the kind 'taxonomic'", "leave match out"),
        ({"kind": "nominal", "normalize": ["dots"]}, "normalize is only for the kind", "leave normalize out"),
        ({"kind": "nominal", "unmapped": "drop"}, "unmapped is only for the kind", "leave unmapped out"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Attribute("x", **options)
    assert caught.value.message.startswith(f"attribute 'x': {message}")
    assert hint in caught.value.hint


def test_a_name_must_be_text() -> None:
    with pytest.raises(SchemaError, match="name must be text; got 3"):
        Attribute(3)  # type: ignore[arg-type]


def test_taxonomies_with_and_without_weights(codes: Taxonomy, disorders: Taxonomy) -> None:
    single = Attribute("dx", kind="taxonomic", taxonomy=codes)
    assert single.taxonomies == ((codes, 1.0),)
    several = Attribute("dx", kind="taxonomic", taxonomy=[codes, (disorders, 2)])
    assert several.taxonomies == ((codes, 1.0), (disorders, 2.0))
    assert Attribute("age", kind="continuous").taxonomies == ()


def test_a_shipped_taxonomy_is_loaded_once() -> None:
    first = Attribute("dx1", kind="taxonomic", taxonomy="icd9cm")
    second = Attribute("dx2", kind="taxonomic", taxonomy="icd9cm")
    assert first.taxonomies[0][0] is second.taxonomies[0][0]
    assert first.taxonomy == "icd9cm"


def test_a_file_is_read_once_and_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("code,parent\nroot,\na,root\n")
    first = Attribute("dx1", kind="taxonomic", taxonomy=str(path)).taxonomies[0][0]
    assert Attribute("dx2", kind="taxonomic", taxonomy=path).taxonomies[0][0] is first
    path.write_text("code,parent\nroot,\na,root\nbb,root\n")
    assert "bb" in Attribute("dx3", kind="taxonomic", taxonomy=path).taxonomies[0][0]
