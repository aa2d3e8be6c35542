"""``taxomask demo``: what a taxonomy adds, on a shipped table of real discharges."""

from __future__ import annotations

from .show import print_facts, print_table, share

__all__ = ["demo"]


def demo() -> None:
    """Show what taxomask makes of the diagnoses in 2,000 real hospital discharges."""
    import numpy as np

    from .. import examples
    from ..microdata import Attribute, Microdata, Schema, read_table
    from ..microdata.coverage import coverage
    from ..records import RecordDistance
    from ..semantics import distance_correlation, marginality, nominal_variance
    from ..taxonomy import Taxonomy

    table = read_table(examples.path(), text=True)
    icd = Taxonomy.builtin("icd9cm")
    codes = table["dx01"].to_pylist()
    found = coverage(table["dx01"], icd)
    print_facts(
        "2,000 real discharges of US hospitals in 2010 (NHDS public-use file), and their diagnoses in ICD-9-CM",
        [
            ("taxonomy", repr(icd)),
            ("codes in the taxonomy", share(found.mapped_cells, found.cells)),
            ("distinct codes", f"{found.values:,}"),
            ("of these inner nodes", share(found.inner_values, found.values)),
        ],
    )

    print("\nThe middle and the edge of the data: marginality, the sum of semantic distances to all other records")
    m = marginality(codes, icd)
    order = [
        i
        for i in np.argsort(m, kind="stable").tolist()
        if i == min(j for j in range(len(codes)) if codes[j] == codes[i])
    ]
    print_table(
        ["code", "records", "marginality", "label"],
        [(codes[i], codes.count(codes[i]), f"{m[i]:.1f}", icd[codes[i]].label) for i in [*order[:3], *order[-3:]]],
    )
    print(f"Nominal variance of the diagnosis: {nominal_variance(codes, icd):.1f}")
    correlation = distance_correlation(codes, table["pc01"], icd, Taxonomy.builtin("icd9cm_procedures"))
    print(f"Semantic distance correlation of diagnosis and procedure: {correlation:.3f}")

    schema = Schema(
        [
            Attribute("id", role="identifier"),
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("care_days", role="quasi_identifier", kind="continuous"),
            Attribute("sex", role="quasi_identifier", kind="nominal"),
            Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy=icd),
            *(Attribute(name, role="other") for name in ("race", "region", "n_beds", "pc01")),
        ]
    )
    distance = RecordDistance(Microdata.from_frame(table, schema))
    away = distance.to_all(0)
    print("\nThe records nearest to the first one, by age, days of care, sex and the meaning of the diagnosis")
    rows = table.select(["age", "care_days", "sex", "dx01"]).to_pylist()
    print_table(
        ["age", "days", "sex", "code", "label", "distance"],
        [
            (*rows[i].values(), icd[rows[i]["dx01"]].label, f"{away[i]:.3f}")
            for i in np.argsort(away, kind="stable")[:5].tolist()
        ],
    )
    print("Look further:  taxomask taxonomy info icd9cm;  taxomask taxonomy distance icd9cm 25000 25001 4019")
