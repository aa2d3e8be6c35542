"""Jobs queue, tell how far they are, can be cancelled, and fail without harm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engines.processes import end, family, wait_for
from taxomask import examples
from taxomask.web.tasks import TASKS

from .client import Server

PLAN: dict[str, Any] = {
    "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "kind": "continuous"},
        {"name": "sex", "role": "quasi_identifier", "kind": "nominal"},
        {"name": "race", "role": "quasi_identifier", "kind": "nominal"},
        {"name": "region", "role": "quasi_identifier", "kind": "nominal"},
        {"name": "n_beds", "role": "other"},
        {"name": "care_days", "role": "quasi_identifier", "kind": "continuous"},
        {"name": "dx01", "role": "confidential", "kind": "taxonomic", "taxonomy": "icd9cm"},
        {"name": "pc01", "role": "other"},
    ],
    "method": {"name": "microaggregation", "k": 5},
}
LONG = {**PLAN, "method": {"name": "microaggregation", "k": 5, "algorithm": "refined", "steps": 10**12}}


@pytest.fixture(scope="module")
def table(server: Server) -> str:
    identifier: str = server.post("/api/tables", {"example": "discharges"})["id"]
    return identifier


def start(server: Server, table: str, task: str, plan: dict[str, Any]) -> str:
    identifier: str = server.post(f"/api/tables/{table}/jobs", {"task": task, "plan": plan})["id"]
    return identifier


def running(server: Server, job: str) -> None:
    wait_for(lambda: server.get(f"/api/jobs/{job}")["state"] != "queued", "begin of the job")


def test_a_job_tells_what_the_command_line_would(server: Server, table: str) -> None:
    done = server.wait(start(server, table, "protect", PLAN))
    assert done["state"] == "done", done["error"]
    result = done["result"]
    assert all(check["holds"] for check in result["checks"])
    assert result["headline"]["k"] >= 5
    assert result["command"].startswith("taxomask protect --plan plan.yaml --output protected.csv.gz")
    status, headers, body = server.request("GET", f"/api/jobs/{done['id']}/files/protected.csv.gz")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="protected.csv.gz"'
    assert body.startswith(b"\x1f\x8b")
    status, headers, body = server.request("GET", f"/jobs/{done['id']}/report")
    assert status == 200
    assert "sandbox" in headers["content-security-policy"]
    for path in server.own.rglob("*"):  # the report too
        assert path.stat().st_mode & 0o077 == 0, path


def test_progress_covers_masking_measuring_and_writing(tmp_path: Path) -> None:
    told: list[tuple[str, Any]] = []
    plan = {**PLAN, "data": examples.path().name}
    TASKS["protect"](lambda *one: told.append(one), plan, examples.path().parent, tmp_path, ".csv")
    seen = [content for kind, content in told if kind == "progress"]
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert any(0.3 < fraction < 0.9 and stage == "measuring" for fraction, stage in seen)
    assert seen[-1] == (0.9, "writing")  # the rest is told by the end of the job


def test_the_progress_of_a_job_is_what_it_told_last(server: Server, table: str) -> None:
    done = server.wait(start(server, table, "protect", PLAN))
    assert (done["progress"], done["stage"]) == (0.9, "writing")


def test_a_job_is_cancelled_and_the_next_one_runs(server: Server, table: str) -> None:
    first, second = start(server, table, "protect", LONG), start(server, table, "protect", PLAN)
    running(server, first)
    waiting = server.get(f"/api/jobs/{second}")
    assert (waiting["state"], waiting["ahead"]) == ("queued", 1)
    assert server.post(f"/api/jobs/{first}/cancel")["state"] == "cancelled"
    assert server.wait(second)["state"] == "done"
    assert server.get(f"/api/jobs/{first}")["state"] == "cancelled"


@pytest.mark.slow
def test_a_waiting_job_is_cancelled(server: Server, table: str) -> None:
    first, second = start(server, table, "protect", LONG), start(server, table, "protect", PLAN)
    server.post(f"/api/jobs/{second}/cancel")
    server.post(f"/api/jobs/{first}/cancel")
    assert server.wait(second)["result"] is None


def test_an_error_is_shown_with_its_hint(server: Server, table: str) -> None:
    failed = server.wait(start(server, table, "protect", {**PLAN, "method": {"name": "microaggregation", "k": 1}}))
    assert failed["state"] == "failed"
    assert "k must be an integer of at least 2; got 1." in failed["error"]["message"]


@pytest.mark.parametrize(
    "plan", [{}, {"attributes": 3}, {"attributes": [{}]}, {"attributes": [{"name": {}}]}, None, []]
)
def test_a_plan_that_is_none_is_an_error_of_the_job(server: Server, table: str, plan: Any) -> None:
    assert server.wait(start(server, table, "protect", plan))["state"] == "failed"


@pytest.mark.slow
def test_a_crash_does_not_take_the_server_down(server: Server, table: str) -> None:
    job = start(server, table, "protect", LONG)
    wait_for(lambda: server.get(f"/api/jobs/{job}")["stage"], "progress")
    for one in family(server.process.pid)[1:]:
        end(one.pid)
    failed = server.wait(job)
    assert failed["state"] == "failed"
    assert "ended unexpectedly" in failed["error"]["message"]
    assert server.wait(start(server, table, "protect", PLAN))["state"] == "done"


def test_points_of_a_comparison_arrive_one_by_one(server: Server, table: str) -> None:
    grid = [{"name": "microaggregation", "vary": {"k": [3, 5, 20]}}, {"name": "recoding", "level": 1}]
    job, seen = start(server, table, "compare", {**PLAN, "compare": grid}), set()
    while (found := server.get(f"/api/jobs/{job}"))["state"] != "done":
        assert found["state"] in ("queued", "running"), found["error"]
        seen.add(len(found["parts"][0]["points"]) if found["parts"] else 0)
    assert len(found["result"]["points"]) == 3
    assert found["result"]["failed"][0][0] == "recoding(level=1)"
    risks = [point["risk"] for point in found["result"]["points"]]
    assert risks == sorted(risks, reverse=True)
    drawn = server.get(f"/api/jobs/{job}/map?limit={risks[1]}")
    assert drawn["best"]["label"] == "microaggregation(k=5)"
    assert drawn["figure"].count("<circle") == 3
    assert server.get(f"/api/jobs/{job}/map?limit=0")["best"]["number"] is None
    assert server.request("GET", f"/api/jobs/{job}/map?limit=x")[0] == 400


@pytest.mark.slow
def test_the_time_is_estimated(server: Server, table: str) -> None:
    done = server.wait(start(server, table, "estimate", PLAN))
    assert done["state"] == "done", done["error"]
    assert done["result"]["seconds"] > 0


def test_a_hundred_requests_at_once_while_a_job_runs(server: Server, table: str) -> None:
    job = start(server, table, "protect", LONG)
    running(server, job)

    def ask(number: int) -> int:
        path = (f"/api/tables/{table}", f"/api/jobs/{job}", "/api/folder", "/", "/api/methods")[number % 5]
        status, _, body = server.request("GET", path)
        return status if body else 0

    with ThreadPoolExecutor(100) as pool:
        assert set(pool.map(ask, range(100))) == {200}
    assert server.get(f"/api/jobs/{job}")["state"] == "running"
    server.post(f"/api/jobs/{job}/cancel")
