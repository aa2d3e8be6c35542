from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..checks import check_integer
from ..errors import DataError
from ..microdata import Kind, Microdata, TaxonomicColumn
from ..microdata.frames import Frame
from ..microdata.sharing import alike
from ._attributes import each
from ._kept import MissingStays, released_column
from ._levels import cut, with_concepts
from .base import Check, Masked, Method, Progress, Promise

__all__ = ["AboveLevel", "Recoding", "known_to_first"]


@dataclass(frozen=True)
class Recoding(Method):
    """Global recoding: every code deeper than a level is replaced by the code above it at that level.

    Codes at or above the level stay as they are, and so do missing values.

    Parameters
    ----------
    level
        The depth in the taxonomy, counted from its root, which is at depth 1 (as ``taxonomy["250"].depth``): one for
        all taxonomic quasi-identifiers, or a mapping from attributes to depths. Where a concept has several parents the
        way up goes to the first one listed, and may end above the level, since depth is that of the longest path. With
        several taxonomies the first counts.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, section 3.3, doi 10.1002/9781118348239.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["25001", "25002", "4019", "250"]})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> depth = tm.Taxonomy.builtin("icd9cm")["250"].depth
    >>> tm.protect(table, schema, tm.Recoding(depth)).data["dx"].to_pylist()
    ['250', '250', '401', '250']
    """

    level: int | Mapping[str, int]

    name = "recoding"
    about = "Replaces every code by the one above it at a chosen level of the taxonomy."
    reference = "Hundepool et al. (2012), Statistical Disclosure Control, doi 10.1002/9781118348239"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns, notes = {}, []
        for name, level in self._levels(data).items():
            check_integer("level", level, at_least=1, hint="The root of the taxonomy is at depth 1.")
            column = known_to_first(data, name)
            columns[name] = with_concepts(column, cut(column.scopes[0].taxonomy, column.positions, level)).compact()
            before, after = column.compact().categories, columns[name].categories
            notes.append(f"{name}: {len(before):,} different codes became {len(after):,}.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        levels = self._levels(data)
        return MissingStays(tuple(levels)), *(AboveLevel(name, level) for name, level in levels.items())

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, level={name: level}) for name, level in self._levels(data).items())

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return tuple(self._levels(data))

    def _levels(self, data: Microdata) -> dict[str, int]:
        return each(data, self.level, (Kind.TAXONOMIC,), self.name)


@dataclass(frozen=True)
class AboveLevel(Promise):
    """No released code is deeper than the level, and each is the original code or above it."""

    attribute: str
    level: int

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        before, after = alike(original.columns[self.attribute], released_column(released, original, self.attribute))
        assert isinstance(before, TaxonomicColumn)
        assert isinstance(after, TaxonomicColumn)
        taxonomy = before.scopes[0].taxonomy
        both = ~before.missing & ~after.missing
        size = len(before.categories)
        pairs = np.unique(before.codes[both].astype(np.int64) * size + after.codes[both])
        deep = not_above = 0
        for old, new in zip(*before.positions[np.array(np.divmod(pairs, size))].tolist(), strict=True):
            deep += int(new < 0 or taxonomy.depth[new] > self.level)
            not_above += int(old < 0 or new not in taxonomy.closure.ancestors(old))
        return Check(
            f"every code of {self.attribute} is at depth {self.level} or above, and is or is above the original one",
            not deep and not not_above,
            f"{deep:,} different codes deeper, {not_above:,} not above",
        )


def known_to_first(data: Microdata, name: str) -> TaxonomicColumn:
    """A taxonomic column whose values the first of its taxonomies knows."""
    column = data.columns[name]
    assert isinstance(column, TaxonomicColumn)
    unknown = np.flatnonzero((column.positions < 0) & (column.counts > 0))
    if len(unknown):
        value, taxonomy = column.categories[unknown[0]], column.attribute.taxonomies[0][0].name
        raise DataError(
            f"column {name!r}: {len(unknown)} values, such as {value!r}, are not in {taxonomy}, the first taxonomy.",
            hint="Only values of the first taxonomy can be generalised: put the one that knows all values first.",
        )
    return column
