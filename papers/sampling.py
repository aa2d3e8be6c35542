"""How the samples of NHDS 2010 in tests/data/nhds2010 were drawn that the pages of P0 and P3 need.

python -m papers.sampling nhds2010.csv.gz      the public-use file, with the columns that its PROVENANCE.md names

``complete.csv.gz``: the neoplasm discharges whose race is stated, with sex and race, as P0 left out incomplete records.
``dataset1.csv.gz``: P3 drew 1,172 patients with 783 diagnoses and 430 procedures. A plain sample of NHDS has far fewer
(births and deliveries fill it), so a record is drawn with a chance of (discharges with its diagnosis × discharges with
its diagnosis and procedure)^(-1/5), which comes close to the printed numbers of categories and to the correlation.
``dataset3.csv.gz``: P3's 1,012 patients have 55 diagnoses and 94 procedures, and every combination occurs more than
twice. Births left out, the combinations of diagnosis, procedure and second diagnosis that occur at least three times
are drawn at random, each with at most 12 records, among those of the 65 diagnoses with the most different procedures.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import taxomask as tm
from papers.data import DATA
from taxomask.microdata import read_table

CODES = ["dx01", "pc01", "dx02"]
SEED = 1


def complete(path: Path) -> pa.Table:
    """The neoplasm discharges without missing values."""
    table = read_table(path, ["age_years", "sex", "race", "care_days", "dx01"], text=["dx01"])
    icd = tm.Taxonomy.builtin("icd9cm")
    chapter = {code: icd.ancestors(code)[1] for code in table["dx01"].unique().to_pylist()}
    keep = [chapter[code] == "CH 140-239" for code in table["dx01"].to_pylist()]
    return table.filter(pc.and_(pa.array(keep), pc.not_equal(table["race"], "not_stated")))


def dataset1(table: pa.Table) -> pa.Table:
    table = table.filter(pc.is_valid(table["pc01"])).select(CODES[:2])
    pairs = list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    diagnoses, both = Counter(one for one, _ in pairs), Counter(pairs)
    chance = np.array([diagnoses[pair[0]] * both[pair] for pair in pairs], dtype=float) ** -0.2
    rows = np.random.default_rng(SEED).choice(len(pairs), 1172, replace=False, p=chance / chance.sum())
    return table.take(np.sort(rows))


def dataset3(table: pa.Table) -> pa.Table:
    table = table.filter(pc.and_(pc.is_valid(table["pc01"]), pc.is_valid(table["dx02"]))).select(CODES)
    rows: dict[tuple[str, ...], list[int]] = defaultdict(list)
    icd = tm.Taxonomy.builtin("icd9cm")
    births = {code: _birth(icd, code) for code in table["dx01"].unique().to_pylist()}
    for row, combination in enumerate(zip(*(table[name].to_pylist() for name in CODES), strict=True)):
        if not births[combination[0]]:
            rows[combination].append(row)
    rows = {combination: found for combination, found in rows.items() if len(found) >= 3}
    procedures: dict[str, set[str]] = defaultdict(set)
    for diagnosis, procedure, _ in rows:
        procedures[diagnosis].add(procedure)
    varied = set(sorted(procedures, key=lambda code: (-len(procedures[code]), code))[:65])
    combinations = sorted(combination for combination in rows if combination[0] in varied)
    rng = np.random.default_rng(SEED)
    drawn: list[int] = []
    for i in rng.permutation(len(combinations)):
        found = rows[combinations[i]]
        size = min(len(found), 12)
        if len(drawn) + size <= 1012:
            drawn += rng.choice(found, size, replace=False).tolist()
    return table.take(np.sort(drawn))


def _birth(icd: tm.Taxonomy, code: str) -> bool:
    """Deliveries, pregnancies and newborn children."""
    return icd.ancestors(code)[1] in ("CH 630-679", "CH 760-779") or code.startswith(("V27", "V3"))


def write(name: str, table: pa.Table) -> None:
    text = io.BytesIO()
    pyarrow.csv.write_csv(table, text, pyarrow.csv.WriteOptions(quoting_style="none"))
    with gzip.GzipFile(DATA / "nhds2010" / f"{name}.csv.gz", "wb", mtime=0) as file:
        file.write(text.getvalue())


def main(path: Path) -> None:
    table = read_table(path, CODES, text=True)
    write("complete", complete(path))
    write("dataset1", dataset1(table))
    write("dataset3", dataset3(table))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
