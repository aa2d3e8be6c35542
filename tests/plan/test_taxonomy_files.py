"""Files of taxonomies whose columns have names of their own, in plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxomask.errors import TaxomaskError
from taxomask.plan import Plan

OWN = "key;text;group\nall;All;\na;A;all\nb;B;all\na1;A one;a\nb1;B one;b\n"


def plan(folder: Path, taxonomy: Any, **more: Any) -> Plan:
    entry = {"name": "code", "role": "confidential", "kind": "taxonomic", "taxonomy": taxonomy}
    return Plan.from_dict({"attributes": [entry]}, folder, **more)


def test_the_columns_of_a_file_are_named_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(OWN)
    named = {"file": "own.csv", "concept": "key", "parent": "group", "label": "text"}
    found = plan(tmp_path, named)
    taxonomy = found.attributes["code"].taxonomies[0][0]
    assert (taxonomy.parents("a1"), taxonomy["b1"].label) == (("a",), "B one")
    assert found.to_dict()["attributes"][0]["taxonomy"] == named
    again = Plan.from_dict(found.to_dict(), tmp_path)
    assert again.attributes == found.attributes
    assert again.attributes.fingerprint() == found.attributes.fingerprint()
    two = plan(tmp_path, [{"taxonomy": named, "weight": 2}, "icd9cm"])
    assert [weight for _, weight in two.attributes["code"].taxonomies] == [2, 1]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"file": "own.csv", "parents": "group"}, "taxonomy names a file and, of its columns"),
        ({"file": "own.csv"}, "taxonomy names a file and, of its columns"),
        ({"file": "own.csv", "concept": 3}, "taxonomy names a file and, of its columns"),
        ({"file": "none.csv", "concept": "key"}, "neither a shipped taxonomy nor a file"),
        ({"file": "../own.csv", "concept": "key"}, "outside the folder of the plan"),
        ({"taxonomy": {"file": "/etc/passwd", "concept": "key"}, "weight": 2}, "outside the folder of the plan"),
    ],
)
def test_what_is_named_wrongly_is_refused(tmp_path: Path, named: Any, said: str) -> None:
    (tmp_path / "own.csv").write_text(OWN)
    with pytest.raises(TaxomaskError) as refused:
        plan(tmp_path, [named] if "weight" in named else named)
    assert said in refused.value.message


def test_a_column_that_the_file_does_not_have_is_told_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(OWN)
    found = plan(tmp_path, {"file": "own.csv", "concept": "key", "parent": "above"})
    with pytest.raises(TaxomaskError, match="above"):
        _ = found.attributes["code"].taxonomies
