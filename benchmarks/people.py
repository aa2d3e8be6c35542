"""Groups of k different people: what they cost beside groups of k rows, and beside other ways to make them.

On diabetes130 (101,766 encounters of 71,518 patients, if the path of its CSV file is in the environment variable
DIABETES130), else on as many made-up encounters.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import best, run, timed
from taxomask.measures.utility import overall_loss
from taxomask.methods._closeness import Limits
from taxomask.microdata.files import open_table
from taxomask.microdata.people import class_owners
from taxomask.partition import Groups, aggregate, mdav, merge_until

KINDS = {
    "race": "nominal", "gender": "nominal", "age": "ordinal", "time_in_hospital": "continuous",
    "num_lab_procedures": "continuous", "num_medications": "continuous",
}  # fmt: skip
AGES = [f"[{low}-{low + 10})" for low in range(0, 100, 10)]


def table() -> Any:
    path = os.environ.get("DIABETES130")
    if path:
        texts = [name for name, kind in KINDS.items() if kind != "continuous"]
        return open_table(path, text=["patient_nbr", *texts]).read(["patient_nbr", *KINDS])
    rng = np.random.default_rng(1)
    n = 101_766
    who = rng.permutation(np.concatenate([np.arange(71_518), rng.integers(0, 16_773, n - 71_518)]))
    own = rng.integers(0, 10, (3, 71_518))
    return pa.table({
        "patient_nbr": who,
        "race": own[0][who].astype(str), "gender": (own[1][who] % 2).astype(str),
        "age": np.array(AGES)[own[2][who]],
        "time_in_hospital": rng.integers(1, 15, n),
        "num_lab_procedures": rng.integers(1, 100, n), "num_medications": rng.integers(1, 60, n),
    })  # fmt: skip


def described() -> tm.Schema:
    attributes = [
        tm.Attribute(name, role="quasi_identifier", kind=kind, missing=["", "?"], order=AGES if name == "age" else ())
        for name, kind in KINDS.items()
    ]
    return tm.Schema([tm.Attribute("patient_nbr", role="identifier"), *attributes], person="patient_nbr")


def encounters() -> tm.Microdata:
    return tm.Microdata.from_frame(table(), described())


def loss(data: tm.Microdata, groups: Any) -> float:
    """The loss of the headline: the mean over the columns of what is lost of their variance."""
    averaged = {name: aggregate(column, Groups(groups)) for name, column in data.columns.items()}
    return overall_loss(data, data.replace(averaged)).overall


def measured(k: int) -> dict[str, Any]:
    data = encounters()
    space, people = tm.RecordDistance(data), data.people
    assert people is not None
    mdav(space, k), mdav(space, k, people=people)  # compiled, and in the caches
    seconds = best(lambda: mdav(space, k)), best(lambda: mdav(space, k, people=people))
    rows, groups = mdav(space, k), mdav(space, k, people=people)
    merged = merge_until(space, Groups(rows), Limits([], None, None, None, people, k))
    first = np.unique(people, return_index=True)[1]
    alone = data.take(np.sort(first))
    return {
        "seconds by rows": seconds[0],
        "by people": seconds[1],
        "ratio": seconds[1] / seconds[0],
        "groups of rows under k people": int((class_owners(rows, people) < k).sum()),
        "groups": int(rows.max()) + 1,
        "fewest people": int(class_owners(groups, people).min()),
        "loss by rows": loss(data, rows),
        "by people, loss": loss(data, groups),
        "merged": loss(data, merged),
        "one row each": loss(alone, mdav(tm.RecordDistance(alone), k)),
        "rows left out": data.n - alone.n,
    }


def whole(k: int) -> dict[str, Any]:
    """From a table to a checked release, with and without people; the fewest patients of a class, counted by hand."""
    frame, schema = table(), described()
    rows = schema.of(schema.values(), person=None)
    accept = [{"columns": list(KINDS), "reason": "groups of rows may be of one patient, which is what is compared"}]
    tm.protect(frame, schema, tm.Microaggregation(k), seed=1)  # compiled
    release, by_people = timed(lambda: tm.protect(frame, schema, tm.Microaggregation(k), seed=1))
    _, by_rows = timed(lambda: tm.protect(frame, rows, tm.Microaggregation(k), seed=1, accept=accept))
    classes: dict[tuple[Any, ...], set[Any]] = {}
    released = zip(*(release.data[name].to_pylist() for name in KINDS), strict=True)
    for one, who in zip(released, frame["patient_nbr"].to_pylist(), strict=True):
        classes.setdefault(one, set()).add(who)
    return {
        "seconds by rows": by_rows,
        "by people": by_people,
        "ratio": by_people / by_rows,
        "classes": len(classes),
        "fewest patients of a class": min(map(len, classes.values())),
    }


def main() -> None:
    ks = (3, 5, 10)
    run({f"k = {k}": partial(measured, k) for k in ks} | {f"whole release, k = {k}": partial(whole, k) for k in ks})


if __name__ == "__main__":
    main()
