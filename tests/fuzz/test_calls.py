"""A short run of random calls; `python tests/fuzz/calls.py` runs longer."""

from __future__ import annotations

from collections import Counter

from fuzz.calls import outcome


def test_random_calls_keep_their_word_or_are_refused() -> None:
    found = {seed: outcome(seed) for seed in range(60)}
    assert {seed: one for seed, one in found.items() if one not in ("released", "refused")} == {}
    assert min(Counter(found.values()).values()) > 10  # both happen
