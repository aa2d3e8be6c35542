"""A first look at a table for the page: its rows, what its columns hold, and how codes fit a taxonomy."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .._support.spelling import spell
from ..errors import DataError
from ..microdata import Attribute, Schema
from ..microdata.coverage import coverage
from ..microdata.distinct import Frequent
from ..microdata.files import open_table, split_sheet
from ..microdata.frames import Frame
from ..microdata.matching import by_chance
from ..microdata.notation import tidy
from ..microdata.numeric import ticks
from ..microdata.schema import made_from_frame
from ..plan import Plan
from ..plan.draft import draft_schema
from ..report.figures import number
from ..taxonomy import FromColumns, Taxonomy

__all__ = ["concepts", "cover", "describe", "taxonomy_of"]

ROWS, BINS, BARS, LONGEST, LISTED = 30, 24, 6, 200, 200


def describe(path: Path, folder: Path, *, rows: int, memory: int) -> dict[str, Any]:
    """The first rows, and for each column what it seems to be and what it holds."""
    return _described(path, split_sheet(path)[0].stat().st_mtime_ns, folder, rows, memory)


@lru_cache(maxsize=4)
def _described(path: Path, changed: int, folder: Path, rows: int, memory: int) -> dict[str, Any]:
    table = _table(path, rows, memory)
    opened = open_table(path, text=True)
    schema = draft_schema(table, beside=path, source=opened)
    sources = [source for one in schema.values() for source, _ in one.sources if isinstance(source, Path)]
    if not all(source.resolve().is_relative_to(folder.resolve()) for source in sources):  # by a link that leads out
        schema = draft_schema(table, source=opened)
    frame = Frame(table)
    entries = schema.to_dict(folder)["attributes"]
    return {
        "rows": table.num_rows,
        "names": table.column_names,
        "preview": [[_cell(value) for value in row.values()] for row in table.slice(0, ROWS).to_pylist()],
        "attributes": entries,
        "people": schema.about_people(),
        "columns": [_column(frame, table[one.name], one) for one in schema.values()],
        "sheet": getattr(opened, "sheet", None),
        "others": list(getattr(opened, "others", ())),
        "told": list(opened.told),
        "above": list(getattr(opened, "above", ())),
        "below": list(getattr(opened, "below", ())),
    }


def cover(path: Path, folder: Path, entry: dict[str, Any]) -> dict[str, Any]:
    """How well the taxonomy of an attribute covers its column."""
    attribute = _attribute(entry, folder, path)
    values = open_table(path, text=[attribute.name]).read([attribute.name])[attribute.name]
    found = coverage(
        values,
        attribute.taxonomies[0][0],
        match=attribute.match,  # type: ignore[arg-type]
        normalize=attribute.normalize,
        missing=("", *map(str, attribute.missing)),
    )
    taxonomy, missing = attribute.taxonomies[0][0], {"", *map(str, attribute.missing)}
    texts = [spell(one) for one in values.unique().drop_null().to_pylist()]
    share, doubtful = by_chance(
        [text for text in texts if text not in missing],
        taxonomy,
        attribute.match,  # type: ignore[arg-type]
        tuple(attribute.normalize),
    )
    made = isinstance(entry.get("taxonomy"), dict) and "from" in entry["taxonomy"]
    several = sum(len(taxonomy.parents_of(i)) > 1 for i in range(len(taxonomy.ids))) if made else 0
    slips = list(taxonomy.slips)[:LISTED] if made else []
    chance = {"look_alikes": share, "doubtful": doubtful and not made, "slips": slips, "several": several}
    return found.to_dict() | {"unmapped": [vars(one) for one in found.unmapped], **chance}


def taxonomy_of(path: Path, folder: Path, source: Any) -> Taxonomy:
    """A shipped taxonomy, one in a file beside the table, or one made from columns of the table."""
    name = source["from"][0] if isinstance(source, dict) and source.get("from") else ""
    return _attribute({"name": name, "kind": "taxonomic", "taxonomy": source}, folder, path).taxonomies[0][0]


def concepts(path: Path, folder: Path, source: Any, under: str | None, search: str) -> dict[str, Any]:
    """What is below a concept of a taxonomy (at its top, if none is named), or what a search finds."""
    taxonomy = taxonomy_of(path, folder, source)
    if search.strip():
        wanted = search.strip().casefold()
        pairs = zip(taxonomy.ids, taxonomy.labels or taxonomy.ids, strict=True)
        found = [one for one, label in pairs if wanted in one.casefold() or wanted in label.casefold()]
        found.sort(key=lambda one: (one.casefold() != wanted, not one.casefold().startswith(wanted), one))
    elif under is not None:
        found = list(taxonomy.children(under))
    else:
        found = list(taxonomy.roots)
    return {
        "name": taxonomy.name,
        "size": len(taxonomy),
        "found": len(found),
        "concepts": [_concept(taxonomy, one, path=bool(search.strip())) for one in found[:LISTED]],
    }


# --------------------------------------------------------------------------------------- inside


def _table(path: Path, rows: int, memory: int) -> Any:
    """The whole table as text where the file has no types; no more of it is read than is allowed."""
    import pyarrow as pa

    reader = open_table(path, text=True).batches()
    batches, count, size = [], 0, 0
    for batch in reader:
        batches.append(batch)
        count, size = count + batch.num_rows, size + batch.nbytes
        if count > rows or size > memory:
            what = f"{rows:,} rows" if count > rows else f"{memory / 1e9:,.1f} GB"
            raise DataError(
                f"{path.name} has more than {what}, which is more than the page takes.",
                hint="Use the command line, or start the server with larger limits.",
            )
    if not count:
        raise DataError(f"{path.name} has no rows.", hint="Check that it is complete.")
    table = pa.Table.from_batches(batches, reader.schema)
    texts = [name for name in table.column_names if pa.types.is_string(table[name].type)]
    for name in texts:  # every further look at them is quick
        table = table.set_column(table.column_names.index(name), name, table[name].dictionary_encode())
    return table


def _column(frame: Frame, array: Any, attribute: Attribute) -> dict[str, Any]:
    facts: dict[str, Any] = {"missing": int(array.null_count), "distinct": None, "bars": [], "range": None}
    try:
        look = frame.frequent(attribute.name, 10_000)
    except DataError:  # lists and the like
        return facts
    facts["distinct"] = look.distinct
    numbers = _numbers(look, attribute) if attribute.kind == "continuous" else None
    if numbers is not None:
        values, counts, unit = numbers
        shown = partial(_moment, unit) if unit else number
        edges = np.histogram_bin_edges(values, BINS)
        heights = np.histogram(values, edges, weights=counts)[0]
        facts["bars"] = [{"label": f"{shown(float(a), 4)} to {shown(float(b), 4)}", "count": int(height)}
                         for a, b, height in zip(edges[:-1], edges[1:], heights, strict=True)]  # fmt: skip
        facts["range"] = [shown(float(values.min()), 6), shown(float(values.max()), 6)]
    else:
        top = np.argsort(-look.counts, kind="stable")[:BARS]
        facts["bars"] = [{"label": _cell(look.values[i]), "count": int(look.counts[i])} for i in top.tolist()]
    return facts


def _numbers(look: Frequent, attribute: Attribute) -> tuple[Any, Any, str] | None:
    """The numbers of a column as they are written in it, how often each stands there, and the unit of days or times."""
    import pyarrow as pa

    missing, ends = set(map(str, attribute.missing)), dict(attribute.open_ends)
    how = attribute.written
    texts = tidy(pa.array(look.spellings, pa.large_string()))
    plain = texts if how is None else how.plain(texts)
    days = how is not None and how.dates
    unit = "" if how is None or not days else "s" if how.times else "D"
    read = ticks(plain) if days else plain
    values, counts = [], []
    for text, one, count in zip(look.spellings, read.to_pylist(), look.counts.tolist(), strict=True):
        try:
            value = math.nan if text in missing or one is None else float(ends.get(text, one))
        except ValueError:
            continue
        if math.isfinite(value):
            values.append(value)
            counts.append(count)
    return (np.array(values), np.array(counts), unit) if values else None


def _moment(unit: str, value: float, digits: int) -> str:
    moment = np.datetime64(0, "s") + np.timedelta64(int(value) * (86_400 if unit == "D" else 1), "s")
    return str(moment)[: 10 if unit == "D" else 16].replace("T", " ")


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _attribute(entry: dict[str, Any], folder: Path, path: Path) -> Attribute:
    """An attribute of the page; its taxonomy is a shipped one, lies in the folder, or is made from the table."""
    if "://" in str(entry.get("taxonomy")):
        raise DataError("a taxonomy is a shipped one or a file.", hint="Choose one of the list.")
    source = entry.get("taxonomy")
    made = None
    if isinstance(source, dict) and isinstance(source.get("from"), list):
        made = FromColumns.of(source["from"], source.get("labels"))
    others = [] if made is None else [{"name": name, "role": "other"} for name in dict.fromkeys(made.every[1:])]
    schema: Schema = Plan.from_dict({"attributes": [entry, *others]}, folder).attributes
    if made is not None:
        columns = list(dict.fromkeys(made.every))
        table = Frame(open_table(path, text=columns).read(columns))
        schema = schema.with_own_taxonomies(partial(made_from_frame, table))
    attribute = next(iter(schema.values()))
    if not attribute.taxonomies:
        raise DataError(f"column {attribute.name!r} has no taxonomy.", hint="Choose one of the list.")
    return attribute


def _concept(taxonomy: Taxonomy, concept: str, *, path: bool) -> dict[str, Any]:
    above = []
    if path:
        position = taxonomy.position(concept)
        while len(parents := taxonomy.parents_of(position)):
            position = int(parents[0])
            above.append(taxonomy.ids[position])
    return {
        "id": concept,
        "label": taxonomy[concept].label,
        "children": len(taxonomy.children(concept)),
        "path": above[::-1],
    }
