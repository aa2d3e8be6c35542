"""Every random choice of a release follows from four things: its seed, its method, the parameters and the table.

Two releases with the same seed share no random number unless they share all four: their differences tell nothing. Of
the table, the values of the coded columns count, not the file, its format, the kind of frame or the engine. The numbers
come from ChaCha20: whoever sees some of them, as an intruder sees the noise of records that he knows, learns nothing
about the others.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from ..engines import Engine
from ..errors import PlanError
from ..methods import Method
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Microdata

__all__ = ["LEAST_SEED", "check_secret", "draws_of", "generator", "new_seed"]

LEAST_SEED = 2**64  # of a release to others: smaller ones can be tried one after the other


def new_seed() -> int:
    """A seed that nobody can guess.

    >>> new_seed() >= LEAST_SEED
    True
    """
    return secrets.randbits(127) | 1 << 127


def check_secret(seed: int | None, *, practice: bool) -> None:
    """An error if a table would go to others with a seed that can be found by trying."""
    if seed is not None and seed < LEAST_SEED and not practice:
        raise PlanError(
            f"a seed below 2**64 can be found by trying, and undoes the protection; got {seed}.",
            hint="Leave the seed out, take one that `taxomask seed` prints, or say that this is practice and not for "
            "release: 'practice: true' in the plan, --practice on the command line, write(…, practice=True) in Python.",
        )


def draws_of(engine: Engine, data: Microdata, method: Method, seed: int) -> str:
    """What all random choices of a release follow from: a hash of seed, method, parameters and table."""
    items = [(name, column, data.holds_dates(name)) for name, column in data.columns.items()]
    if data.n > engine.chunk:
        columns = [_hash_in_chunks(engine, *item) for item in items]
    else:
        columns = engine.map(_hash, items, "hashing")
    content = [seed, method.name, method.parameters(), data.n, columns]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()


def generator(draws: str, what: str) -> np.random.Generator:
    """Random numbers for one purpose."""
    from randomgen import ChaCha

    entropy = hashlib.sha256(f"{what} {draws}".encode()).digest()
    return np.random.Generator(ChaCha(np.random.SeedSequence(int.from_bytes(entropy, "big"))))


def _hash(name: str, column: Column, dates: bool) -> str:
    """The hash of the values of a column, whatever type they have in the table."""
    digest = hashlib.sha256(repr((name, column.attribute.kind, len(column))).encode())
    if isinstance(column, ContinuousColumn):
        values = column.values + 0.0  # one zero
        if dates:  # they count in the unit of the file
            values = np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.float64)
        values[np.isnan(values)] = np.nan  # one way to be missing
        digest.update(values.tobytes())
    if isinstance(column, CategoricalColumn):
        texts, place = _spelled(column)
        digest.update(repr(texts).encode())
        digest.update(place[column.codes].tobytes())
    return digest.hexdigest()


def _spelled(column: CategoricalColumn) -> tuple[list[str], NDArray[np.int32]]:
    """The categories that occur as texts, in their order, and the place of each code among them; at last -1."""
    used = np.flatnonzero(column.counts).tolist()
    texts = {code: spell(column.categories[code]) for code in used}
    order = sorted(used, key=texts.__getitem__)
    place = np.full(len(column.categories) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return [texts[code] for code in order], place


def _hash_in_chunks(engine: Engine, name: str, column: Column, dates: bool) -> str:
    """The same of a long column: a hash of the hashes of its chunks. Of dates it is their ranks that count."""
    digest = hashlib.sha256(repr((name, column.attribute.kind, len(column), "in chunks")).encode())
    cells, place = column.cells, None
    if isinstance(column, CategoricalColumn):
        texts, place = _spelled(column.outline(engine.count(column)))
        digest.update(repr(texts).encode())
    elif dates:
        gaps = engine.each(_gaps, [cells], what="hashing")
        cells = engine.rank(cells, "hashing")
        digest.update(b"".join(engine.map(_hash_cells, engine.cut([gaps]), "hashing")))
    digest.update(b"".join(engine.map(_hash_cells, engine.cut([cells], place), "hashing")))
    return digest.hexdigest()


def _gaps(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.isnan(cells).astype(np.float64)


def _hash_cells(cells: NDArray[Any], place: NDArray[np.int32] | None = None) -> bytes:
    """The hash of some codes, or of some numbers."""
    if place is not None:
        return hashlib.sha256(place[cells].tobytes()).digest()
    values = cells + 0.0  # one zero
    values[np.isnan(values)] = np.nan  # one way to be missing
    return hashlib.sha256(values.tobytes()).digest()
