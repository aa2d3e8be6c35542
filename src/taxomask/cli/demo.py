"""``taxomask demo``: the main job on a shipped table of real discharges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .show import print_facts, print_table, progress_bar, share

if TYPE_CHECKING:
    from ..microdata import Schema
    from ..release import Release
    from ..taxonomy import Taxonomy

__all__ = ["demo"]

BEDS = ("6-99", "100-199", "200-299", "300-499", "500+")


def demo(
    k: Annotated[int, typer.Option(help="The smallest group of records that share all values.")] = 5,
    refined: Annotated[bool, typer.Option("--refined", help="Search for groups of lower loss.")] = False,
) -> None:
    """Protect 2,000 real hospital discharges, and show what it cost."""
    from ..methods import Microaggregation
    from ..release import protect
    from ..taxonomy import Taxonomy

    icd = Taxonomy.builtin("icd9cm")
    table = _discharges()
    _about_the_codes(table, icd)
    method = Microaggregation(k=k, algorithm="refined" if refined else "mdav")
    with progress_bar("Protecting") as progress:
        release = protect(table, _schema(icd), method, progress=progress)
    _about_the_release(release, k)
    _before_and_after(table, release, icd)
    print("Look further:  taxomask taxonomy info icd9cm;  taxomask taxonomy distance icd9cm 25000 25001 4019")


def _discharges() -> Any:
    """The shipped table; codes are read as text, so that leading zeros survive."""
    from .. import examples
    from ..microdata import read_table

    table, codes = read_table(examples.path()), read_table(examples.path(), ["dx01", "pc01"], text=True)
    for name in codes.column_names:
        table = table.set_column(table.column_names.index(name), name, codes[name])
    return table


def _schema(icd: Taxonomy) -> Schema:
    from ..microdata import Attribute, Schema

    return Schema(
        [
            Attribute("id", role="identifier"),
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("sex", role="quasi_identifier", kind="nominal"),
            Attribute("race", role="other"),
            Attribute("region", role="quasi_identifier", kind="nominal"),
            Attribute("n_beds", role="quasi_identifier", kind="ordinal", order=BEDS),
            Attribute("care_days", role="quasi_identifier", kind="continuous"),
            Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy=icd),
            Attribute("pc01", role="other"),
        ]
    )


def _about_the_codes(table: Any, icd: Taxonomy) -> None:
    from ..microdata.coverage import coverage
    from ..semantics import distance_correlation, marginality, nominal_mean
    from ..taxonomy import Taxonomy

    codes = table["dx01"]
    found, middle, m = coverage(codes, icd), nominal_mean(codes, icd), marginality(codes, icd)
    edge = codes[int(m.argmax())].as_py()
    correlation = distance_correlation(codes, table["pc01"], icd, Taxonomy.builtin("icd9cm_procedures"))
    print_facts(
        "2,000 real discharges of US hospitals in 2010 (NHDS public-use file), and their diagnoses in ICD-9-CM",
        [
            ("taxonomy", repr(icd)),
            ("codes in the taxonomy", share(found.mapped_cells, found.cells)),
            ("distinct codes", f"{found.values:,}, of these inner nodes {share(found.inner_values, found.values)}"),
            ("the middle of the data", f"{middle} ({icd[middle].label}), marginality {m.min():,.1f}"),
            ("the edge of the data", f"{edge} ({icd[edge].label}), marginality {m.max():,.1f}"),
            ("semantic correlation", f"{correlation:.3f} between diagnosis and procedure"),
        ],
    )


def _about_the_release(release: Release, k: int) -> None:
    from ..measures import squared_error

    print_facts(
        f"\nMicroaggregated with k = {k}: every record shares its quasi-identifiers with at least {k - 1} others",
        [("promise", str(check)) for check in release.promise],
    )
    print("\nWhat it cost: 100·SSE/SST, the error against that of replacing every value by the average of all")
    rows = []
    for name in release.original.schema.quasi_identifiers:
        before, after = release.original.columns[name], release.released.columns[name]
        error = squared_error(before, after)
        rows.append((name, str(before.attribute.kind), f"{error.sse:,.1f}", f"{error.percent:.1f}"))
    print_table(["attribute", "kind", "SSE", "loss %"], rows)


def _before_and_after(table: Any, release: Release, icd: Taxonomy) -> None:
    print("Before and after, the first records")
    names = ["age", "sex", "region", "n_beds", "care_days", "dx01"]
    rows = []
    for when, frame in (("before", table), ("after", release.data)):
        for record in frame.select(names).slice(0, 3).to_pylist():
            shown = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in record.values()]
            rows.append((when, *shown, icd[record["dx01"]].label))
    print_table(["", *names, "label"], rows)
