"""One line in a list is enough: what is declared once is seen everywhere (see docs/adding.md)."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from cli import conftest as commands
from cli.conftest import ATTRIBUTES, CODES, TABLE, Run, write_plan
from taxomask.measures import Figure, Measure, Tables, Utility
from taxomask.measures.measured import Measured
from taxomask.measures.risk import RISK, Rate
from taxomask.measures.utility import UTILITY
from taxomask.methods import METHODS, Masked, Method, Promise
from taxomask.microdata import files
from taxomask.microdata.files import open_table
from taxomask.plan import make_method, plan_json_schema
from taxomask.taxonomy import readers
from taxomask.taxonomy.distances import DISTANCES, ByCommonAncestors
from taxomask.taxonomy.listing import Listing
from taxomask.web.forms import methods as forms

run, folder = commands.run, commands.folder  # fixtures

ROOT = Path(__file__).parents[1]
FRAME = pa.table({"age": [20, 21, 22, 40, 41, 42], "dx": ["25001", "4019", "4019", "25001", "0380", "0380"]})
SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm"),
    ]
)


def evaluated(**options: Any) -> tm.Evaluation:
    protected = tm.protect(FRAME, SCHEMA, tm.Microaggregation(3)).data
    return tm.evaluate(FRAME, protected, SCHEMA, **options)


# ----------------------------------------------------------------------------------- a measure


def moved(tables: Tables) -> dict[str, Any]:
    each = {name: float((~x.same(y)).mean()) for name, (x, y) in tables.columns.items()}
    return {"overall": sum(each.values()) / len(each), "each": each}


def moving(name: str = "moved", compute: Callable[[Tables], Any] = moved, **options: Any) -> Measure:
    return Measure(
        name,
        title="cells that moved",
        about="The share of cells that are not what they were.",
        paper="MOVE",
        unit="cells",
        compute=lambda tables, _: compute(tables),
        seconds=lambda tables: 1e-9 * tables.cells,
        **options,
    )


def test_a_measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run, folder: Path) -> None:
    each = Figure("each.*", "share that moved", "The share of cells of a column that are not what they were.")
    monkeypatch.setitem(UTILITY, "moved", moving(more=(each,)))
    found = evaluated()
    assert found.utility.moved["each"] == {"age": pytest.approx(4 / 6), "dx": 0.0}
    assert found.utility["moved"] is found.utility.moved
    values = json.loads(json.dumps(found.to_dict()))
    assert values["utility"]["moved"]["overall"] == pytest.approx(1 / 3)
    assert values["papers"]["MOVE"]["here"] == "utility.moved.overall"
    assert "utility.moved.each.age" in found.to_frame()["measure"].to_pylist()
    assert "cells that moved 0.3333" in repr(Utility({"moved": found.utility.moved}))
    found.to_html(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "cells that moved" in report
    assert "share that moved: age" in report
    table = runpy.run_path(str(ROOT / "tools" / "api-reference"))["measures"]()
    words = "cells that moved | The share of cells that are not what they were. | MOVE | cells | all"
    assert f"| {words} | `utility.moved.overall` |" in table
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--quiet")[0] == 0
    command = ("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml")
    assert "cells that moved" in run(*command, "--all")[1]
    assert "cells that moved" not in run(*command)[1]
    assert json.loads(run(*command, "--json")[1])["utility"]["moved"]["overall"] > 0


def test_a_measure_is_given_the_columns_that_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UTILITY, "moved", moving(columns=("taxonomic",)))
    assert evaluated().utility.moved["each"] == {"dx": 0.0}


def test_a_measure_that_needs_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UTILITY, "moved", moving(needs_links=True, otherwise="none"))
    assert evaluated(linked=False).utility.moved == "none"


def test_an_intruder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    intruder = moving(
        "guesser",
        lambda tables: {"age": Rate.of(3, tables.n, 0.25)},
        where="*.value",
        rates=lambda found: {f"{name} guessed by dice": rate for name, rate in found.items()},
    )
    monkeypatch.setitem(RISK, "guesser", intruder)
    found = evaluated()
    found.to_html(tmp_path / "report.html")
    attacks = (tmp_path / "report.html").read_text().partition("What an intruder could learn")[2]
    assert "age guessed by dice" in attacks.partition("</table>")[0]
    assert found.to_dict()["risk"]["guesser"]["age"]["value"] == 0.5


def test_a_measure_on_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = moving(on_engine=lambda engine, tables: engine.map(moved, [(tables,)], "moving", main=True)[0])
    monkeypatch.setitem(UTILITY, "moved", measure)
    told: list[float] = []
    assert evaluated(progress=told.append).utility.moved["each"]["dx"] == 0.0
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def fails(tables: Tables) -> None:
    raise ZeroDivisionError("what a pity")


def test_a_measure_that_goes_wrong_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(UTILITY, "moved", moving(compute=fails))
    with pytest.warns(UserWarning, match="utility.moved could not be measured and is left out: ZeroDivisionError"):
        found = evaluated()
    assert found.utility.moved is None
    assert found.to_dict()["failed"] == {"utility.moved": "ZeroDivisionError: what a pity"}
    found.to_html(tmp_path / "report.html")
    assert "ZeroDivisionError: what a pity" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("kind", ["utility", "risk"])
def test_a_report_is_written_whatever_goes_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    every = UTILITY if kind == "utility" else RISK
    wrong = {name: one for name, one in every.items() if not one.headline}
    for name, one in wrong.items():
        monkeypatch.setitem(every, name, replace(one, compute=lambda tables, _: fails(tables)))
    with pytest.warns(UserWarning, match="could not be measured"):
        found = evaluated()
    assert list(found.failed) == [f"{kind}.{name}" for name in wrong]
    found.to_html(tmp_path / "report.html")
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_headline_is_never_made_of_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UTILITY, "moved", moving(compute=fails, headline=True))
    with pytest.raises(ZeroDivisionError):
        evaluated()

    def complains(tables: Tables) -> None:
        raise tm.DataError("this table is odd.", hint="Mend it.")

    monkeypatch.setitem(UTILITY, "moved", moving(compute=complains))
    with pytest.raises(tm.DataError, match="odd"):
        evaluated()


def test_names_of_measures_can_be_attributes() -> None:
    assert [name for name in (*UTILITY, *RISK) if hasattr(Measured, name) or not name.isidentifier()] == []
    assert all(name == one.name for every in (UTILITY, RISK) for name, one in every.items())


# ----------------------------------------------------------------------------------- a distance


class Jaccard(ByCommonAncestors):
    """1 - |T1 ∩ T2| / |T1 ∪ T2|."""

    name = "jaccard"
    metric = True
    reference = "Jaccard (1912)"

    def formula(self, scope: Any, size1: Any, size2: Any, common: Any) -> Any:
        return 1 - common / (size1 + size2 - common)


def test_a_distance(monkeypatch: pytest.MonkeyPatch, run: Run, folder: Path) -> None:
    monkeypatch.setitem(DISTANCES, "jaccard", Jaccard())
    expected = tm.Taxonomy.builtin("icd9cm").distance_matrix(list(CODES), distance="jaccard")
    code, out, _ = run("taxonomy", "distance", "icd9cm", *CODES, "--distance", "jaccard", "--json")
    assert code == 0
    assert json.loads(out)["matrix"] == expected.tolist()
    assert "'jaccard'" in run("taxonomy", "distance", "icd9cm", *CODES, "--distance", "none of these")[2]
    write_plan(folder, ATTRIBUTES.replace("taxonomy: icd9cm", "taxonomy: icd9cm, distance: jaccard"))
    plan = tm.Plan.read(folder / "plan.yaml")
    assert plan.attributes["dx"].distance == "jaccard"
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--quiet")[0] == 0


# ----------------------------------------------------------------------------------- a reader of taxonomies


def outline(source: Any) -> Listing:
    listing, above = Listing(source.name), list[str]()
    for line, text in enumerate(source.text.splitlines()[1:], start=2):
        concept = text.strip()
        del above[len(text) - len(concept) :]
        listing.add(concept, line=line)
        if above:
            listing.link(concept, above[-1], line=line)
        above.append(concept)
    return listing


def test_a_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    reader = readers.Reader(
        "outline", "an indented outline", lambda source: source.head.startswith("outline:"), outline
    )
    monkeypatch.setattr(readers, "READERS", {"outline": reader, **readers.READERS})
    path = tmp_path / "tree.txt"
    path.write_text("outline:\nDisorder\n Coma\n Pain\n  Headache\n")
    for found in (tm.Taxonomy.read(path), tm.Taxonomy.read(path, format="outline")):
        assert set(found.ancestors("Headache")) == {"Headache", "Pain", "Disorder"}
    assert json.loads(run("taxonomy", "info", path, "--json")[1])["concepts"] == 4
    assert "'outline'" in run("taxonomy", "info", path, "--format", "none of these")[2]
    (tmp_path / "binary.txt").write_text("?")
    with pytest.raises(tm.TaxonomyError, match="an indented outline"):
        tm.Taxonomy.read(tmp_path / "binary.txt")


# ----------------------------------------------------------------------------------- a file format


class Lines(files.Source):
    """JSON, a record on each line."""

    format = "json lines"

    def __init__(self, path: Path, *, text: object, safe_cells: bool) -> None:
        self._rows = [json.loads(line) for line in path.read_text().splitlines()]
        super().__init__(path, list(self._rows[0]), len(self._rows))

    def _batches(self, rows: int, columns: list[str]) -> Any:
        return pa.Table.from_pylist(self._rows).select(columns).to_reader(rows)

    def extras(self) -> Iterator[files.Extra]:
        return iter(())


def write_lines(batches: Any, path: Path, *, like: object, name: str, safe_cells: bool) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in batches.read_all().to_pylist()))


def test_a_file_format(monkeypatch: pytest.MonkeyPatch, run: Run, folder: Path) -> None:
    lines = files.Format("json lines", (".jsonl",), lambda start: start.startswith(b"{"), Lines, write_lines)
    monkeypatch.setattr(files, "FORMATS", (lines, *files.FORMATS))
    header, *rows = (line.split(",") for line in TABLE.splitlines())
    people = [dict(zip(header, row, strict=True)) for row in rows]
    (folder / "table.jsonl").write_text("".join(f"{json.dumps(one | {'age': int(one['age'])})}\n" for one in people))
    assert open_table(folder / "table.jsonl").names == tuple(header)
    plan = (folder / "plan.yaml").read_text().replace("table.csv", "table.jsonl")
    (folder / "plan.yaml").write_text(plan)
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.jsonl", "--quiet")[0] == 0
    written = open_table(folder / "out.jsonl").read()
    assert written.column_names == ["age", "grade", "dx", "remark"]
    assert written.num_rows == len(people)
    assert "'.jsonl'" in run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.jsnl", "--quiet")[2]


# ----------------------------------------------------------------------------------- a method


@dataclass(frozen=True)
class Permutation(Method):
    """Every protected column is permuted by itself.

    Parameters
    ----------
    times
        How often.
    """

    times: int = 1

    name = "permutation"
    about = "Permutes every protected column."
    reference = "none"

    def mask(self, data: tm.Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        names = data.schema.quasi_identifiers
        return Masked(data.replace({name: data.columns[name].take(rng.permutation(data.n)) for name in names}))

    def promises(self, data: tm.Microdata) -> tuple[Promise, ...]:
        return ()


def test_a_method(monkeypatch: pytest.MonkeyPatch, run: Run, folder: Path) -> None:
    monkeypatch.setitem(METHODS, "permutation", Permutation)
    assert make_method({"name": "permutation", "times": 2}) == Permutation(2)
    write_plan(folder, method="{name: permutation}")
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--quiet")[0] == 0
    ages = open_table(folder / "out.csv").read()["age"].to_pylist()
    assert sorted(ages) == list(range(20, 32))
    assert "Permutes every protected column." in run("methods")[1]
    assert "How often." in run("methods", "permutation")[1]
    assert "times" in plan_json_schema()["$defs"]["permutation"]["properties"]
    (form,) = (one for one in forms() if one["name"] == "permutation")
    assert [one["name"] for one in form["parameters"]] == ["times"]
    assert form["parameters"][0]["help"] == "How often."
