"""A table as custodians have them: 37 columns, 1,000 discharges, and what usually has to be cleaned elsewhere first.

Charges with thousands separators, an unnamed column, decimals that are written out, "90+", dates in d.m.Y, codes with
their descriptions, and codes with the groups that they belong to. The records are the first 1,000 of the National
Hospital Discharge Survey 2010 (``data/drafts``); the file has neither charges nor days, so those are computed from the
other columns: they are made up, and tell nothing of anybody.

python tests/quirky.py discharges.csv
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from datetime import date, timedelta
from pathlib import Path

from taxomask import Taxonomy

RECORDS = Path(__file__).parent / "data" / "drafts" / "nhds2010.csv.gz"
KEPT = (
    *("sex", "race", "marital_status", "care_days", "dc_same_day", "dc_status", "region", "n_beds"),
    *("hospital_ownership", "weighting", "payor_primary", "payor_secondary", "adm_type", "adm_origin", "newborn"),
    *("dx02", "dx03", "dx04", "dx05", "dx06", "pc02", "pc03"),
)


def quirky() -> bytes:
    """The table as a CSV file."""
    with gzip.open(RECORDS, "rt", encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    diagnoses, procedures = Taxonomy.builtin("icd9cm"), Taxonomy.builtin("icd9cm_procedures")
    rows = []
    for number, one in enumerate(records):
        stay, code, procedure = int(one["care_days"]), one["dx01"], one["pc01"]
        mix = (number * 7919 + int(one["weighting"]) * 104_729) % 10_007
        came = date(2010, int(one["dc_month"]), 1) + timedelta(days=mix % 28)
        charges = 1_200 + 913 * stay + mix * (1 + stay % 5)
        above = diagnoses.ancestors(code)
        rows.append(
            {
                "": str(number + 1),
                "record number": f"R{100_000 + mix}-{number}",
                "age": "90+" if int(float(one["age_years"])) >= 90 else str(int(float(one["age_years"]))),
                "admission date": came.strftime("%d.%m.%Y"),
                "total charges": f"{charges + mix % 100 / 100:,.2f}",
                "deductible": f"{mix % 40 * 12.5:.2f}",
                "dx": code,
                "dx description": diagnoses[code].label,
                "dx category": code[: 4 if code.startswith("E") else 3],
                "dx chapter": next((c for c in above if c.startswith("CH ")), ""),
                "procedure": procedure,
                "procedure description": procedures[procedure].label if procedure else "",
                "DRG": one["DRG"],
                "major group": f"M{int(one['DRG']) // 100 if one['DRG'] else 0}",
                "ward": f"W{mix % 12:02}",
                **{name: one[name] for name in KEPT},
            }
        )
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(quirky())
