"""The JSON schema that `taxomask schema` prints, against plans that hold and plans that do not."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import taxomask as tm
from cli.conftest import Run
from taxomask import examples
from taxomask.plan import Plan

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)

GOOD: dict[str, Any] = {
    "data": "discharges.csv.gz",
    "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "kind": "continuous", "weight": 0.5},
        {"name": "beds", "role": "quasi_identifier", "kind": "ordinal", "order": ["1-9", "10+"], "missing": ["", 9]},
        {"name": "dx", "role": "confidential", "kind": "taxonomic", "taxonomy": "icd9cm", "normalize": ["zeros:3"]},
    ],
    "method": {"name": "microaggregation", "k": 5, "l": 3},
    "compare": [{"name": "microaggregation", "vary": {"k": [3, 5]}}, [{"name": "rounding", "base": 5}]],
    "limits": {"risk": 0.2, "loss": 0.5},
    "output": {"path": "out.csv", "keep_order": True},
    "seed": 7,
}
BROKEN: dict[str, Any] = {
    "a misspelt key": {"methods": {"name": "shuffling"}},
    "no attributes": {"attributes": None},
    "a misspelt key of an attribute": {"attributes": [{"name": "age", "rule": "other"}]},
    "an unknown role": {"attributes": [{"name": "age", "role": "quasi"}]},
    "an unknown kind": {"attributes": [{"name": "age", "role": "other", "kind": "integer"}]},
    "an attribute without a name": {"attributes": [{"role": "other"}]},
    "a weight of 0": {"attributes": [{"name": "age", "role": "quasi_identifier", "kind": "continuous", "weight": 0}]},
    "an unknown method": {"method": {"name": "micro_aggregation", "k": 5}},
    "a method without what it needs": {"method": {"name": "microaggregation"}},
    "a misspelt parameter": {"method": {"name": "microaggregation", "kk": 5}},
    "a misspelt parameter in a pipeline": {"method": [{"name": "rounding", "bases": 5}]},
    "a misspelt parameter beside vary": {"compare": [{"name": "microaggregation", "kk": 5, "vary": {"k": [3]}}]},
    "a misspelt parameter in vary": {"compare": [{"name": "microaggregation", "vary": {"kk": [3]}}]},
    "vary without a list": {"compare": [{"name": "microaggregation", "vary": {"k": 3}}]},
    "vary in a method": {"method": {"name": "microaggregation", "k": 5, "vary": {"k": [3]}}},
    "compare without a list": {"compare": {"name": "shuffling"}},
    "a risk above 1": {"limits": {"risk": 5}},
    "a misspelt limit": {"limits": {"risks": 0.1}},
    "a misspelt key of the output": {"output": {"file": "out.csv"}},
    "text for yes or no": {"output": {"keep_order": "yes"}},
    "a negative seed": {"seed": -1},
    "an unknown engine": {"engine": "spark"},
}


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    from taxomask.plan import plan_json_schema

    schema = plan_json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_command_prints_the_schema(run: Run, validator: Draft202012Validator) -> None:
    code, out, _ = run("schema")
    assert code == 0
    assert json.loads(out) == validator.schema


def test_a_good_plan_holds(validator: Draft202012Validator) -> None:
    validator.validate(GOOD)
    assert Plan.from_dict(GOOD).seed == 7
    validator.validate(Plan.from_dict(GOOD).to_dict())  # as the page writes it


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_plan_is_refused_by_the_schema_and_by_the_program(what: str, validator: Draft202012Validator) -> None:
    plan = {**copy.deepcopy(GOOD), **BROKEN[what]}
    with pytest.raises(tm.TaxomaskError):
        Plan.from_dict(plan)
    assert not validator.is_valid(plan)


def test_drafted_plans_hold(run: Run, tmp_path: Path, validator: Draft202012Validator) -> None:
    for path in (DATA / "adult-arx").glob("*.csv"):
        shutil.copy(path, tmp_path)
    shutil.copy(DATA / "adult" / "adult.csv.gz", tmp_path)
    shutil.copy(examples.path(), tmp_path)
    (tmp_path / "stays.csv").write_text(
        "patient_nbr,age,diag_1\n"
        + "".join(f"{i},[{i % 9}0-{i % 9 + 1}0),{('8', '250.01', '?')[i % 3]}\n" for i in range(90))
    )
    for name in ("adult.csv.gz", examples.path().name, "stays.csv"):
        plan = tmp_path / "plan.yaml"
        assert run("inspect", tmp_path / name, "-o", plan, "--force", "-q")[0] == 0
        content = yaml.safe_load(plan.read_text(encoding="utf-8"))
        validator.validate(content)
        assert len(Plan.read(plan).attributes) == len(content["attributes"])


def test_the_plans_of_the_docs_hold(validator: Draft202012Validator) -> None:
    blocks = [
        yaml.safe_load(text)
        for path in sorted((ROOT / "docs").rglob("*.md"))
        for text in BLOCK.findall(path.read_text(encoding="utf-8"))
    ]
    plans = [{"attributes": [], **block} for block in blocks if isinstance(block, dict)]
    assert len(plans) >= 5
    for plan in plans:
        validator.validate(plan)
