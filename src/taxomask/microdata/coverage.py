"""How well a taxonomy covers the values of a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._support.spelling import spell
from ..taxonomy import Match, Taxonomy
from .distinct import Distinct

__all__ = ["Coverage", "Unmapped", "coverage"]


@dataclass(frozen=True)
class Unmapped:
    """A value that the taxonomy does not know."""

    value: str
    cells: int
    first_row: int
    nearest: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """Counts of cells and of distinct values: mapped, unmapped, missing, and those that are inner nodes."""

    taxonomy: str
    cells: int
    missing_cells: int
    mapped_cells: int
    values: int
    mapped_values: int
    inner_cells: int
    inner_values: int
    unmapped: tuple[Unmapped, ...]

    @property
    def complete(self) -> bool:
        """Whether every value that is not missing is a concept of the taxonomy."""
        return self.mapped_values == self.values

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"complete": self.complete}


def coverage(
    array: Any,
    taxonomy: Taxonomy,
    *,
    match: Match = "id",
    normalize: Iterable[str] | str = (),
    missing: Sequence[str] = ("",),
    show: int = 20,
) -> Coverage:
    """Look up the values of a pyarrow column.

    Parameters
    ----------
    array
        The column.
    taxonomy, match, normalize
        Where and how to look them up; see `Taxonomy.lookup`.
    missing
        Values that mean missing, besides empty cells.
    show
        How many of the unmapped values to list, the most frequent first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = coverage(pa.array(["250", "25001", "25009", None]), Taxonomy.builtin("icd9cm"))
    >>> found.mapped_cells, found.inner_cells, found.unmapped[0].value
    (2, 1, '25009')
    """
    distinct = Distinct.from_arrow(array)
    markers = {spell(marker) for marker in missing}
    present = (distinct.counts > 0) & np.array([text not in markers for text in distinct.spellings], dtype=bool)
    positions = taxonomy.lookup(distinct.spellings, match=match, normalize=normalize)
    mapped = present & (positions >= 0)
    inner = mapped & ~taxonomy.leaf[positions]
    unmapped = np.flatnonzero(present & ~mapped)
    ranked = unmapped[np.lexsort((distinct.first_rows[unmapped], -distinct.counts[unmapped]))]
    return Coverage(
        taxonomy=taxonomy.name,
        cells=len(distinct.codes),
        missing_cells=len(distinct.codes) - int(distinct.counts[present].sum()),
        mapped_cells=int(distinct.counts[mapped].sum()),
        values=int(present.sum()),
        mapped_values=int(mapped.sum()),
        inner_cells=int(distinct.counts[inner].sum()),
        inner_values=int(inner.sum()),
        unmapped=tuple(
            Unmapped(
                distinct.spellings[i],
                int(distinct.counts[i]),
                int(distinct.first_rows[i]) + 1,
                tuple(taxonomy.nearest(distinct.spellings[i], match=match)),
            )
            for i in ranked[:show].tolist()
        ),
    )
