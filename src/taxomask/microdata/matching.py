"""Which shipped taxonomy the values of a column come from, and how strong the evidence is.

Short numbers are codes of many taxonomies by chance: every age is the code of some disease. So values are
compared with look-alikes, random strings of the same shape; a taxonomy is taken only if the values map and
look-alikes do not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import TaxonomyError
from ..taxonomy import Match, Taxonomy
from .taxonomy_sources import BUILTIN, shipped

__all__ = ["Evidence", "by_chance", "find_taxonomy"]

COVERAGE = 0.95  # of distinct values and of cells
BITS = 16.0  # how much likelier the values are if they are codes than if they are look-alikes: 2 ** 16 times
DOUBTFUL = 0.2  # the share of look-alikes that map beyond which a match may be one by chance
LOOKED_AT_FIRST = 300  # distinct values, before the rest is looked up
NORMALIZE: tuple[tuple[str, ...], ...] = ((), ("zeros:3",), ("zeros:3", "dots"), ("dots",))
MATCHES: tuple[Match, ...] = ("id", "code")
_CODE_LIKE = re.compile(r"[A-Za-z]?[0-9][0-9.]{0,7}|[A-Z]")


@dataclass(frozen=True)
class Evidence:
    """How many values of a column a taxonomy knows."""

    taxonomy: str
    match: Match
    normalize: tuple[str, ...]
    values: int
    mapped_values: int
    cells: int
    mapped_cells: int
    look_alikes: float  # the share of look-alikes that map
    bits: float
    leading_zeros: bool  # whether some concepts are spelled with them

    @property
    def convincing(self) -> bool:
        enough = min(self.mapped_values / self.values, self.mapped_cells / self.cells) >= COVERAGE
        return enough and self.bits >= BITS

    def __str__(self) -> str:
        values, cells = self.mapped_values / self.values, self.mapped_cells / self.cells
        how = f" with {','.join(self.normalize)}" if self.normalize else ""
        how += " (as codes)" if self.match == "code" else ""
        return (
            f"{self.taxonomy}: {100 * values:.1f} % of {self.values:,} distinct values and "
            f"{100 * cells:.1f} % of {self.cells:,} cells map{how}; "
            f"of random look-alikes {100 * self.look_alikes:.1f} %"
        )


def find_taxonomy(texts: Sequence[str], counts: NDArray[np.int64]) -> Evidence | None:
    """The shipped taxonomy that a column's distinct values come from, if the evidence is convincing.

    >>> import numpy as np
    >>> find_taxonomy(["M", "F"], np.array([50, 50])) is None
    True
    """
    first = [texts[i] for i in np.unique(np.linspace(0, len(texts) - 1, LOOKED_AT_FIRST).astype(int))] if texts else []
    if sum(_CODE_LIKE.fullmatch(text) is not None for text in first) < 0.8 * len(first) or not first:
        return None
    decoys = look_alikes(first)
    best: Evidence | None = None
    for taxonomy, match, normalize in _variants():
        if _known(taxonomy, first, match, normalize).mean() < 0.8:
            continue
        known = _known(taxonomy, texts, match, normalize)
        share = (_known(taxonomy, decoys, match, normalize).sum() + 1) / (len(decoys) + 2)
        evidence = Evidence(
            taxonomy.name,
            match,
            normalize,
            len(texts),
            int(known.sum()),
            int(counts.sum()),
            int(counts[known].sum()),
            float(share),
            _bits(int(known.sum()), len(texts), float(share)),
            any(spelling.startswith("0") for spelling in taxonomy.ids),
        )
        if evidence.convincing and (best is None or evidence.bits > best.bits):
            best = evidence
    return best


def by_chance(
    texts: Sequence[str], taxonomy: Taxonomy, match: Match = "id", normalize: tuple[str, ...] = ()
) -> tuple[float, bool]:
    """The share of look-alikes that a taxonomy knows, and whether values may be known to it by chance alone.

    >>> share, doubtful = by_chance([str(number) for number in range(150, 190)], shipped("icd9cm"))
    >>> share > 0.8, doubtful
    (True, True)
    """
    first = [texts[i] for i in np.unique(np.linspace(0, len(texts) - 1, LOOKED_AT_FIRST).astype(int))] if texts else []
    if not first:
        return 0.0, False
    decoys = look_alikes(first)
    share = float((_known(taxonomy, decoys, match, normalize).sum() + 1) / (len(decoys) + 2))
    known = _known(taxonomy, texts, match, normalize)
    return share, share > DOUBTFUL and _bits(int(known.sum()), len(texts), share) < BITS


def look_alikes(texts: Sequence[str]) -> list[str]:
    """For each text a random one of the same shape.

    Whole numbers are drawn between the smallest and the largest of the same length; in other texts, and in
    numbers of more than 18 digits, every digit and every letter is drawn anew.
    """
    rng = np.random.default_rng(0)  # the same draft every time
    spans: dict[int, tuple[int, int]] = {}
    for text in texts:
        if _is_number(text):
            low, high = spans.get(len(text), (int(text), int(text)))
            spans[len(text)] = (min(low, int(text)), max(high, int(text)))
    return [
        str(rng.integers(spans[len(text)][0], spans[len(text)][1] + 1)).zfill(len(text))
        if _is_number(text)
        else "".join(_drawn(character, rng) for character in text)
        for text in texts
    ]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19  # more do not fit into 64 bits


def _drawn(character: str, rng: np.random.Generator) -> str:
    if character.isdigit():
        return str(rng.integers(10))
    if character.isalpha():
        return chr(ord("A") + int(rng.integers(26)))
    return character


def _bits(mapped: int, total: int, chance: float) -> float:
    """log2 of the likelihood ratio: codes map in 98 % of cases, look-alikes as often as they did."""
    return mapped * math.log2(0.98 / chance) + (total - mapped) * math.log2(0.02 / (1 - chance))


def _known(taxonomy: Taxonomy, texts: Sequence[str], match: Match, normalize: tuple[str, ...]) -> NDArray[np.bool_]:
    try:
        return taxonomy.lookup(texts, match=match, normalize=normalize) >= 0
    except TaxonomyError:  # one spelling for several concepts
        return np.zeros(len(texts), dtype=bool)


def _variants() -> Iterator[tuple[Taxonomy, Match, tuple[str, ...]]]:
    """Every way to read values as concepts; of equally good ones the first is taken."""
    for normalize, match, name in product(NORMALIZE, MATCHES, BUILTIN):
        yield shipped(name), match, normalize
