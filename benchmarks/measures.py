"""The whole evaluation of a release: CPU seconds and peak memory. The parts are in utility.py and linkage.py.

On the whole NHDS 2010 file (151,551 records, if its path is in the environment variable NHDS; else on the shipped 2,000
discharges): six coded attributes, microaggregated with k = 5. Every measure of utility and of risk, and the report.

NHDS=nhds2010.csv.gz python benchmarks/measures.py
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import taxomask as tm
from measuring import run, timed
from taxomask import examples
from taxomask.evaluation import summary
from taxomask.microdata import read_table

BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]
KINDS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi_identifier", "kind": "continuous"},
    "sex": {"role": "quasi_identifier", "kind": "nominal"},
    "region": {"role": "quasi_identifier", "kind": "nominal"},
    "n_beds": {"role": "quasi_identifier", "kind": "ordinal", "order": BEDS},
    "care_days": {"role": "quasi_identifier", "kind": "continuous"},
    "dx01": {"role": "confidential", "kind": "taxonomic", "taxonomy": "icd9cm"},
}


def release() -> tm.Release:
    path = Path(os.environ.get("NHDS") or examples.path())
    known = read_table(path, text=True).column_names
    age = "age" if "age" in known else "age_years"
    names = [age if name == "age" else name for name in KINDS]
    table = read_table(path, names, text=["sex", "region", "n_beds", "dx01"]).rename_columns(list(KINDS))
    schema = tm.Schema([tm.Attribute(name, **how) for name, how in KINDS.items()])
    return tm.protect(table, schema, tm.Microaggregation(5), seed=1)


def whole() -> dict[str, Any]:
    made = release()
    found, seconds = timed(lambda: made.evaluate())
    with tempfile.TemporaryDirectory() as folder:
        _, page = timed(lambda: found.to_html(Path(folder) / "report.html", release=made))
    return {"records": made.original.n, "CPU s (must 60)": seconds, "report": page, **found.headline}


def attacked() -> dict[str, Any]:
    """All attackers beside the rest: with nobody but the nearest record, which needs no more than the linkage."""
    made = release()
    made.evaluate()
    _, every = timed(lambda: made.evaluate())
    _, rest = timed(lambda: made.evaluate(attackers=["nearest"]))
    return {
        "CPU s with all attackers": every,
        "with the nearest": rest,
        "attackers / rest (must 4)": (every - rest) / rest,
    }


def headline() -> dict[str, Any]:
    made = release()
    found, seconds = timed(lambda: summary(made.original, made.released, made.protected))
    return {"CPU s": seconds, **found.headline()}


if __name__ == "__main__":
    run({"evaluate": whole, "attackers": attacked, "what compare measures of each": headline})
