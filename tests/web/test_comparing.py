"""What the page makes of a comparison: by what a method is chosen, what was searched, and methods without a risk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taxomask.errors import DataError
from taxomask.web.app import _choice, _search
from taxomask.web.tasks import compare_methods, draw_map


def compared(folder: Path, search: dict[str, Any] | None = None, role: str = "quasi_identifier", **more: Any) -> Any:
    rows = [f"{20 + (7 * i) % 61},{'fm'[i % 2]},{1 + (5 * i) % 11},{i % 3}" for i in range(90)]
    (folder / "stays.csv").write_text("\n".join(["age,sex,stay,ward", *rows]) + "\n")
    kinds = {"age": "continuous", "sex": "nominal", "stay": "continuous", "ward": "nominal"}
    columns = [{"name": name, "role": "quasi_identifier", "kind": kind} for name, kind in kinds.items()]
    content = {
        "data": "stays.csv",
        "attributes": [*columns[:3], {**columns[3], "role": role}],
        "attackers": ["nearest"],
        "analyses": [{"name": "ages", "kind": "mean", "of": "age", "by": ["sex"]}],
        "compare": [{"name": "microaggregation", "vary": {"k": [3, 6]}}, {"name": "rank_swapping", "p": 5}],
        **more,
    }
    found = compare_methods(lambda *told: None, content, folder, folder, search)
    json.dumps(found, allow_nan=False)  # as it is sent
    return found


def test_a_method_is_chosen_by_an_analysis_or_a_promise(tmp_path: Path) -> None:
    found = compared(tmp_path)

    def best(**by: Any) -> str:
        return str(draw_map(lambda *told: None, found, 1.0, **by)["best"]["reason"])

    assert "the smallest loss" in best()
    assert "the largest overlap of 'ages'" in best(analysis="ages")
    assert "Of the 3 methods 2 have a risk of at most 1 and promise 'k_anonymity'" in best(promise="k_anonymity")
    assert "there is no analysis 'sums'" in best(analysis="sums")


def test_k_and_weights_are_searched_if_that_is_asked_for(tmp_path: Path) -> None:
    assert compared(tmp_path)["searched"] == []
    found = compared(tmp_path, {"limit": 0.1, "promise": "k_anonymity", "analysis": "ages"})
    (words,) = found["searched"]
    assert words == "microaggregation(k=9) keeps to the limits, k = 8 does not."
    assert "overlap of 'ages'" in found["weights"]["words"]
    assert found["weights"]["method"] == {"name": "microaggregation", "k": 9}
    assert set(found["weights"]["given"]) <= {"age", "sex"}
    assert compared(tmp_path, {"limit": 0.0001, "promise": None, "analysis": "ages"})["weights"] is None


def test_methods_without_a_risk_are_told_and_not_drawn(tmp_path: Path) -> None:
    found = compared(tmp_path, role="confidential", attackers=["inference"])
    assert found["points"] == []
    assert [label for label, _ in found["failed"]] == [
        "microaggregation(k=3)",
        "microaggregation(k=6)",
        "rank_swapping(p=5)",
    ]
    assert all("none of the attackers" in reason for _, reason in found["failed"])


def test_by_what_is_chosen_is_read_from_what_the_page_sends() -> None:
    assert _search(None) is None
    assert _search({"limit": None, "analysis": "a"}) == {"limit": 0.1, "promise": None, "analysis": "a"}
    assert _choice({"limit": "0.2", "promise": ""}) == {"limit": 0.2, "promise": None, "analysis": None}
    with pytest.raises(DataError, match="a number between 0 and 1"):
        _choice({"limit": "x"})
