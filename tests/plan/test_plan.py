"""Plans: what they say, and what they refuse."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

import taxomask as tm
from taxomask.measures.analyses import ANALYSES as ANALYSES_KINDS
from taxomask.methods import METHODS
from taxomask.plan import EngineChoice, Plan, make_method, plan_json_schema
from taxomask.taxonomy.distances import DISTANCES

ATTRIBUTES = [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}]
METHOD = {"name": "microaggregation", "k": 5}


def plan(**content: Any) -> Plan:
    return Plan.from_dict({"attributes": ATTRIBUTES, **content})


def refusal(**content: Any) -> str:
    with pytest.raises(tm.PlanError) as error:
        plan(**content)
    return str(error.value)


def test_a_plan_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        """
data: table.csv
attributes:
  - {name: age, role: quasi_identifier, kind: continuous}
method: {name: reverse_mapping, inner: {name: microaggregation, k: 5}}
compare:
  - {name: microaggregation, vary: {k: [3, 5], algorithm: [auto, refined]}}
  - [{name: noise, amount: 0.1}, {name: rounding, base: 5}]
limits: {risk: 0.1}
output: {path: out.parquet, keep_order: true}
"""
    )
    read = Plan.read(tmp_path / "plan.yaml")
    assert read.method == tm.ReverseMapping(tm.Microaggregation(5))
    assert [str(method) for method in read.compare] == [
        "microaggregation(k=3)",
        "microaggregation(k=3, algorithm=refined)",
        "microaggregation(k=5)",
        "microaggregation(k=5, algorithm=refined)",
        str(tm.Pipeline((tm.Noise(0.1), tm.Rounding(5)))),
    ]
    assert (read.limits.risk, read.limits.loss, read.output.keep_order) == (0.1, None, True)
    assert read.located("table.csv") == str(tmp_path / "table.csv")
    again = Plan.from_dict(json.loads(json.dumps(read.to_dict())), tmp_path)
    assert (again.method, again.compare, again.limits, again.output) == (
        read.method,
        read.compare,
        read.limits,
        read.output,
    )


def test_every_method_can_be_written_and_read() -> None:
    values = {
        "k": 3, "inner": tm.Microaggregation(3), "methods": (tm.Rounding(5),), "level": 1, "base": 5, "top": 95,
        "epsilon": 8.0,
    }  # fmt: skip
    for kind in METHODS.values():
        method = kind(**{one.name: values[one.name] for one in dataclasses.fields(kind) if one.name in values})
        assert make_method(json.loads(json.dumps(method.to_dict()))) == method


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"methd": METHOD}, "'methd' is not a key of a plan.\nDid you mean 'method'?"),
        ({"limits": {"rsk": 0.1}}, "'rsk' is not a key of 'limits:'.\nDid you mean 'risk'?"),
        ({"limits": {"risk": 2}}, "limits: risk: input should be less than or equal to 1; got 2."),
        ({"output": {"keep_order": "yes"}}, "output: keep_order: input should be a valid boolean; got 'yes'."),
        ({"seed": -1}, "seed: input should be greater than or equal to 0; got -1."),
        ({"engine": "spark"}, "engine: name: input should be 'memory', 'local' or 'dask'; got 'spark'."),
        ({"engine": {"name": "dask", "wrokers": 2}}, "'wrokers' is not a key of 'engine:'.\nDid you mean 'workers'?"),
        ({"engine": {"workers": 0}}, "engine: workers: input should be greater than or equal to 1; got 0."),
        ({"engine": 3}, "engine: "),
        ({"engine": {"scratch": "/tmp/x"}}, "engine: scratch: '/tmp/x' is outside the folder of the plan."),
        ({"engine": {"scratch": "../x"}}, "engine: scratch: '../x' is outside the folder of the plan."),
        ({"method": "microaggregation"}, "a method has a name and parameters; got 'microaggregation'."),
        ({"method": {"name": "microagregation"}}, "there is no method 'microagregation'.\nDid you mean 'microagg"),
        ({"method": {**METHOD, "kk": 2}}, "method 'microaggregation' has no parameter 'kk'.\nDid you mean 'k'?"),
        ({"method": {"name": "microaggregation"}}, "method 'microaggregation' needs the parameter 'k'.\nWrite k: …"),
        ({"method": []}, "pipeline: methods must be a list of at least one method; got ()."),
        ({"compare": METHOD}, "compare is a list of methods"),
        ({"compare": [{**METHOD, "vary": {"k": 3}}]}, "'vary' lists values of parameters; got {'k': 3}."),
        ({"limits": {"singled_out": 2}}, "limits: singled_out: input should be less than or equal to 1; got 2."),
        ({"accept": [{"columns": ["age"]}]}, "accept: an entry has columns and a reason; got {'columns': ['age']}."),
        ({"accept": [{"columns": ["age"], "reason": ""}]}, "accept: age needs a reason; got ''."),
        ({"accept": [{"columns": ["aeg"], "reason": "x"}]}, "accept: there is no column 'aeg'.\nDid you mean 'age'?"),
        ({"accept": "age"}, "accept is a list of columns with a reason; got 'age'."),
        ({"data": "../table.csv"}, "data: '../table.csv' is outside the folder of the plan."),
        ({"output": {"path": "/tmp/out.csv"}}, "output: path: '/tmp/out.csv' is outside the folder of the plan."),
    ],
)
def test_what_is_wrong_is_said(content: dict[str, Any], message: str) -> None:
    assert refusal(**content).startswith(message)


def test_files_outside_the_folder_must_be_meant() -> None:
    for reach in (
        {"data": "../table.csv"},
        {"data": "postgresql://ann:s3cret@host/base?table=people"},
        {"engine": {"name": "dask", "scheduler": "ann:s3cret@host:8786"}},
        {"output": {"path": "sqlite:///made.db?table=people"}},
        {"engine": {"name": "dask", "scheduler": "tcp://host:8786"}},
    ):
        with pytest.raises(tm.PlanError, match=r"outside (its folder|the folder of the plan)") as found:
            plan(**reach)
        assert "--outside" in found.value.hint
        assert "s3cret" not in str(found.value)
        Plan.from_dict({"attributes": ATTRIBUTES, **reach}, outside=True)
    with pytest.raises(tm.PlanError, match="a plan cannot allow itself"):
        plan(outside=True)


def test_a_taxonomy_outside_the_folder_must_be_meant_too(tmp_path: Path) -> None:
    entry = {"name": "dx", "role": "other", "kind": "taxonomic", "taxonomy": "../tree.csv"}
    with pytest.raises(tm.PlanError, match=r"taxonomy: '\.\./tree\.csv' is outside the folder"):
        Plan.from_dict({"attributes": [entry]}, tmp_path)


def test_tags_that_would_run_code_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("attributes: !!python/object/apply:os.system ['touch ran']\n")
    with pytest.raises(tm.SchemaError, match="line 1: could not determine a constructor"):
        Plan.read(tmp_path / "plan.yaml")
    assert not Path("ran").exists()


def test_the_json_schema_lists_every_method_with_its_parameters() -> None:
    schema = plan_json_schema()
    json.dumps(schema)
    assert set(schema["$defs"]) == {"method", *METHODS}
    micro = schema["$defs"]["microaggregation"]
    assert micro["required"] == ["name", "k"]
    assert micro["properties"]["k"] == {"type": "integer", "minimum": 2, "description": "The smallest size of a group."}
    t = micro["properties"]["t"]["anyOf"]
    assert t == [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}]
    assert micro["properties"]["algorithm"]["enum"] == ["auto", "mdav", "refined"]
    assert schema["$defs"]["reverse_mapping"]["properties"]["inner"]["$ref"] == "#/$defs/method"
    described = schema["properties"]["attributes"]["anyOf"][0]["items"]["properties"]
    assert described["distance"] == {"enum": list(DISTANCES)}


def test_an_engine_is_a_word_or_a_mapping() -> None:
    assert plan().engine == plan(engine="memory").engine == EngineChoice(name="memory")
    assert plan(engine="local").engine == plan(engine={"name": "local"}).engine
    engine = {"name": "dask", "scheduler": "tcp://host:8786", "scratch": "tmp/here"}
    whole = Plan.from_dict({"attributes": ATTRIBUTES, "engine": engine}, outside=True)
    assert (whole.engine.scheduler, whole.engine.workers, whole.engine.scratch) == ("tcp://host:8786", None, "tmp/here")
    assert Plan.from_dict(json.loads(json.dumps(whole.to_dict())), outside=True).engine == whole.engine


def test_options_come_before_the_engine_of_the_plan() -> None:
    read = plan(engine={"name": "local", "workers": 3, "scratch": "tmp"})
    assert read.on().engine == read.engine
    assert read.on("memory").engine.name == "memory"
    assert read.on(workers=1).engine == EngineChoice(name="local", workers=1, scratch="tmp")
    assert read.on(scheduler="tcp://host:1").engine == EngineChoice(
        name="dask", workers=3, scheduler="tcp://host:1", scratch="tmp"
    )
    with pytest.raises(tm.PlanError, match="input should be 'memory', 'local' or 'dask'; got 'slurm'"):
        read.on("slurm")


def test_folders_of_a_plan_keep_their_slash(tmp_path: Path) -> None:
    read = Plan.from_dict({"attributes": ATTRIBUTES, "data": "in/", "output": {"path": "out/"}}, tmp_path)
    assert read.located("out/") == f"{tmp_path}/out/"
    assert read.located("out") == f"{tmp_path}/out"


def test_what_is_accepted_and_who_follows_is_written_as_it_is_read() -> None:
    content = {
        "attributes": [*ATTRIBUTES, {"name": "group", "role": "other", "follows": "age"}],
        "accept": [{"columns": ["group"], "reason": "public"}],
        "limits": {"singled_out": 0.1},
    }
    assert Plan.from_dict(content).to_dict() == content
    assert Plan.from_dict(content).attributes["group"].follows == "age"
    known = plan_json_schema()["properties"]
    assert known["accept"]["items"]["required"] == ["columns", "reason"]
    assert "follows" in known["attributes"]["anyOf"][0]["items"]["properties"]
    assert "singled_out" in known["limits"]["properties"]


def test_people_stand_beside_the_attributes() -> None:
    who = [{"name": "who", "role": "identifier"}, *ATTRIBUTES]
    said = {"person": "who", "population_size": 1000, "missing_person": "each"}
    whole = Plan.from_dict({"attributes": who, **said})
    assert whole.attributes.about_people() == said
    written = whole.to_dict()
    assert {key: written[key] for key in said} == said
    assert Plan.from_dict(written).attributes == whole.attributes
    with pytest.raises(tm.PlanError, match="'persons' is not a key of a plan") as caught:
        Plan.from_dict({"attributes": who, "persons": "who"})
    assert "person" in caught.value.hint
    with pytest.raises(tm.SchemaError, match="person must be the name of a column"):
        Plan.from_dict({"attributes": who, "person": "whom"})
    described = plan_json_schema()["properties"]
    assert described["person"]["type"] == described["household"]["type"] == "string"
    assert described["missing_person"]["enum"] == ["together", "each"]
    assert described["population_size"]["minimum"] == 1


def test_the_json_schema_knows_engines() -> None:
    word, mapping = plan_json_schema()["properties"]["engine"]["anyOf"]
    assert word == {"enum": ["memory", "local", "dask"]}
    assert set(mapping["properties"]) == {"name", "scheduler", "workers", "scratch"}
    assert mapping["additionalProperties"] is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("method: {name: [x]}", "there is no method ['x']."),
        ("method: {name: {a: b}}", "there is no method {'a': 'b'}."),
        ('data: "a\\0b.csv"', "data: 'a\\x00b.csv' is not the name of a file."),
        ('output: {path: "\\0.csv"}', "output: path: '\\x00.csv' is not the name of a file."),
    ],
)
def test_values_of_the_wrong_kind_are_refused_with_the_name_of_the_plan(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(f"attributes: [{{name: age, role: quasi_identifier, kind: continuous}}]\n{text}\n")
    with pytest.raises(tm.PlanError) as error:
        Plan.read(path)
    assert error.value.message == f"{path}: {message}"
    assert error.value.hint


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "normalize: [zeros: 3]",
            "normalize must name 'spaces', 'case', 'dots' or 'zeros:N' (such as 'zeros:3'); got {",
        ),
        ("normalize: 3", "normalize must be a list; got 3."),
        ('normalize: ["zeros:²"]', "normalize must name"),
        ('taxonomy: "\\0"', "taxonomy: '\\x00' is not the name of a file."),
    ],
)
def test_the_same_of_attributes(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "plan.yaml"
    given = {"taxonomy": "taxonomy: icd9cm", "normalize": "normalize: []"}
    given[entry.partition(":")[0]] = entry
    lines = "".join(f"    {line}\n" for line in given.values())
    path.write_text(f"attributes:\n  - name: dx\n    role: confidential\n    kind: taxonomic\n{lines}")
    with pytest.raises(tm.PlanError) as error:
        Plan.read(path)
    assert error.value.message.startswith(f"{path}: ")
    assert message in error.value.message
    assert error.value.hint


def test_attackers_are_named_in_a_plan() -> None:
    content = {"attributes": [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}]}
    plan = Plan.from_dict({**content, "attackers": ["nearest", "partial"], "limits": {"disclosure": 0.3}})
    assert plan.attackers == ("nearest", "partial")
    assert Plan.from_dict(plan.to_dict()) == plan
    refused: list[tuple[Any, str]] = [
        ("nearest", "a list of names"),
        (["nerest"], "no attacker 'nerest'"),
        ([], "to try"),
    ]
    for wrong, said in refused:
        with pytest.raises(tm.PlanError, match=said):
            Plan.from_dict({**content, "attackers": wrong})


ANALYSES = [
    {"name": "age", "kind": "mean", "of": "age"},
    {"name": "old", "kind": "count", "condition": "age > 65"},
    {"name": "odds", "kind": "logistic_regression", "response": "age > 65", "terms": ["age"], "confidence": 0.9},
]


def test_analyses_of_a_plan() -> None:
    read = plan(analyses=ANALYSES, limits={"analyses": 0.9})
    assert [type(one) for one in read.analyses] == [tm.Mean, tm.Count, tm.LogisticRegression]
    assert read.to_dict()["analyses"] == ANALYSES
    assert Plan.from_dict(read.to_dict()).analyses == read.analyses
    offered = plan_json_schema()["properties"]["analyses"]["items"]["oneOf"]
    assert [one["title"] for one in offered] == list(ANALYSES_KINDS)
    assert all(about["description"] for one in offered for key, about in one["properties"].items() if key != "kind")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"kind": "mean"}, "an analysis has a name"),
        ({"name": "a", "kind": "maen"}, "Did you mean 'mean'?"),
        ({"name": "a", "kind": "mean"}, "analysis 'a' needs the parameter 'of'"),
        ({"name": "a", "kind": "mean", "of": "age", "buy": ["age"]}, "Did you mean 'by'?"),
        ({"name": "a", "kind": "mean", "of": "agee"}, "Did you mean 'age'?"),
        ({"name": "a", "kind": "count", "condition": "age >"}, "there is no value after '>'"),
        ({"name": "a", "kind": "mean", "of": "age", "confidence": "high"}, "confidence must be a number"),
    ],
)
def test_analyses_that_a_plan_refuses(entry: dict[str, Any], said: str) -> None:
    assert said in refusal(analyses=[entry])


def test_a_limit_of_analyses_needs_some() -> None:
    assert "of which the plan has none" in refusal(limits={"analyses": 0.9})
    assert "analyses is a list" in refusal(analyses={"name": "a"})


@pytest.mark.parametrize(
    "method",
    [
        "&a [*a]",
        "[" * 45 + "{name: rounding, base: 5}" + "]" * 45,
        "&a {name: reverse_mapping, inner: *a}",
        "{name: &a {x: *a}}",
    ],
)
def test_what_holds_itself_or_lies_too_deep(tmp_path: Path, method: str) -> None:
    (tmp_path / "plan.yaml").write_text(f"attributes:\n  age: {{role: quasi_identifier}}\nmethod: {method}\n")
    with pytest.raises(tm.TaxomaskError, match="holds itself, or lies more than 40 levels deep") as error:
        Plan.read(tmp_path / "plan.yaml")
    assert "plan.yaml" in error.value.message
    assert error.value.hint


def test_a_few_lines_that_stand_for_a_billion_values(tmp_path: Path) -> None:
    lines = ["attributes:", "  a0: &a0 {order: [x, x, x, x, x, x, x, x, x, x]}"]
    lines += [f"  a{n}: &a{n} {{order: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 10)]
    (tmp_path / "plan.yaml").write_text("\n".join([*lines, "method: *a9", ""]))
    with pytest.raises(tm.TaxomaskError, match="more than 1,000,000 values"):
        Plan.read(tmp_path / "plan.yaml")
