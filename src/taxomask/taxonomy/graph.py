"""What a taxonomy is: concepts and is-a edges, in arrays, seen as a mapping from identifiers to concepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.showing import line, view
from .._support.temporary import write_whole
from ..errors import TaxonomyError, UnknownConceptError, did_you_mean
from .listing import Listing
from .normalize import check_normalize
from .order import Arrays, arrange
from .spelling import Match, Spellings

if TYPE_CHECKING:
    from .closure import Closure
    from .distances import Distance
    from .from_columns import FromColumns, Level
    from .scope import Scope

__all__ = ["Concept", "Match", "Taxonomy"]

Positions = NDArray[np.int32]

_BRANCHES = 12  # that a notebook shows


@dataclass(frozen=True, slots=True, repr=False)
class Concept:
    """One concept of a taxonomy: a light view that holds no data of its own."""

    taxonomy: Taxonomy
    position: int

    @property
    def id(self) -> str:
        return self.taxonomy.ids[self.position]

    @property
    def label(self) -> str:
        """The name of the concept; its identifier where the file gives none."""
        return self.taxonomy.labels[self.position] or self.id

    @property
    def code(self) -> str:
        """The notation of the concept (such as a dotted ICD code); its identifier where there is none."""
        return self.taxonomy.codes[self.position] or self.id

    @property
    def depth(self) -> int:
        """Concepts on the longest path from the root, both ends included."""
        return int(self.taxonomy.depth[self.position])

    @property
    def parents(self) -> tuple[Concept, ...]:
        return self._views(self.taxonomy.parents_of(self.position))

    @property
    def children(self) -> tuple[Concept, ...]:
        return self._views(self.taxonomy.children_of(self.position))

    def _views(self, positions: Positions) -> tuple[Concept, ...]:
        return tuple(Concept(self.taxonomy, int(position)) for position in positions)

    def __repr__(self) -> str:
        return line(f"<Concept {self.id}: {self.label}>")


class Taxonomy(Mapping[str, Concept]):
    """Concepts and their is-a edges: a rooted directed acyclic graph, often a tree.

    Concepts are numbered in taxonomy order: depth first, children in the order of the file. Methods take and
    give identifiers; arrays of positions are for code that works on whole columns.

    When a file has several top concepts, a virtual root joins them. It can be asked for (``taxonomy.root``,
    ``taxonomy[taxonomy.root]``), but it is not counted by ``len`` and not listed by iteration.

    Examples
    --------
    >>> import taxomask as tm
    >>> disorders = tm.Taxonomy.from_edges([
    ...     ("Coma", "Disorder of nervous system"),
    ...     ("Neuropathy", "Disorder of nervous system"),
    ...     ("Hepatic coma", "Coma"),
    ...     ("Hypoglycemic coma", "Coma"),
    ... ])
    >>> disorders.lcs(["Hepatic coma", "Hypoglycemic coma"])
    'Coma'
    >>> disorders.ancestors("Hepatic coma")
    ('Disorder of nervous system', 'Coma', 'Hepatic coma')
    >>> round(disorders.distance("Coma", "Neuropathy", distance="wu_palmer", sample=list(disorders)), 2)
    0.5
    """

    def __init__(self, arrays: Arrays, name: str) -> None:
        self.name = name
        self.ids = arrays.ids
        self.labels = arrays.labels
        self.codes = arrays.codes
        self.depth = arrays.depth
        self.aliases = arrays.aliases
        self.virtual_root = arrays.virtual_root
        self.parent_start, self.parent_index = arrays.parent_start, arrays.parent_index
        self.child_start, self.child_index = arrays.child_start, arrays.child_index
        self._spellings = Spellings(name, arrays.ids, arrays.labels, arrays.codes, arrays.aliases)
        self.made_from: FromColumns | None = None
        self.slips: tuple[str, ...] = ()

    # ----------------------------------------------------------------------------------- making one

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        root: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Taxonomy:
        """Read a taxonomy from a file or folder.

        Parameters
        ----------
        path
            The file (gzip is recognised), or the folder of a SNOMED CT release.
        format
            ``"edges"``, ``"levels"``, ``"prefix"``, ``"obo"``, ``"owl"``, ``"skos"`` or ``"rf2"``; recognised from the
            content if left out.
        root
            Take only this concept and what is below it.
        name
            How messages call the taxonomy; by default the name of the file.
        **options
            Options of the format, such as ``parent=`` (the column or property that points to the parent).
        """
        from .readers import read_listing

        listing = read_listing(Path(path), format, **options)
        return cls(arrange(listing, root), name or Path(fspath(path)).name)

    @classmethod
    def builtin(cls, name: str) -> Taxonomy:
        """A taxonomy that is shipped with taxomask.

        ``"icd9cm"`` (diagnoses), ``"icd9cm_procedures"``, ``"nace2"`` (economic activities) or ``"isco08"``
        (occupations).

        >>> icd = Taxonomy.builtin("icd9cm")
        >>> icd["25001"].label
        'Diabetes mellitus without mention of complication, type I [juvenile type], not stated as uncontrolled'
        """
        from . import builtin

        with builtin.open_path(name) as path:
            return cls.read(path, "edges", name=name)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        *,
        labels: Mapping[str, str] | None = None,
        name: str = "taxonomy",
    ) -> Taxonomy:
        """Make a taxonomy from (child, parent) pairs."""
        listing = Listing(origin=name)
        seen: dict[str, None] = {}
        for child, parent in edges:
            seen.setdefault(child)
            seen.setdefault(parent)
            listing.link(child, parent)
        for concept in seen:
            listing.add(concept, label=(labels or {}).get(concept, ""))
        return cls(arrange(listing), name)

    @classmethod
    def from_columns(
        cls,
        frame: Any,
        columns: Sequence[str],
        *,
        labels: Mapping[str, str] | None = None,
        missing: Sequence[str] = ("",),
        name: str | None = None,
    ) -> Taxonomy:
        """Make a taxonomy from columns of a table: a code, its group, the group of that, and so on.

        A code that stands under several groups has several parents. A row below a parent that no other row of a common
        code has is told in ``slips``: it may be a slip of the pen.

        Parameters
        ----------
        frame
            The table (pandas, polars or pyarrow).
        columns
            The names of the columns, the finest first. What has the same name in two of them is two things: the coarser
            one is called by its column, too (``"mdc: 4"``). Where a cell is empty, the next one in the row counts.
        labels
            For some of these columns, the column that describes their values.
        missing
            Values that mean "missing", besides empty cells.
        name
            How messages call the taxonomy.

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"drg": [65, 66, 103], "mdc": ["1", "1", "5"], "text": ["Stroke", "Stroke", "Transplant"]})
        >>> drg = Taxonomy.from_columns(table, ["drg", "mdc"], labels={"drg": "text"})
        >>> drg.parents("65"), drg["103"].label, round(drg.distance("65", "66"), 2), round(drg.distance("65", "103"), 2)
        (('1',), 'Transplant', 0.58, 0.85)
        """
        from .from_columns import FromColumns, levels_of

        made_from = FromColumns.of(columns, labels)
        levels = levels_of(frame, made_from.every)
        return cls.from_levels(made_from, {key: level.without(missing) for key, level in levels.items()}, name)

    @classmethod
    def from_levels(cls, made_from: FromColumns, levels: Mapping[str, Level], name: str | None = None) -> Taxonomy:
        """As `from_columns`, from columns that were read before."""
        from .from_columns import described

        listing, slips = described(made_from, levels)
        found = cls(arrange(listing), name or made_from.name)
        found.made_from, found.slips = made_from, slips
        return found

    def write(self, path: str | PathLike[str]) -> None:
        """Write the taxonomy as an edge list, which `read` takes: CSV, packed with gzip if the name ends in ``.gz``."""
        import csv
        import gzip
        import io

        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("id", "parent", "label", "code"))
        for position in range(self.virtual_root, len(self.ids)):
            own = (self.labels[position], self.codes[position])
            parents = [self.ids[one] for one in self.parents_of(position).tolist() if one or not self.virtual_root]
            for number, parent in enumerate(parents or [""]):
                rows.writerow((self.ids[position], parent, *(own if not number else ("", ""))))
        whole = text.getvalue().encode()
        write_whole(Path(path), gzip.compress(whole, mtime=0) if fspath(path).endswith(".gz") else whole)

    # ----------------------------------------------------------------------------------- as a mapping

    def __getitem__(self, concept: str) -> Concept:
        return Concept(self, self.position(concept))

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids[1:] if self.virtual_root else self.ids)

    def __len__(self) -> int:
        return len(self.ids) - self.virtual_root

    def __contains__(self, concept: object) -> bool:
        return concept in self._spellings.keys("id")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return line(f"<Taxonomy {self.name}: {self._shape()}>")

    def _shape(self) -> str:
        return f"{len(self):,} concepts, {'tree' if self.is_tree else 'DAG'} of depth {int(self.depth.max())}"

    def _repr_html_(self) -> str:
        tops = self.roots if self.virtual_root else self.children(self.root) or self.roots
        rows = [(one, self[one].label, f"{len(self.descendants(one)):,}") for one in tops[:_BRANCHES]]
        which = "branches" if len(rows) == len(tops) else f"first {len(rows)} of {len(tops):,} branches"
        about = f"The {which} at its top, with the concepts in each."
        header = ("branch", "label", "concepts")
        return view(f"Taxonomy {self.name}: {self._shape()}", about, header=header, rows=rows, numeric=(2,))

    # ----------------------------------------------------------------------------------- its shape

    @property
    def root(self) -> str:
        """The identifier of the root (of the virtual one, if there are several top concepts)."""
        return self.ids[0]

    @property
    def roots(self) -> tuple[str, ...]:
        """The top concepts of the file."""
        return self._names(self.children_of(0)) if self.virtual_root else (self.root,)

    @property
    def edge_count(self) -> int:
        """The is-a edges of the file."""
        return len(self.parent_index) - (len(self.roots) if self.virtual_root else 0)

    @cached_property
    def is_tree(self) -> bool:
        """Whether no concept has two parents."""
        return bool((np.diff(self.parent_start) <= 1).all())

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """For each position, whether nothing is below it."""
        return np.diff(self.child_start) == 0

    @cached_property
    def closure(self) -> Closure:
        """The ancestors of every concept, made on first use."""
        from .closure import Closure

        return Closure.of(self)

    def position(self, concept: str) -> int:
        """The position of a concept in taxonomy order."""
        try:
            return self._spellings.keys("id")[concept]
        except KeyError:
            near = self.nearest(concept)
            raise UnknownConceptError(
                f"{concept!r} is not a concept of {self.name}.",
                hint=did_you_mean(concept, near) if near else "Look at the concepts with list(taxonomy).",
            ) from None

    def parents_of(self, position: int) -> Positions:
        return self.parent_index[self.parent_start[position] : self.parent_start[position + 1]]

    def children_of(self, position: int) -> Positions:
        return self.child_index[self.child_start[position] : self.child_start[position + 1]]

    # ----------------------------------------------------------------------------------- questions

    def parents(self, concept: str) -> tuple[str, ...]:
        """The parents of a concept, in the order of the file."""
        return self._names(self.parents_of(self.position(concept)))

    def children(self, concept: str) -> tuple[str, ...]:
        """The children of a concept, in taxonomy order."""
        return self._names(self.children_of(self.position(concept)))

    def ancestors(self, concept: str) -> tuple[str, ...]:
        """T(c): the concept itself and everything above it, in taxonomy order."""
        return self._names(np.sort(self.closure.ancestors(self.position(concept))))

    def descendants(self, concept: str) -> tuple[str, ...]:
        """The concept itself and everything below it, in taxonomy order."""
        return self._names(self.closure.descendants(self.position(concept)))

    def lcs(self, concepts: Iterable[str]) -> str:
        """The least common subsumer: the deepest concept that is above (or is) all of these.

        Of several equally deep ones the first in taxonomy order.
        """
        from .scope import least_common_subsumer

        positions = self._positions(concepts)
        if not len(positions):
            raise TaxonomyError("lcs needs at least one concept.", hint="Pass the concepts as a list.")
        return self.ids[least_common_subsumer(self, positions)]

    def distance(
        self, a: str, b: str, *, distance: str | Distance = "ancestors", sample: Iterable[str] | None = None
    ) -> float:
        """The semantic distance between two concepts; see `distance_matrix`."""
        return float(
            self.distance_matrix([a], [b], distance=distance, sample=sample if sample is not None else [a, b])[0, 0]
        )

    def distance_matrix(
        self,
        concepts: Iterable[str],
        others: Iterable[str] | None = None,
        *,
        distance: str | Distance = "ancestors",
        sample: Iterable[str] | None = None,
    ) -> NDArray[np.float64]:
        """The semantic distances between concepts (rows) and others (columns; the same if left out).

        Parameters
        ----------
        concepts, others
            Identifiers.
        distance
            ``"ancestors"``, ``"wu_palmer"``, ``"edge_weight"``, ``"lin"``, ``"jiang_conrath"``, ``"equality"``, or a
            `Distance`.
        sample
            The values of the whole attribute, where the distance depends on them: ``wu_palmer`` counts depth from their
            least common subsumer, ``edge_weight`` weighs edges by the depth of the deepest. By default the concepts and
            others themselves.

        Examples
        --------
        >>> icd = Taxonomy.builtin("icd9cm")
        >>> icd.distance_matrix(["25001", "25002", "4019"]).round(3)
        array([[0.   , 0.363, 0.926],
               [0.363, 0.   , 0.926],
               [0.926, 0.926, 0.   ]])
        """
        rows = self._positions(concepts)
        cols = None if others is None else self._positions(others)
        scope = None if sample is None else self.scope(self._positions(sample))
        return self.table(rows, cols, distance=distance, scope=scope)

    # ----------------------------------------------------------------------------------- on whole columns

    def scope(self, positions: ArrayLike) -> Scope:
        """τ(X): what is below the least common subsumer of a sample."""
        from .scope import Scope

        return Scope(self, _distinct(np.asarray(positions, dtype=np.int32)))

    def table(
        self,
        positions: ArrayLike,
        others: ArrayLike | None = None,
        *,
        distance: str | Distance = "ancestors",
        scope: Scope | None = None,
    ) -> NDArray[np.float64]:
        """As `distance_matrix`, between positions; ``scope`` is that of the whole attribute."""
        from .distances import get_distance

        rows = np.asarray(positions, dtype=np.int32)
        cols = rows if others is None else np.asarray(others, dtype=np.int32)
        return get_distance(distance).matrix(scope or self.scope(np.concatenate([rows, cols])), rows, cols)

    def lookup(self, values: Sequence[str], *, match: Match = "id", normalize: Iterable[str] | str = ()) -> Positions:
        """The position of each value, -1 where it is not in the taxonomy.

        Parameters
        ----------
        values
            Spellings as they stand in the data.
        match
            What they are spelled as: identifiers (or alternative identifiers), labels, or codes.
        normalize
            Normalisations to apply first, in this order: ``"spaces"``, ``"case"``, ``"zeros:3"``, ``"dots"``.

        Examples
        --------
        >>> icd = Taxonomy.builtin("icd9cm")
        >>> icd.names(icd.lookup(["38", "8.5", "250.01"], normalize=["zeros:3", "dots"]))
        ['038', '0085', '25001']
        """
        return self._spellings.lookup(values, match, check_normalize(normalize))

    def names(self, positions: ArrayLike, *, match: Match = "id") -> list[str]:
        """The identifiers (or labels, or codes) of positions."""
        return self._spellings.names(np.asarray(positions).tolist(), match)

    def nearest(self, value: str, *, match: Match = "id", count: int = 3) -> list[str]:
        """The spellings in the taxonomy that look most like a value."""
        return self._spellings.nearest(value, match, count)

    # ----------------------------------------------------------------------------------- inside

    def _names(self, positions: Positions) -> tuple[str, ...]:
        return tuple(self.ids[i] for i in positions.tolist())

    def _positions(self, concepts: Iterable[str]) -> Positions:
        if isinstance(concepts, str):
            raise TaxonomyError(f"expected several concepts; got the text {concepts!r}.", hint="Pass a list.")
        return np.array([self.position(concept) for concept in concepts], dtype=np.int32)


def _distinct(positions: Positions) -> Positions:
    return positions if (np.diff(positions) > 0).all() else np.unique(positions)
