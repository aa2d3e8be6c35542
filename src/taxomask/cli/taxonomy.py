"""``taxomask taxonomy``: what a taxonomy is, whether it fits the data, how far concepts are apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ..errors import DataError, did_you_mean
from .options import Json
from .show import print_facts, print_json, print_private_json, print_table, share

if TYPE_CHECKING:
    from ..microdata.coverage import Coverage
    from ..taxonomy import Taxonomy

__all__ = ["app"]

app = typer.Typer(
    help="What a taxonomy holds, whether it fits the data, and how far concepts are apart.",
    no_args_is_help=True,
)

Source = Annotated[
    str, typer.Argument(metavar="TAXONOMY", help="A built-in taxonomy (such as icd9cm), a file or a folder.")
]
Format = Annotated[
    str | None, typer.Option(help="Its format, such as edges or obo; recognised if left out. An unknown one lists all.")
]
Root = Annotated[str | None, typer.Option(help="Take only this concept and what is below it.")]
Concept = Annotated[str | None, typer.Option(help="The column of concepts in a table of concepts and parents.")]
Parent = Annotated[str | None, typer.Option(help="The column or property that points to the parent.")]


class _ListsDistances(TyperCommand):
    """Lists the distances in its help. They are looked up when it is asked for, since importing them takes time."""

    def format_help(self, *arguments: Any) -> None:
        from ..taxonomy.distances import DISTANCES

        parameters: Any = self.params
        for one in parameters:
            if one.name == "distance":
                one.help = f"One of {', '.join(DISTANCES)}."
        super().format_help(*arguments)


@app.command()
def info(
    source: Source,
    format: Format = None,
    root: Root = None,
    concept: Concept = None,
    parent: Parent = None,
    json: Json = False,
) -> None:
    """Count concepts, edges, roots and levels, and show the top of the taxonomy."""
    taxonomy = _open(source, format, root, concept, parent)
    several = sum(len(taxonomy.parents_of(i)) > 1 for i in range(len(taxonomy.ids)))
    facts = {
        "concepts": len(taxonomy),
        "edges": taxonomy.edge_count,
        "roots": len(taxonomy.roots),
        "depth": int(taxonomy.depth.max()) - taxonomy.virtual_root,
        "leaves": int(taxonomy.leaf.sum()),
        "with_several_parents": several,
        "alternative_identifiers": len(taxonomy.aliases),
    }
    top = taxonomy.roots if taxonomy.virtual_root else (taxonomy.root, *taxonomy.children(taxonomy.root))
    if json:
        return print_json({"name": taxonomy.name, **facts, "top": [_described(taxonomy, c) for c in top]})
    print_facts(repr(taxonomy), [(name.replace("_", " "), f"{value:,}") for name, value in facts.items()])
    print_table(
        ["concept", "label", "at or below"],
        [(c, taxonomy[c].label, len(taxonomy.descendants(c))) for c in top[:30]],
    )
    if len(top) > 30:
        print(f"… and {len(top) - 30:,} more")


@app.command()
def check(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table: CSV, TSV, Parquet or Arrow.")],
    column: Annotated[str, typer.Option(help="The column with the codes.")],
    taxonomy: Annotated[
        str | None, typer.Option(help="As TAXONOMY elsewhere; the best built-in one if left out.")
    ] = None,
    match: Annotated[str, typer.Option(help="What the values are: id, label or code.")] = "id",
    normalize: Annotated[
        list[str] | None, typer.Option(help="spaces, case, zeros:N or dots; repeat for several, in order.")
    ] = None,
    missing: Annotated[list[str] | None, typer.Option(help="A value that means missing; repeat for several.")] = None,
    format: Format = None,
    root: Root = None,
    concept: Concept = None,
    parent: Parent = None,
    json: Json = False,
) -> None:
    """Tell which values of a column the taxonomy knows: mapped, inner nodes, and unmapped with the nearest codes.

    The exit code is 0 if every value is a concept of the taxonomy, and 1 if not.
    """
    from ..microdata import read_table
    from ..microdata.coverage import coverage

    values = read_table(data, [column], text=True)[column]
    steps = tuple(normalize or ())
    if taxonomy is None:
        taxonomy, match, steps = _best_builtin(data, column, values, missing or [])
    opened = _open(taxonomy, format, root, concept, parent)
    found = coverage(values, opened, match=_match(match), normalize=steps, missing=("", *(missing or ())))
    if json:
        print_private_json({"file": str(data), "column": column, "match": match, "normalize": steps, **found.to_dict()})
    else:
        _print_coverage(data, column, match, steps, found)
    if not found.complete:
        raise typer.Exit(1)


@app.command(cls=_ListsDistances)
def distance(
    source: Source,
    concepts: Annotated[list[str], typer.Argument(help="Two or more concepts.")],
    distance: Annotated[str, typer.Option(help="How far apart concepts are.")] = "ancestors",
    match: Annotated[str, typer.Option(help="What the concepts are given as: id, label or code.")] = "id",
    format: Format = None,
    root: Root = None,
    concept: Concept = None,
    parent: Parent = None,
    json: Json = False,
) -> None:
    """Print the semantic distances between concepts, and what they have in common."""
    taxonomy = _open(source, format, root, concept, parent)
    spelled = _match(match)
    positions = taxonomy.lookup(concepts, match=spelled)
    for given, position in zip(concepts, positions.tolist(), strict=True):
        if position < 0:
            raise DataError(
                f"{given!r} is not the {match} of a concept of {taxonomy.name}.",
                hint=did_you_mean(given, taxonomy.nearest(given, match=spelled)),
            )
    ids = taxonomy.names(positions)
    matrix = taxonomy.table(positions, distance=distance)
    common = taxonomy.lcs(ids)
    if json:
        concepts_described = [_described(taxonomy, c) for c in ids]
        return print_json(
            {
                "distance": distance,
                "concepts": concepts_described,
                "common": common,
                "matrix": matrix.tolist(),
            }
        )
    rows = zip(ids, matrix.tolist(), strict=True)
    print_table(["", "label", *ids], [(c, taxonomy[c].label, *(f"{value:.4f}" for value in row)) for c, row in rows])
    print(f"{distance}; the least common subsumer is {common} ({taxonomy[common].label}).")


@app.command(name="from-columns")
def from_columns(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table: a file of any format that is read.")],
    columns: Annotated[
        list[str], typer.Argument(metavar="COLUMN…", help="The column of the codes, that of their groups, and so on.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: an edge list in CSV.")],
    label: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=TEXT", help="The column that describes another; repeat it.")
    ] = None,
    missing: Annotated[list[str] | None, typer.Option(help="A value that means missing; repeat for several.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Make a taxonomy from columns of a table, the finest first, and write it to a file.

    A code under several groups has several parents; a single row that contradicts many others is told as a likely slip.
    """
    from ..microdata import read_table
    from ..taxonomy import Taxonomy

    labels = dict(_pair(one) for one in label or ())
    names = list(dict.fromkeys([*columns, *labels.values()]))
    if output.exists() and not force:
        raise DataError(f"{output} exists.", hint="Choose another name, or say --force.")
    found = Taxonomy.from_columns(
        read_table(data, names, text=True), columns, labels=labels, missing=("", *(missing or ()))
    )
    found.write(output)
    several = sum(len(found.parents_of(i)) > 1 for i in range(len(found.ids)))
    print(f"{output}: {found!r}")
    print(f"{several:,} concepts have several parents.")
    for slip in found.slips:
        print(slip)
    print(f"In a plan: taxonomy: {output}. Or without a file: taxonomy: {{from: [{', '.join(columns)}]}}.")


def _pair(text: str) -> tuple[str, str]:
    column, equal, words = text.partition("=")
    if not equal:
        raise DataError(f"--label {text} names no column of texts.", hint="Write --label drg=drg_text.")
    return column, words


def _open(source: str, format: str | None, root: str | None, concept: str | None, parent: str | None) -> Taxonomy:
    from ..taxonomy import Taxonomy, builtin

    if source in builtin.names() and not Path(source).exists() and root is None:
        return Taxonomy.builtin(source)
    path = builtin.path(source) if source in builtin.names() and not Path(source).exists() else Path(source)
    options = {name: column for name, column in (("concept", concept), ("parent", parent)) if column is not None}
    return Taxonomy.read(path, format, root=root, name=source if path.name != source else None, **options)


def _match(match: str) -> Any:
    if match not in ("id", "label", "code"):
        raise DataError(
            f"match must be 'id', 'label' or 'code'; got {match!r}.",
            hint=did_you_mean(match, ["id", "label", "code"]),
        )
    return match


def _best_builtin(data: Path, column: str, values: Any, missing: list[str]) -> tuple[str, str, tuple[str, ...]]:
    import numpy as np

    from ..microdata.distinct import Distinct
    from ..microdata.matching import find_taxonomy
    from ..taxonomy import builtin

    distinct = Distinct.from_arrow(values)
    used = [i for i, text in enumerate(distinct.spellings) if text not in ("", "?", *missing) and distinct.counts[i]]
    evidence = find_taxonomy([distinct.spellings[i] for i in used], distinct.counts[np.array(used, dtype=int)])
    if evidence is None:
        raise DataError(
            f"{data}: column {column!r} looks like none of the built-in taxonomies.",
            hint=f"Name one with --taxonomy: {', '.join(builtin.names())}, a file or a folder.",
        )
    return evidence.taxonomy, evidence.match, evidence.normalize


def _described(taxonomy: Taxonomy, concept: str) -> dict[str, str]:
    return {"id": concept, "label": taxonomy[concept].label}


def _print_coverage(data: Path, column: str, match: str, steps: tuple[str, ...], found: Coverage) -> None:
    present = found.cells - found.missing_cells
    how = f" by {match}" + (f", normalized by {', '.join(steps)}" if steps else "")
    print_facts(
        f"{data}, column {column}, in {found.taxonomy}{how}",
        [
            ("cells", f"{found.cells:,}"),
            ("missing", share(found.missing_cells, found.cells)),
            ("mapped", share(found.mapped_cells, present)),
            ("  of these inner nodes", share(found.inner_cells, found.mapped_cells)),
            ("unmapped", share(present - found.mapped_cells, present)),
            ("distinct values", f"{found.values:,}"),
            ("  mapped", share(found.mapped_values, found.values)),
            ("  of these inner nodes", share(found.inner_values, found.mapped_values)),
        ],
    )
    if found.unmapped:
        print_table(
            ["unmapped value", "cells", "first row", "nearest"],
            [(u.value, u.cells, u.first_row, ", ".join(u.nearest)) for u in found.unmapped],
        )
        more = found.values - found.mapped_values - len(found.unmapped)
        if more:
            print(f"… and {more:,} more")
        print(
            "If one of these means missing, say so with --missing; if codes are spelled differently, try --normalize."
        )
