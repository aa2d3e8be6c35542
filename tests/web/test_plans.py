"""Plans opened again, and which methods fit, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxomask.errors import TaxomaskError
from taxomask.methods import METHODS
from taxomask.plan import Plan
from taxomask.web.fitting import fitting
from taxomask.web.plans import opened_plan, table_of_plan

from .test_forms import fresh

DRAFT: list[dict[str, Any]] = [
    {"name": "age", "role": "quasi_identifier", "kind": "continuous"},
    {"name": "ward", "role": "undecided", "kind": "nominal"},
]


def test_a_plan_or_an_audit_is_opened_and_new_columns_are_undecided(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: stays.csv\nattributes: [{name: age, role: confidential, kind: continuous, weight: 2}]\n"
        "method: {name: noise, amount: 0.1}\nlimits: {loss: 0.5}\nseed: 99\n"
    )
    audit = tmp_path / "out.audit.json"
    audit.write_text('{"plan": {"attributes": [{"name": "age", "role": "other"}]}}')
    found = opened_plan(plan, tmp_path, tmp_path, DRAFT)
    assert [(one["name"], one["role"]) for one in found["attributes"]] == [
        ("ward", "undecided"),
        ("age", "confidential"),
    ]
    assert found["attributes"][1]["weight"] == 2
    assert (found["method"]["name"], found["limits"]) == ("noise", {"loss": 0.5})
    assert found["notes"] == [
        "Not taken from plan.yaml: the seed.",
        "plan.yaml says nothing of ward: decide about them.",
    ]
    assert "seed" not in found
    assert table_of_plan(plan) == "stays.csv"
    assert opened_plan(audit, tmp_path, tmp_path, DRAFT)["attributes"][1]["role"] == "other"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attributes: [{name: wage, role: other}]", "does not have: 'wage'"),
        ("attributes: [{name: age, role: odd}]", "role must be one of"),
        ("attributes: [{name: age, role: confidential, kind: taxonomic, taxonomy: /etc/passwd}]", "outside the folder"),
        ("[1, 2]", "holds no plan"),
        ("a: [", "line 1"),
    ],
)
def test_what_is_no_plan_of_the_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(TaxomaskError) as refused:
        opened_plan(tmp_path / "plan.yaml", tmp_path, tmp_path, DRAFT)
    assert said in refused.value.message


def test_methods_are_grouped_by_what_they_promise_for_these_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "age,pay,job\n" + "".join(f"{20 + i},{i * 3 % 17},{'ab'[i % 2]}\n" for i in range(30))
    )
    numbers = [{"name": name, "role": "quasi_identifier", "kind": "continuous"} for name in ("age", "pay")]
    plan = Plan.from_dict({"data": "t.csv", "attributes": [*numbers, {"name": "job", "role": "other"}]}, tmp_path)
    found = {one["name"]: one for one in fitting(plan, [fresh(name) for name in METHODS])}
    assert {name for name, one in found.items() if one["promises"] == "alike"} == {
        *("microaggregation", "generalisation", "suppression")
    }
    assert found["group_permutation"]["promises"] == "chances"
    assert found["reverse_mapping"]["promises"] == "chances"
    assert found["noise"]["promises"] == "values"
    assert not found["recoding"]["fits"]
    assert "taxonomic" in found["recoding"]["why"]
    assert not found["shuffling"]["fits"]  # nothing is confidential
    some = {"name": "microaggregation", "k": 3, "attributes": ["age"]}
    assert [one["promises"] for one in fitting(plan, [some])] == ["values"]  # not in all quasi-identifiers
