"""The first page of a report: facts, and sentences that say no more than was looked at."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.evaluation.cover import _percent
from taxomask.plan import Plan
from taxomask.plan.run import run

TABLE = pa.table(
    {
        "id": [f"p{i}" for i in range(12)],
        "age": [20, 21, 22, 40, 41, 42, 60, 61, 62, 80, 81, 82],
        "sex": ["f", "m"] * 6,
        "ward": ["a", "b", "c"] * 4,
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("id", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("ward", role="other", note="wards are on the website"),
    ]
)


def covered(method: tm.Microaggregation | Any, **more: Any) -> dict[str, Any]:
    release = tm.protect(TABLE, SCHEMA, method, seed=3)
    return release.evaluate(**more).cover(release)


def test_the_verdict_by_hand() -> None:
    found = covered(tm.Microaggregation(3), attackers=["nearest"])
    promised, risk, lost = found["verdict"]
    assert promised == (
        "The method's promises were checked on the protected table, and hold: at least k = 3 records share every "
        "combination of age, sex."
    )
    assert risk.startswith("Of 100 records the only attacker that was tried (“nearest record”) finds ")
    assert lost.startswith("What is lost most is age, with a loss of ")
    why = "other, by decision of the custodian, wards are on the website"
    assert found["as_it_is"] == [{"columns": ["ward"], "why": why}]
    assert found["alone"].startswith("alone by what is released as it is (2 columns): ")
    assert (found["missing"], found["files"], found["practice"]) == (["purpose", "recipient"], [], "")


def test_several_attackers_and_analyses() -> None:
    asked = [tm.Mean("ages", of="age", by=["sex"])]
    _, risk, lost = covered(tm.Microaggregation(3), analyses=asked)["verdict"]
    assert re.search(r"the best of the \d+ attackers that were tried", risk)
    assert "'ages' agrees least" in lost


def test_attackers_look_for_people_where_k_counts_households() -> None:
    at_home = TABLE.append_column("home", pa.array([str(row // 2) for row in range(TABLE.num_rows)]))
    schema = tm.Schema([*SCHEMA.values(), tm.Attribute("home", role="identifier")], person="id", household="home")
    release = tm.protect(at_home, schema, tm.Microaggregation(3), seed=3)
    _, risk, _ = release.evaluate(attackers=["nearest"]).cover(release)["verdict"]
    assert risk.startswith("Of 100 people the only attacker")
    alone = tm.Schema(schema.values(), household="home")
    release = tm.protect(at_home, alone, tm.Microaggregation(3), seed=3)
    _, risk, _ = release.evaluate(attackers=["nearest"]).cover(release)["verdict"]
    assert risk.startswith("Of 100 households the only attacker")


def test_what_is_not_known_is_said() -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Microaggregation(3), seed=3)
    found = tm.evaluate(TABLE.drop(["id"]), release.data, SCHEMA.of(list(SCHEMA.values())[1:]), linked=False)
    _, risk, lost = found.cover(release)["verdict"]
    assert risk.startswith("How likely somebody is found is not known")
    assert lost.startswith("What is lost cannot be told column by column")


def test_no_promise_of_the_method_is_none() -> None:
    (promised, *_) = covered(tm.Noise(0.5, attributes=["age"]), attackers=["nearest"])["verdict"]
    assert "hold" in promised
    assert "k =" not in promised


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0"), (1, "100"), (0.182, "18.2"), (0.5, "50"), (1e-6, "fewer than 0.1"), (0.99999, "more than 99.9")],
)
def test_shares_are_never_rounded_to_none_or_all(share: float, words: str) -> None:
    assert _percent(share) == words


def test_the_first_page_of_a_plan(tmp_path: Path) -> None:
    import hashlib

    import pyarrow.csv as pc

    pc.write_csv(TABLE, tmp_path / "table.csv")
    content = {
        **SCHEMA.to_dict(tmp_path),
        "data": "table.csv",
        "method": {"name": "microaggregation", "k": 3},
        "purpose": "a study <of> wards",
        "recipient": "the university",
        "attackers": ["nearest"],
    }
    outcome = run(
        Plan.from_dict(content, tmp_path), output=str(tmp_path / "out.csv"), report=str(tmp_path / "report.html")
    )
    cover = outcome.cover()
    assert cover is not None
    facts = {one["key"]: one["value"] for one in cover["facts"]}
    assert (facts["file"], facts["purpose"], facts["recipient"]) == (
        "table.csv",
        "a study <of> wards",
        "the university",
    )
    assert facts["file_hash"] == hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
    assert cover["files"] == [
        {"name": "out.csv", "sha256": hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()}
    ]
    assert "read back from disk" in cover["verdict"][0]
    page = (tmp_path / "report.html").read_text()
    inside = re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.DOTALL)
    assert inside is not None
    assert json.loads(inside[1]) == json.loads(json.dumps(cover))
    assert "a study &lt;of&gt; wards" in page
    anchors = re.findall(r'<li><a href="#([^"]+)">', page)
    assert anchors
    assert all(f'id="{one}"' in page for one in anchors)
    assert str(tmp_path) not in page
