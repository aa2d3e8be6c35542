from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import taxomask as tm
from methods.conftest import discharge_schema, discharges  # noqa: F401 - fixtures

TREE = tm.Taxonomy.from_edges(
    [("a", "r"), ("b", "r"), ("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("b11", "b1"), ("b12", "b1")]
)
GRADES = ["low", "mid", "high", "top"]
NAMES = ("number", "grade", "plain", "concept")
KINDS: dict[str, dict[str, Any]] = {
    "number": {"kind": "continuous"},
    "grade": {"kind": "ordinal", "order": GRADES},
    "plain": {"kind": "nominal"},
    "concept": {"kind": "taxonomic", "taxonomy": TREE},
}
SCHEMA = tm.Schema(
    [
        *(tm.Attribute(name, role="quasi_identifier", **kind) for name, kind in KINDS.items()),
        *(tm.Attribute(f"secret_{name}", role="confidential", **kind) for name, kind in KINDS.items()),
    ]
)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(-3, 3),
    "grade": st.sampled_from(GRADES),
    "plain": st.sampled_from("xyz"),
    "concept": st.sampled_from(sorted(TREE)),
}
TYPES = {"number": pa.float64(), "grade": pa.string(), "plain": pa.string(), "concept": pa.string()}


def table(**columns: list[Any]) -> tm.Microdata:
    """A table with some of the columns."""
    kinds = {name: KINDS[name.removeprefix("secret_")] for name in columns}
    roles = {name: "confidential" if name.startswith("secret_") else "quasi_identifier" for name in columns}
    schema = tm.Schema([tm.Attribute(name, role=roles[name], **kinds[name]) for name in columns])
    frame = pa.table({name: pa.array(cells, TYPES[name.removeprefix("secret_")]) for name, cells in columns.items()})
    return tm.Microdata.from_frame(frame, schema)


@st.composite
def tables(draw: st.DrawFn, *, n: int | None = None, most: int = 12) -> tm.Microdata:
    """Small tables of all kinds with many ties and missing values."""
    n = draw(st.integers(1, most)) if n is None else n
    cell = {name: st.one_of(st.none(), *[CELLS[name.removeprefix("secret_")]] * 4) for name in SCHEMA}
    return table(**{name: draw(st.lists(one, min_size=n, max_size=n)) for name, one in cell.items()})


@st.composite
def pairs(draw: st.DrawFn, *, most: int = 12) -> tuple[tm.Microdata, tm.Microdata]:
    """An original and a released table with as many records."""
    original = draw(tables(most=most))
    return original, draw(tables(n=original.n))


def cells(data: tm.Microdata, name: str) -> list[Any]:
    """The values of a column as Python objects."""
    column: Any = data.columns[name]
    if hasattr(column, "values"):
        return [None if value != value else value for value in column.values.tolist()]
    return [None if code < 0 else column.categories[code] for code in column.codes.tolist()]
