"""The editor of taxonomies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxomask import Taxonomy
from taxomask.errors import TaxonomyError
from taxomask.web.editing import edited

EDGES = [("a1", "a"), ("a2", "a"), ("a", "all"), ("b", "all"), ("a1", "b")]


def test_a_moved_concept_is_below_its_new_group_only(tmp_path: Path) -> None:
    before = Taxonomy.from_edges(EDGES, labels={"a1": "first"})
    after = edited(before, [{"add": "c", "label": "new", "to": "b"}, {"move": "a1", "to": "c"}])
    assert (after.parents("a1"), after.parents("c"), after["a1"].label) == (("c",), ("b",), "first")
    assert sorted(after.ids) == sorted([*before.ids, "c"])
    after.write(tmp_path / "t.csv")
    assert Taxonomy.read(tmp_path / "t.csv").ancestors("a1") == after.ancestors("a1")
    assert before.parents("a1") == ("a", "b")


def test_a_forest_keeps_its_roots() -> None:
    forest = Taxonomy.from_edges([("a", "x"), ("b", "y")])
    after = edited(forest, [{"move": "a", "to": "y"}])
    assert sorted(after.ids[after.virtual_root :]) == ["a", "b", "x", "y"]
    assert set(after.roots) == {"x", "y"}


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"move": "a", "to": "a1"}, "'a1' is below 'a'."),
        ({"move": "a", "to": "a"}, "'a' is below 'a'."),
        ({"move": "zz", "to": "a"}, "there is no concept 'zz'."),
        ({"move": "a", "to": "zz"}, "there is no concept 'zz'."),
        ({"add": "b", "to": "a"}, "'b' is there already."),
        ({"add": "", "to": "a"}, "names a concept and a group"),
        ("move", "moves a concept or adds a group"),
    ],
)
def test_what_makes_no_taxonomy_is_refused(step: Any, said: str) -> None:
    with pytest.raises(TaxonomyError, match=said):
        edited(Taxonomy.from_edges(EDGES), [step])
