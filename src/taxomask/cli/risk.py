"""``taxomask inspect --risk``: what must be protected in a table, before it is known how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .show import print_facts, print_json, print_table, print_text, share

if TYPE_CHECKING:
    from ..evaluation import TableRisk
    from ..microdata import Microdata

__all__ = ["show_risk"]

ONE = {"records": "record", "people": "person", "households": "household"}
PRIVATE = "for the custodian alone: computed from the original table"


def show_risk(where: str, data: Microdata, *, quiet: bool, json: bool) -> None:
    """Print who stands out in a table."""
    from ..evaluation import table_risk
    from .show import progress_bar

    with progress_bar("Looking for who stands out", quiet=quiet or json) as progress:
        found = table_risk(data, progress)
    if json:
        return print_json({"private": PRIVATE, "rows": data.n, **found.to_dict(), "worst": found.worst(data)})
    if quiet:
        return None
    special, single = found.special_uniques, ONE[data.unit]
    print_text(f"{where}: what must be protected, {PRIVATE}.")
    facts = [
        ("quasi-identifiers", ", ".join(special.attributes)),
        ("smallest class", f"{found.classes.k:,} {single if found.classes.k == 1 else data.unit}"),
        (f"records that no other {single} equals", share(special.uniques, data.n)),
    ]
    facts += [
        (f"singled out by {size} column{'s' * (size > 1)}", share(count, data.n))
        for size, count in special.by_size.items()
    ]
    facts += [(f"by more than {special.most}", share(special.beyond, data.n))] if special.beyond else []
    print_facts("Who stands out", facts)
    _population(found)
    print_table(
        ["column", "minimal sets with it", "share of all SUDA scores"],
        [(name, one.sets, f"{one.contribution:.3f}") for name, one in special.columns.items()],
    )
    if special.worst:
        print_table(["columns that single out", "records"], [(", ".join(one), count) for one, count in special.worst])
    print_table(
        ["row", "chance", "SUDA score", "singled out by"],
        [
            (f"{one['row']}", f"{one['chance']:.4f}", f"{one['score']:g}", ", ".join(one["columns"]) or "–")
            for one in found.worst(data)
        ],
    )
    return None


def _population(found: TableRisk) -> None:
    """What is known of the population behind the table."""
    individual, uniques = found.individual, found.population_uniques
    if individual is None or uniques is None:
        print_text(
            "The chance is to find a record in the table. Where it is a sample, say so in a plan (sampling_weight, "
            "population_size), for the chance to find it in the population."
        )
        return
    facts = [
        ("population", f"{uniques.population:,} people, {100 * uniques.fraction:.3g} % of them in the table"),
        ("expected re-identifications", f"{individual.expected:,.2f}"),
        ("highest chance", f"{individual.highest:.4f}"),
    ]
    if individual.household is not None:
        facts.append(("records in households found", f"{individual.household.expected:,.2f}"))
    facts.append(("unique in the population", f"{uniques.expected:,.1f} of {uniques.sample_uniques:,} unique records"))
    facts.append(("by the model", f"{uniques.chosen}: {uniques.rule}"))
    print_facts("In the population", facts)
    if uniques.models:
        print_table(
            ["model", "population uniques", "deviance"],
            [(name, f"{one.uniques:,.0f}", f"{one.deviance:.1f}") for name, one in uniques.models.items()],
        )
