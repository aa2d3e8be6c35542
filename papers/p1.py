"""P1: Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), semantic marginality. NHDS 2010 stands in for its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import charts
from papers.data import NUMBERS, discharge_schema, discharges
from papers.harness import SEEDS, Cell, Claim, Interval, Page, Value, number, over_seeds, printed
from papers.p1_examples import examples
from taxomask.measures import squared_error
from taxomask.methods import Method

Found = Mapping[str, Mapping[int, Mapping[str, Interval]]]

SETS = {"2": ("neoplasm", False), "3": ("digestive", False), "4": ("neoplasm", True), "5": ("digestive", True)}
SIZES = range(2, 21, 2)
MEASURED = {"AGE_YRS": "age_years", "LOS": "care_days", "DIAG_P": "dx01"}


def page(quick: bool = False) -> Page:
    page = Page("p1", "P1: semantic marginality")
    page.text(
        "Domingo-Ferrer, Sánchez, Rufian-Torrell (2013), Anonymization of nominal data based on semantic marginality, "
        "Information Sciences 242."
    )
    examples(page)
    with page.timed("Tables 2 to 5"):
        sizes = (20,) if quick else tuple(SIZES)
        tables = ("2", "4") if quick else tuple(SETS)
        found: dict[str, dict[int, dict[str, Interval]]]
        found = {table: {k: _losses(table, k) for k in sizes} for table in tables}
    page.key("SSE of DIAG_P in Table 2, k=20", found["2"][20]["DIAG_P marginality"])
    page.key("SSE of DIAG_P in Table 4, k=20", found["4"][20]["DIAG_P marginality"])
    if quick:
        return page
    _data(page)
    _tables(page, found)
    _claims(page, found)
    with page.timed("Tables 2 and 3 with a made-up charge"):
        _with_charge(page, found)
    with page.timed("random values instead of averages"):
        _random_values(page)
    return page


# ------------------------------------------------------------------------------------------------------ Tables 2 to 5


def _losses(table: str, k: int, made: Any = None, charge: bool = False) -> dict[str, Interval]:
    """The SSE of each attribute, classic and with marginality, over random orders of the records."""
    name, alone = SETS[table]
    columns = ["dx01"] if alone else [*NUMBERS, "dx01"]
    heads = {head: column for head, column in MEASURED.items() if column in columns}
    columns += ["charge"] if charge else []

    def one(seed: int) -> dict[str, float]:
        rows = np.random.default_rng(seed).permutation(discharges(name).num_rows)
        records = discharges(name).take(rows)
        if charge:
            price = np.random.default_rng(seed).lognormal(9, 0.6, len(rows))
            records = records.append_column("charge", pa.array(np.maximum(records["care_days"], 1) * price))
        found: dict[str, float] = {}
        for title, flat in (("classic", True), ("marginality", False)):
            method = made(k) if made else tm.Microaggregation(k, scale="paper", attributes=columns)
            errors = _errors(records, _schema(flat, charge), method, seed)
            found |= {f"{head} {title}": errors[column] for head, column in heads.items()}
        return found

    return over_seeds(one, SEEDS)


def _schema(flat: bool, charge: bool) -> tm.Schema:
    more = [tm.Attribute("charge", role="quasi_identifier", kind="continuous", decimals="exact")] if charge else []
    return tm.Schema([*discharge_schema(flat).values(), *more])


def _errors(records: pa.Table, schema: tm.Schema, method: Method, seed: int) -> dict[str, float]:
    """Σ d(x, x')², the diagnosis always by its meaning."""
    names = list(discharge_schema())
    released = tm.protect(records, schema, method, seed=seed).data.select(names)
    original, released = (tm.Microdata.from_frame(one, discharge_schema()) for one in (records.select(names), released))
    return {name: squared_error(original.columns[name], released.columns[name]).sse for name in original.columns}


def _data(page: Page) -> None:
    """What the stand-ins look like beside the paper's data."""
    ours: dict[Cell, Value] = {}
    ones: dict[tuple[str, str], float] = {}
    classes: dict[str, list[tuple[float, float]]] = {}
    for name in ("neoplasm", "digestive"):
        table = discharges(name)
        values = table["dx01"].to_pylist()
        tree = tm.Taxonomy.builtin("icd9cm")
        above = set(tree.ancestors(tree.lcs(sorted(set(values)))))
        covered = set().union(*(tree.ancestors(value) for value in set(values))) - above
        tuples = list(zip(*(table[column].to_pylist() for column in table.column_names), strict=True))
        for what, sample in (("DISCHARGE", tuples), ("DIAGNOSIS", values)):
            counts = np.unique([str(one) for one in sample], return_counts=True)[1]
            ones[what, name] = float((counts == 1).sum())
            classes[f"{what} {name.upper()}"] = [
                (float(size), float((counts >= size).sum())) for size in np.unique(counts)
            ]
        unique = ones["DIAGNOSIS", name]
        ours |= {
            (name.upper(), "records"): float(table.num_rows),
            (name.upper(), "unique records"): ones["DISCHARGE", name],
            (name.upper(), "diagnoses"): float(len(set(values))),
            (name.upper(), "categories of their tree"): float(len(covered) + 1),
            (name.upper(), "unique diagnoses"): unique,
            (name.upper(), "unique diagnoses, % of the records"): 100 * unique / table.num_rows,
        }
    page.text(
        "## Tables 2 to 5\n\nThe paper's patients (California, 2010) are not public. Stand-in: the neoplasm and "
        "digestive discharges of the National Hospital Discharge Survey 2010, with the same ICD-9-CM: age, days of "
        "care and principal diagnosis. It has no charges, so that CHARGE is left out and records repeat more often."
    )
    reason = {"*": "Another data set (NHDS 2010), and unique records without CHARGE."}
    page.side_by_side("P1", "section 3.2", ours, reason, caption="the data sets", data="stand-in: NHDS 2010")
    page.figure(
        "classes",
        charts.lines(
            classes,
            title="P1 Figures 2 to 5: sizes of equivalence classes, NHDS 2010",
            x="records in a class, at least",
            y="number of classes",
            log_x=True,
            log_y=True,
            markers=False,
        ),
        "Figures 2 to 5 of the paper on the stand-ins: how many combinations of values are shared by so many records.",
    )


def _tables(page: Page, found: Found) -> None:
    page.text(
        "*Classic* treats the diagnosis as a plain category (equality and mode), *marginality* by its meaning; "
        "S-distance in the paper's scale; groups by MDAV, values by averages. SSE of the diagnosis is "
        "semantic in both. Ties are broken by the order of the records, so each cell is the mean over "
        f"{len(SEEDS)} random orders, with the 95 % interval of the mean."
    )
    for table, (name, alone) in SETS.items():
        ours: dict[Cell, Value] = {}
        for k, columns in found[table].items():
            names = {column: column.removeprefix("DIAG_P ") if alone else column for column in columns}
            ours |= {(f"k={k}", names[column]): value for column, value in columns.items()}
        count = discharges(name).num_rows
        other = f"Another data set: {count:,} {name} discharges of NHDS 2010."
        none = "NHDS has no charges."
        page.side_by_side(
            "P1",
            table,
            ours,
            {"CHARGE classic": none, "CHARGE marginality": none, "*": other},
            caption=f"SSE, {name}, {'diagnosis only' if alone else 'age, days of care and diagnosis'}",
            data="stand-in: NHDS 2010",
        )
    page.figure(
        "gain",
        charts.lines(
            {f"Table {t}, NHDS": [(float(k), 100 * _gain(found[t][k])) for k in SIZES] for t in SETS}
            | {f"Table {t}, printed": [(float(k), 100 * _printed_gain(t, k)) for k in SIZES] for t in SETS},
            title="P1 Tables 2 to 5: how much of the error of the diagnosis its meaning saves",
            x="k",
            y="1 - SSE(marginality) / SSE(classic), %",
            x_names={float(k): str(k) for k in SIZES},
        ),
        "Tables 2 (neoplasm) and 3 (digestive): all attributes; 4 and 5: the diagnosis only.",
    )


def _gain(columns: Mapping[str, Interval]) -> float:
    return 1 - columns["DIAG_P marginality"].mean / columns["DIAG_P classic"].mean


def _printed_gain(table: str, k: int) -> float:
    theirs = {column.removeprefix("DIAG_P "): v for (row, column), v in printed("P1", table).items() if row == f"k={k}"}
    return 1 - float(theirs["marginality"]) / float(theirs["classic"])


def _claims(page: Page, found: Found) -> None:
    apart = max(_difference(found[table].values()) for table in "23")
    page.claim(
        Claim(
            "The SSE of age and days of care is almost the same in both versions, at every k",
            apart < 0.01,
            f"Largest difference: {number(100 * apart, 2)} % here, {number(100 * _printed_difference(), 2)} % in print "
            "(why: see below).",
        )
    )
    for table, (name, alone) in SETS.items():
        gains = {k: _gain(found[table][k]) for k in SIZES}
        first = 2 if table == "4" else 4  # where the paper's text begins
        worse = [k for k in SIZES if gains[k] <= 0]
        what = f"{name}, {'diagnosis only' if alone else 'all attributes'}"
        page.claim(
            Claim(
                f"Table {table} ({what}): marginality reduces the SSE of the diagnosis from k = 4 on",
                not [k for k in worse if k >= 4],
                f"By {_range(gains.values())} here over all k, by {_range(_printed_gain(table, k) for k in SIZES)} in "
                "print.",
            )
        )
        page.claim(
            Claim(
                f"Table {table} ({what}): the relative reduction grows with k",
                gains[20] > gains[first],
                f"From {number(100 * gains[first], 3)} % at k = {first} to {number(100 * gains[20], 3)} % at k = 20; "
                f"in print from {number(100 * _printed_gain(table, first), 3)} % to "
                f"{number(100 * _printed_gain(table, 20), 3)} %.",
            )
        )
    error = "DIAG_P marginality"
    lower = [found[a][k][error].high < found[b][k][error].low for a, b in ("42", "53") for k in SIZES]
    page.claim(
        Claim(
            "With the diagnosis only its SSE is lower than with all attributes (Tables 4, 5 against 2, 3)",
            all(lower),
            f"At {sum(lower)} of {len(lower)} cells, with intervals apart.",
        )
    )
    larger = [_gain(found[a][k]) > _gain(found[b][k]) for a, b in ("42", "53") for k in SIZES]
    page.claim(
        Claim(
            "Meaning saves relatively more if there is only the diagnosis",
            all(larger),
            f"At {sum(larger)} of {len(larger)} cells; in print at "
            f"{sum(_printed_gain(a, k) > _printed_gain(b, k) for a, b in ('42', '53') for k in SIZES)}.",
        )
    )
    smaller = [_gain(found["5"][k]) < _gain(found["4"][k]) for k in SIZES]
    page.claim(
        Claim(
            "It saves less for digestive diagnoses (Table 5), of which fewer are unique, than for neoplasms (Table 4)",
            all(smaller),
            f"At {sum(smaller)} of {len(smaller)} k.",
        )
    )


def _difference(columns: Iterable[Mapping[str, Interval]]) -> float:
    """The largest relative difference of the SSE of age or days of care between the two versions."""
    return max(
        abs(one[f"{head} marginality"].mean / one[f"{head} classic"].mean - 1)
        for one in columns
        for head in ("AGE_YRS", "LOS")
    )


def _range(gains: Iterable[float]) -> str:
    values = [100 * gain for gain in gains]
    return f"{number(min(values), 3)} to {number(max(values), 3)} %"


def _printed_difference() -> float:
    """The largest relative difference of the printed SSE of age and days of care."""
    theirs = {(t, *cell): float(text) for t in "23" for cell, text in printed("P1", t).items()}
    return max(
        abs(theirs[t, row, f"{head} marginality"] / value - 1)
        for (t, row, column), value in theirs.items()
        for head in ("AGE_YRS", "LOS")
        if column == f"{head} classic"
    )


def _with_charge(page: Page, found: Found) -> None:
    """What a number that differs in every record, as CHARGE does, changes."""
    sizes = (2, 4, 10, 20)
    made = {table: {k: _losses(table, k, charge=True) for k in sizes} for table in "23"}
    page.text(
        "### Why the pattern over k differs\n\nAge and days of care are whole numbers: many records are equal in both, "
        "and among those the diagnosis decides about the groups, however little it weighs. The paper has CHARGE "
        f"besides, in dollars, and {_unique('NEOPLASM')} and {_unique('DIGESTIVE')} % of its records are unique. With "
        "a number that differs in every record (made up: days of care times a random lognormal price) the diagnosis "
        "decides less."
    )
    rows: list[list[Value]] = []
    for table, by_size in made.items():
        for k in sizes:
            gains = (_gain(found[table][k]), _gain(by_size[k]), _printed_gain(table, k))
            rows.append([f"Table {table}", f"k={k}", *(100 * gain for gain in gains)])
    page.table(
        "What meaning saves of the SSE of the diagnosis, in %",
        ["", "", "here", "with a made-up charge", "printed"],
        rows,
    )
    apart = max(_difference(by_size.values()) for by_size in made.values())
    first = max(_gain(made[table][2]) for table in made)
    page.check(
        "With a number that differs in every record both versions lose almost the same at k = 2, as in print",
        apart < 0.01 and first < 0.02,
        f"The SSE of age and days of care differs by at most {number(100 * apart, 2)} %, and meaning saves "
        f"{number(100 * first, 2)} % at most at k = 2.",
    )
    diagnosis: Any = tm.Microdata.from_frame(discharges("neoplasm"), discharge_schema()).columns["dx01"]
    share = diagnosis.counts / diagnosis.counts.sum()
    random = float(share @ np.square(diagnosis.table) @ share)
    records = float(printed("P1", "section 3.2")["NEOPLASM", "records"].replace(",", ""))
    theirs = float(printed("P1", "2")["k=20", "DIAG_P classic"]) / records
    ours = found["2"][20]["DIAG_P classic"].mean / discharges("neoplasm").num_rows
    page.text(
        f"What remains is that the printed classic version loses far more at large k: {number(theirs, 2)} per record "
        f"at k = 20 in Table 2, where ours loses {number(ours, 2)} and a diagnosis drawn at random from all records "
        f"would lose {number(random, 2)}. Perhaps the mode of 20 diagnoses is more often close to the "
        "marginality mean here, so that less is left to gain."
    )


def _unique(name: str) -> str:
    """The share of the paper's records that are unique, in percent."""
    cells = printed("P1", "section 3.2")
    unique, records = (float(cells[name, column].replace(",", "")) for column in ("unique records", "records"))
    return number(100 * unique / records, 3)


def _random_values(page: Page) -> None:
    """Algorithm 1 of the paper draws values at random within the group's radius; its tables do not say so."""
    sizes: Sequence[int] = (4, 20)
    found = {
        (table, k): _losses(table, k, lambda k: tm.MicroHybrid(k, scale="paper", draw="uniform"))
        for table in "23"
        for k in sizes
    }
    rows: list[list[Value]] = [
        [f"Table {table}", f"k={k}", *(found[table, k][f"DIAG_P {title}"] for title in ("classic", "marginality"))]
        for table, k in found
    ]
    page.table("SSE of the diagnosis with the random values of Algorithm 1", ["", "", "classic", "marginality"], rows)
    gains = {cell: _gain(columns) for cell, columns in found.items()}
    page.claim(
        Claim(
            "Marginality loses less also with the random values of the paper's Algorithm 1 (MicroHybrid)",
            all(gain > 0 for gain in gains.values()),
            "Reduction: "
            + ", ".join(f"Table {t}, k = {k}: {number(100 * gain, 3)} %" for (t, k), gain in gains.items())
            + ". The paper's section 3.1 replaces averages by such values; its tables speak of averages, as above. The "
            "semantic version draws from all values within the group's radius, the classic one from the group's own.",
        )
    )
