"""How the values of a table spell the concepts of a taxonomy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import TaxonomyError, did_you_mean
from .normalize import normalizer

__all__ = ["Match", "Spellings"]

Match = Literal["id", "label", "code"]

_UNKNOWN, _AMBIGUOUS = -1, -2


class Spellings:
    """The identifiers, labels and codes of a taxonomy, and the way from them to positions."""

    def __init__(
        self, taxonomy: str, ids: list[str], labels: list[str], codes: list[str], aliases: dict[str, int]
    ) -> None:
        self._taxonomy = taxonomy
        self._spelled: dict[str, list[str]] = {"id": ids, "label": labels, "code": codes}
        self._aliases = aliases
        self._keys: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
        self._sorted: dict[str, list[str]] = {}

    def lookup(self, values: Sequence[str], match: Match, steps: tuple[str, ...]) -> NDArray[np.int32]:
        """The position of each value, -1 where it is unknown; one that means several concepts is an error."""
        keys = self.keys(match, steps)
        rewrite = normalizer(steps, of_values=True)
        found = [keys.get(rewrite(value) if steps else value, _UNKNOWN) for value in values]
        if _AMBIGUOUS in found:
            raise TaxonomyError(
                f"{values[found.index(_AMBIGUOUS)]!r} is the {match} of several concepts of {self._taxonomy}.",
                hint="Use identifiers (match='id') for these values, or fewer normalisations.",
            )
        return np.array(found, dtype=np.int32)

    def names(self, positions: list[int], match: Match) -> list[str]:
        """The spellings of positions; identifiers where there is no label or code."""
        spelled, ids = self._of(match), self._spelled["id"]
        return [spelled[i] or ids[i] for i in positions]

    def nearest(self, value: str, match: Match, count: int) -> list[str]:
        """The spellings that look most like a value: those with the longest beginning in common, the likest first."""
        if match not in self._sorted:
            self._sorted[match] = sorted(self.keys(match))
        keys = self._sorted[match]
        for length in range(len(value), 0, -1):
            low = bisect_left(keys, value[:length])
            high = bisect_left(keys, value[:length] + "\U0010ffff")
            if high > low:
                return get_close_matches(value, keys[low : min(high, low + 300)], n=count, cutoff=0.0)
        return get_close_matches(value, keys[:20_000], n=count)

    def keys(self, match: Match, steps: tuple[str, ...] = ()) -> dict[str, int]:
        """From spellings, normalised, to positions; -2 where one spelling means several concepts."""
        if (match, steps) not in self._keys:
            self._keys[match, steps] = self._make_keys(match, steps)
        return self._keys[match, steps]

    def _make_keys(self, match: Match, steps: tuple[str, ...]) -> dict[str, int]:
        rewrite = normalizer(steps, of_values=False)
        spelled = self._of(match)
        if match == "code":  # a concept without a notation is known by its identifier
            spelled = [code or concept for code, concept in zip(spelled, self._spelled["id"], strict=True)]
        keys: dict[str, int] = {}
        for position, spelling in enumerate(spelled):
            if spelling:
                key = rewrite(spelling)
                keys[key] = position if keys.get(key, position) == position else _AMBIGUOUS
        if match == "id":
            for alias, position in self._aliases.items():
                keys.setdefault(rewrite(alias), position)
        return keys

    def _of(self, match: Match) -> list[str]:
        if match not in self._spelled:
            raise TaxonomyError(
                f"match must be 'id', 'label' or 'code'; got {match!r}.", hint=did_you_mean(str(match), self._spelled)
            )
        return self._spelled[match]
