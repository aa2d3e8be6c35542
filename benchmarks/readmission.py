"""A regression as in a published study, before and after three methods: docs/analyses.md. Tests nothing.

    python benchmarks/readmission.py diabetic_data.csv.gz FOLDER

Strack et al. (2014, doi 10.1155/2014/781670) explain early readmission of diabetic patients by HbA1c, with
demographics, admission and diagnosis. This is a model of that kind, with main effects only, on 8,000 first encounters
of the public data of the study (doi 10.24432/C5230J), drawn at random, without those that ended in a hospice or in
death. A table, a plan, a release and a report of each method are written to the folder, by the command that a custodian
would use.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import taxomask as tm
from taxomask.plan import Plan
from taxomask.plan.run import read_for

ENDED = (11, 13, 14, 19, 20, 21)  # hospice or death
HOME = 1
SEED = 2**64 + 1
METHODS = ("{name: microaggregation, k: 5}", "{name: rank_swapping, p: 5}", "{name: group_permutation, k: 5}")
PLAN = """\
data: stays.csv
purpose: a published regression, before and after
attributes:
  - {{name: race, role: quasi_identifier, kind: nominal}}
  - {{name: gender, role: quasi_identifier, kind: nominal}}
  - {{name: age, role: quasi_identifier, kind: continuous}}
  - {{name: days, role: quasi_identifier, kind: continuous}}
  - {{name: specialty, role: quasi_identifier, kind: nominal}}
  - {{name: diag_1, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm, normalize: ['zeros:3', dots]}}
  - {{name: hba1c, role: confidential, kind: nominal}}
  - {{name: home, role: confidential, kind: nominal}}
  - {{name: readmitted, role: confidential, kind: nominal}}
method: {method}
attackers: [nearest]
analyses:
  - name: readmission
    kind: logistic_regression
    response: readmitted = '<30'
    terms: [hba1c, home, age, days, gender, 'diag_1 under (460-519, 786)', 'diag_1 under (390-459, 785)']
    reference: {{hba1c: not measured, home: 'yes'}}
  - {{name: stay by gender, kind: mean, of: days, by: [gender]}}
  - {{name: chapters by gender, kind: cross_table, of: [diag_1, gender], levels: {{diag_1: 2}}}}
"""


def stays(source: Path) -> pd.DataFrame:
    """The encounters of the model."""
    read = pd.read_csv(source, na_values="?", low_memory=False, keep_default_na=False)
    first = read.sort_values("encounter_id").drop_duplicates("patient_nbr")
    first = first[
        ~first.discharge_disposition_id.isin(ENDED) & first.diag_1.notna() & (first.gender != "Unknown/Invalid")
    ]
    some = first.iloc[np.sort(np.random.default_rng(1).choice(len(first), 8000, replace=False))]
    high = some.A1Cresult == ">8"
    changed = np.where(some.change == "Ch", "above 8, changed", "above 8, not changed")
    return pd.DataFrame(
        {
            "race": some.race,
            "gender": some.gender,
            "age": some.age.str.extract(r"(\d+)")[0].astype(int) + 5,
            "days": some.time_in_hospital,
            "specialty": some.medical_specialty,
            "diag_1": some.diag_1,
            "hba1c": np.where(some.A1Cresult == "None", "not measured", np.where(high, changed, "up to 8")),
            "home": np.where(some.discharge_disposition_id == HOME, "yes", "no"),
            "readmitted": some.readmitted,
        }
    )


def main(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stays(source).to_csv(folder / "stays.csv", index=False)
    for number, method in enumerate(METHODS):
        plan = folder / f"plan{number}.yaml"
        plan.write_text(PLAN.format(method=method), encoding="utf-8")
        asked = ["--plan", plan, "-o", folder / f"out{number}.csv", "--report", folder / f"report{number}.html"]
        command = [sys.executable, "-m", "taxomask", "protect", *map(str, asked), "--force", "--quiet"]
        done = subprocess.run([*command, "--seed", str(SEED)], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        show(Plan.read(plan))


def show(plan: Plan) -> None:
    """The same release measured once more, in figures."""
    assert plan.method is not None
    _, table = read_for(plan)
    found = tm.protect(table, plan.attributes, plan.method, seed=SEED).evaluate(
        attackers=plan.attackers, analyses=plan.analyses
    )
    print(f"{plan.method}: risk {found.headline['risk']:.3f}, loss {found.headline['loss']:.3f}")
    for name, one in found.analyses.items():
        print(f"  {name}: overlap {one.overlap:.3f}")
    model = found.analyses["readmission"]
    for label, before in model.before.items():
        after = model.after[label]
        shown = (f"{part.value:.2f} ({part.low:.2f} to {part.high:.2f})" for part in (before, after))
        print(f"    {label}: {' -> '.join(shown)}, overlap {model.each.get(label, float('nan')):.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
