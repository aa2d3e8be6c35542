"""What each attacker takes: CPU seconds and memory on 10,000, 100,000 and 1,000,000 records x 6, and how they grow.

    python benchmarks/attackers_speed.py [case …]

The made-up discharges of corners.py: age, days of care, beds, sex, region and a diagnosis are known, cost and status
are confidential. The table is swapped by rank (p = 5), with a twentieth of the ages missing, so that every attacker on
linked records has something to work on; `informed` is shown without the repetitions of the method, and by formula
(noise and PRAM); `membership` has a synthetic table. Seconds are those of the attacker with the measures that it sums
up, memory is what the process held more than with the tables alone. Each case runs in a process of its own, on one
thread.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from corners import MIXED, discharges
from measuring import Case, peak, run, show, timed
from taxomask.engines import Memory
from taxomask.evaluation import Known
from taxomask.evaluation.evaluation import _tables
from taxomask.measures.measured import measure_some, needed_by
from taxomask.measures.risk import ATTACKERS
from taxomask.measures.risk.attackers import repetitions
from taxomask.measures.side_by_side import side_by_side
from taxomask.methods import Method
from taxomask.microdata import read_table

SIZES = (10_000, 100_000, 1_000_000)
WHOLE = 151_551
SWAPPED = tm.RankSwapping(p=5)
NOISY = tm.Pipeline([tm.Pram(0.7), tm.Noise(0.5, attributes=("age", "care_days"))])
SYNTHETIC = tm.Imputation(synthesis="full", attributes=("age", "sex", "cost"))


def table(n: int) -> tm.Microdata:
    frame, schema = discharges(n, MIXED, ("cost", "status"))
    gone = np.random.default_rng(3).random(n) < 0.05
    return tm.Microdata.from_frame(frame.set_column(0, "age", pa.array(frame["age"].to_numpy(), mask=gone)), schema)


def measured(name: str, method: Method, n: int) -> dict[str, Any]:
    small, data = (table(size) for size in (2_000, n))
    _seconds(name, method, small, 1)  # the kernels are loaded
    found, seconds, grown = _seconds(name, method, data, 2)
    return {"CPU s": seconds, "MB": grown, "found": found}


def _seconds(name: str, method: Method, data: tm.Microdata, times: int) -> tuple[float, float, float]:
    masked = method.mask(data, np.random.default_rng(1))
    linked = masked.linked
    columns = side_by_side(data, masked.data, linked=linked)
    tables = _tables(data, masked.data, columns, Known(linked=linked, method=method, attackers=(name,)))
    keys = [*needed_by([name]), ("attackers", name)]
    start = peak()
    runs = [timed(lambda: measure_some(Memory(), tables, keys).values) for _ in range(times)]
    attack = runs[0][0]["attackers", name]
    value = float("nan") if attack is None else attack.share.value
    return value, min(seconds for _, seconds in runs), peak() - start


def counted(n: int) -> list[float]:
    """The CPU seconds of each repetition of a method on so many records, from now on."""
    spent: list[float] = []
    once = repetitions._repeated

    def repeated(method: Method, wanted: int, data: tm.Microdata, *others: Any) -> Any:
        made, seconds = timed(lambda: once(method, wanted, data, *others))
        spent.append(seconds if data.n == n else 0.0)
        return made

    repetitions._repeated = repeated
    return spent


def repeating(n: int) -> dict[str, Any]:
    """The informed attacker, and how much of its time the repetitions of the method take."""
    spent = counted(n)
    found = measured("informed", SWAPPED, n)
    repeating = sum(spent) / 2  # both runs
    return {**found, "CPU s": found["CPU s"] - repeating, "repetitions": repeating}


def whole(method: Method) -> dict[str, Any]:
    """An evaluation with all attackers, repetitions apart, beside one with `nearest` only."""
    frame, schema = nhds() if os.environ.get("NHDS") else discharges(WHOLE, MIXED, ("cost", "status"))
    tm.protect(frame.slice(0, 2_000), schema, method, seed=1).evaluate()  # the kernels are loaded
    release = tm.protect(frame, schema, method, seed=1)
    nearest = min(timed(lambda: release.evaluate(attackers=["nearest"]))[1] for _ in range(2))
    spent = counted(frame.num_rows)
    found, seconds = timed(release.evaluate)
    informed = found.attackers.informed
    return {
        "records": frame.num_rows,
        "nearest only": nearest,
        "all": seconds,
        "repetitions": sum(spent),
        "ratio": (seconds - sum(spent)) / nearest,
        "must": 4,
        "how": None if informed is None else informed.how,
    }


def nhds() -> tuple[pa.Table, tm.Schema]:
    names = ["age_years", "care_days", "n_beds", "sex", "region", "dx01", "dc_status"]
    table = read_table(os.environ["NHDS"], names, text=names[2:]).rename_columns([*MIXED[:2], *names[2:]])
    number, plain = {"kind": "continuous"}, {"kind": "nominal"}
    kinds: dict[str, Any] = {"age": number, "care_days": number, "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"}}
    roles = dict.fromkeys(MIXED, "quasi_identifier") | {"dc_status": "confidential"}
    attributes = [tm.Attribute(name, role=role, **kinds.get(name, plain)) for name, role in roles.items()]
    return table, tm.Schema(attributes)


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for n in SIZES:
        for name in ATTACKERS:
            if name not in ("membership", "informed"):
                found[f"{name} {n:,}"] = partial(measured, name, SWAPPED, n)
        found[f"informed, repetitions apart {n:,}"] = partial(repeating, n)
        found[f"informed, by formula {n:,}"] = partial(measured, "informed", NOISY, n)
        found[f"membership {n:,}"] = partial(measured, "membership", SYNTHETIC, n)
    for method in (SWAPPED, NOISY, tm.Microaggregation(5)):
        found[f"whole, {method.name}"] = partial(whole, method)
    return found


def grown(answers: dict[str, dict[str, Any]]) -> None:
    """By which power of the number of records seconds grow, from one size to the next."""
    for name in dict.fromkeys(one.rsplit(" ", 1)[0] for one in answers if not one.startswith("whole")):
        seconds = [answers.get(f"{name} {n:,}", {}).get("CPU s") for n in SIZES]
        powers = {
            f"{a:,} to {b:,}": float(np.log10(y / x))
            for a, b, x, y in zip(SIZES, SIZES[1:], seconds, seconds[1:], strict=False)
            if x and y
        }
        show(f"{name}, exponent", powers)


if __name__ == "__main__":
    grown(run(cases()))
