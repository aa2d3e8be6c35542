"""What the worker processes do for the page: the functions of the library, with plain values in and out."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..comparison import Point, RUMap, compare, search_weights
from ..engines import Memory
from ..errors import DataError, PlanError, TaxomaskError
from ..evaluation import Evaluation
from ..evaluation.page import page
from ..measures.plain import plain
from ..microdata import Microdata
from ..microdata.files import FORMATS
from ..microdata.files.excel import sheets_of, spoken
from ..plan import Plan, make_method
from ..plan.as_written import as_written
from ..plan.run import read_for, run
from ..release import protect_on
from ..report import figures
from ..taxonomy import builtin
from ..taxonomy.distances import DISTANCES
from .beside import side_by_side
from .describing import concepts, cover, describe, taxonomy_of
from .editing import edited
from .fitting import fitting
from .forms import analyses, attackers, compared, methods
from .plans import opened_plan, table_of_plan
from .worker import Report

__all__ = ["TASKS"]

SAMPLES = (300, 1200)  # records on which the time is measured
_NO_RISK = "it has no risk to show: none of the attackers that were chosen looks for people in it."
SECONDS = 60  # after which no step of a search for the smallest k begins
STAGES = {"masking": (0.0, 0.3), "measuring": (0.3, 0.6), "writing": (0.9, 0.1)}  # of a job: where it begins, its share


def run_plan(report: Report, content: dict[str, Any], folder: Path, target: Path, suffix: str) -> dict[str, Any]:
    """Protect a table as a plan says, with all files in a folder."""
    plan = _plan(content, folder)
    (target / "plan.yaml").write_text(_yaml(plan), encoding="utf-8")
    name = f"protected{suffix}"
    outcome = run(
        plan,
        output=str(target / name),
        report=str(target / "report.html"),
        progress=_Told(report),
    )
    assert outcome.evaluation is not None  # a report was asked for
    written, seed = outcome.publication, outcome.release.audit["seed"]
    command = f"taxomask protect --plan plan.yaml --output {name} --report report.html --seed {seed}"
    return {
        "tables": [Path(one).name for one in written.tables],
        "files": {"audit": written.audit.name, "note": written.note.name, "report": "report.html", "plan": "plan.yaml"},
        "command": command,
        "note": written.note.read_text(encoding="utf-8"),
        "headline": plain(outcome.evaluation.headline),
        "plan": plain(plan.to_dict()),
        "rows": side_by_side(outcome.release),
        **_shown(outcome.evaluation, page(outcome.evaluation, outcome.release.facts())),
    }


def compare_methods(
    report: Report, content: dict[str, Any], folder: Path, target: Path, search: dict[str, Any] | None
) -> dict[str, Any]:
    """Try the methods of a plan one after the other; each tells its point as soon as it is known.

    With ``search``, by what one of them is to be chosen, the smallest k is searched then, and weights for an analysis.
    """
    plan = as_written(_plan(content, folder))
    if not plan.compare:
        raise PlanError("there is no method to compare.", hint="Choose at least one.")
    _, table = read_for(plan)
    share = 1.0 if search is None else 0.5  # of the bar: how long a search takes is not known
    whole = partial(_Told(report).whole, stage="comparing")
    how: dict[str, Any] = {"attackers": plan.attackers, "cache": target, "workers": 1, "seconds": 0}
    wanted = {} if search is None else {"max_risk": search["limit"], "promise": search["promise"], "seconds": SECONDS}
    done = compare(
        table,
        plan.attributes,
        plan.compare,
        analyses=plan.analyses,
        progress=lambda part: whole(share * part),
        so_far=lambda found: report("part", _found(found)),
        **{**how, **wanted},
    )
    if search is None or search["analysis"] is None:
        return _found(done)
    return _found(done) | {"weights": _weights(table, plan, done, search, how)}


def _weights(table: Any, plan: Plan, done: RUMap, search: dict[str, Any], how: dict[str, Any]) -> dict[str, Any] | None:
    """What larger weights keep of an analysis, with the method that would be chosen by it; None if there is no such."""
    try:
        point = done.best(search["limit"], promise=search["promise"], analysis=search["analysis"]).point
    except PlanError:
        return None
    asked = next(one for one in plan.analyses if one.name == search["analysis"])
    found = search_weights(table, plan.attributes, point, asked, max_risk=search["limit"], **how)
    return {"words": str(found), "given": dict(found.weights), "method": point.method.to_dict()}


def estimate(report: Report, content: dict[str, Any], folder: Path, target: Path) -> dict[str, Any]:
    """How long a plan may take: measured on two samples and carried on as a power of the number of records."""
    import numpy as np

    plan = _plan(content, folder)
    if plan.method is None:
        raise PlanError("the plan names no method.", hint="Choose one.")
    _, table = read_for(plan)
    order, seconds, sizes = np.random.default_rng(0).permutation(table.num_rows), [], []
    for size in (SAMPLES[0], *SAMPLES):  # the first also loads what is compiled
        sample = table.take(np.sort(order[:size]))
        started = time.perf_counter()
        data = Microdata.from_frame(sample, plan.attributes)
        protect_on(Memory(), data, plan.method, seed=0).evaluate()
        seconds.append(time.perf_counter() - started)
        sizes.append(sample.num_rows)
        report("progress", (len(seconds) / (1 + len(SAMPLES)), "estimating"))
    power = 1.0
    if sizes[2] > sizes[1]:
        power = math.log(seconds[2] / seconds[1]) / math.log(sizes[2] / sizes[1])
    whole = seconds[2] * (table.num_rows / sizes[2]) ** min(max(power, 1.0), 2.0)
    return {"seconds": whole, "rows": table.num_rows, "sample": sizes[2]}


def draw_map(
    report: Report, found: dict[str, Any], limit: float | None, promise: str | None = None, analysis: str | None = None
) -> dict[str, Any]:
    """The map as a figure, and the best choice under a limit of risk, in words."""
    points = [
        Point(
            p["label"], make_method(p["method"]), p["risk"], p["loss"], p["numbers"], p["front"], tuple(p["promises"])
        )
        for p in found["points"]
    ]
    known = RUMap(tuple(points), tuple(tuple(one) for one in found["failed"]), tuple(found["protected"]))
    values = known.page(limit)
    best: dict[str, Any] | None = None
    if limit is not None and points:
        try:
            choice = known.best(limit, promise=promise, analysis=analysis)
            best = {"number": points.index(choice.point), "label": choice.point.label, "reason": choice.reason}
        except TaxomaskError as error:
            best = {"number": None, "label": "No method is good enough", "reason": f"{error.message} {error.hint}"}
    drawn = figures.risk_utility_map(
        values["points"], risk_name=values["risk_name"], loss_name=values["loss_name"], limit=limit
    )
    meanings = {
        one["name"]: {"title": one["meaning"].title, "about": one["meaning"].about} for one in values["columns"]
    }
    return {"figure": _bare(drawn), "best": best, "meanings": meanings}


def check_plan(report: Report, content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Whether a plan can be carried out, and how it is written."""
    plan = _plan(content, folder)
    plan.attributes.check_decided()
    return {"yaml": _yaml(plan), "compare": [str(one) for one in plan.compare]}


def list_methods(report: Report) -> dict[str, Any]:
    suffixes = [one.suffixes[0] for one in FORMATS if one.write is not None and one.suffixes[0].startswith(".")]
    names = {"taxonomies": list(builtin.names()), "distances": list(DISTANCES)}
    known = {"methods": methods(), "compared": compared(), "analyses": analyses(), "attackers": attackers()}
    return {**known, "formats": suffixes, **names}


def fit_methods(report: Report, content: dict[str, Any], folder: Path, entries: list[Any]) -> list[dict[str, Any]]:
    return fitting(_plan(content, folder), entries)


def list_sheets(report: Report, path: Path) -> dict[str, str]:
    return {name: spoken(name, hidden) for name, hidden in sheets_of(path).items()}


def open_plan(report: Report, path: Path, beside: Path, folder: Path, drafted: list[Any]) -> dict[str, Any]:
    return opened_plan(path, beside, folder, drafted)


def find_table(report: Report, path: Path) -> str | None:
    return table_of_plan(path)


def describe_table(report: Report, path: Path, folder: Path, rows: int, memory: int) -> dict[str, Any]:
    return describe(path, folder, rows=rows, memory=memory)


def cover_column(report: Report, path: Path, folder: Path, entry: dict[str, Any]) -> dict[str, Any]:
    return cover(path, folder, entry)


def list_concepts(
    report: Report, path: Path, folder: Path, source: Any, under: str | None, search: str
) -> dict[str, Any]:
    return concepts(path, folder, source, under, search)


def edit_taxonomy(report: Report, path: Path, folder: Path, source: Any, steps: list[Any], target: Path) -> str:
    edited(taxonomy_of(path, folder, source), steps).write(target)
    return target.name


TASKS: Mapping[str, Callable[..., Any]] = {
    "protect": run_plan,
    "compare": compare_methods,
    "estimate": estimate,
    "map": draw_map,
    "check": check_plan,
    "methods": list_methods,
    "describe": describe_table,
    "cover": cover_column,
    "concepts": list_concepts,
    "edit": edit_taxonomy,
    "fit": fit_methods,
    "sheets": list_sheets,
    "plan": open_plan,
    "table": find_table,
}


# --------------------------------------------------------------------------------------- inside


class _Told:
    """Tells how far a job is, some hundred times in all: the page asks for it now and then only."""

    def __init__(self, report: Report) -> None:
        self._report, self._last = report, (-1.0, "")

    def __call__(self, done: float, stage: str = "masking") -> None:
        """So much of a stage of `run` is done."""
        start, share = STAGES[stage]
        self.whole(start + share * done, stage)

    def whole(self, done: float, stage: str) -> None:
        """So much of the whole job is done."""
        last, before = self._last
        if done - last >= 0.01 or stage != before:
            self._last = done, stage
            self._report("progress", (float(done), stage))


def _plan(content: Mapping[str, Any], folder: Path) -> Plan:
    """A plan of the page; it cannot name files outside the folder of the table."""
    if content.get("outside") or "output" in content:
        raise PlanError("a plan of the page says neither 'outside' nor 'output'.", hint="Leave them out.")
    if "://" in str([entry.get("taxonomy") for entry in content.get("attributes", ()) if isinstance(entry, dict)]):
        raise DataError("a taxonomy is a shipped one or a file.", hint="Choose one of the list.")
    return Plan.from_dict(content, folder)


def _yaml(plan: Plan) -> str:
    import yaml

    text: str = yaml.safe_dump(plan.to_dict(), allow_unicode=True, sort_keys=False, width=110)
    return text


def _found(found: RUMap) -> dict[str, Any]:
    """A map in plain values, from which `draw_map` makes it again."""
    points = [
        {
            "label": point.label,
            "method": point.method.to_dict(),
            "risk": point.risk,
            "loss": point.loss,
            "front": point.front,
            "numbers": plain(point.numbers),
            "promises": list(point.promises),
        }
        for point in found.points
        if not math.isnan(point.risk)
    ]
    without = [(point.label, _NO_RISK) for point in found.points if math.isnan(point.risk)]
    more = {"protected": list(found.protected), "searched": list(found.searched)}
    return {"points": points, "failed": [*found.failed, *without], **more}


def _shown(evaluation: Evaluation, values: dict[str, Any]) -> dict[str, Any]:
    """The report in pieces, figures drawn."""
    links = {one.attributes[0]: one.expected for one in evaluation.risk.partial_linkage if len(one.attributes) == 1}
    intervals = {} if evaluation.risk.intervals is None else evaluation.risk.intervals.attributes
    columns = [
        {
            "name": column["name"],
            "kind": column["kind"],
            "loss": _number(column["loss"]),
            "changed": column["changed"],
            "linked": _number(links[column["name"]].value) if column["name"] in links else "–",
            "interval": _number(intervals[column["name"]].value) if column["name"] in intervals else "–",
            "wide": column["figure"] == "icicle",
            "same": column["same"],
            "words": column["words"],
            "figure": _drawn(column),
        }
        for column in values["columns"]
    ]
    together = values["correlations"] or {}
    done = values["done"]
    return {
        "cards": values["cards"],
        "columns": columns,
        "correlations": None
        if not together
        else [_bare(figures.heatmap(together["names"], together[when], title=when)) for when in ("before", "after")],
        "left_out": together.get("left_out", 0),
        "sections": [
            {**section, "rows": [{**row, "cells": list(map(_number, row["cells"]))} for row in section["rows"]]}
            for section in values["sections"]
        ],
        "checks": [
            {"promise": one.promise, "holds": one.holds, "verdict": one.verdict, "found": one.found}
            for one in done["checks"]
        ],
        "notes": list(done["notes"]),
        "by_chance": done["by_chance"],
    }


def _drawn(column: Mapping[str, Any]) -> str | None:
    name, kind = column["name"], column["figure"]
    if kind == "histogram":
        return _bare(figures.histogram(column["ends"], column["before"], column["after"], name=name))
    if kind == "bars":
        return _bare(figures.bars(column["labels"], column["before"], column["after"], name=name))
    return _bare(figures.icicle(column["tree"], name=name)) if kind == "icicle" else None


def _bare(figure: object) -> str:
    """A figure without its width, which the page sets itself: its policy allows no style in markup."""
    return re.sub(r' style="max-width:[0-9.]+px"', "", str(figure))


def _number(value: Any) -> str:
    return figures.number(value)
