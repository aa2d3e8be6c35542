"""From a table and a method to a release whose promises were checked on the data itself."""

from __future__ import annotations

import hashlib
import io
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._support.one_thread import one_thread
from .._support.parameters import check_integer
from .._version import __version__
from ..engines import Engine, Memory
from ..methods import Method, Progress
from ..methods.decimals import rounded
from ..methods.missing_permutation import with_missing_cells
from ..microdata import Microdata, Schema
from ..microdata.casting import take, widest
from ..microdata.frames import Frame
from .accept import accepted_entries
from .leaks import Terms
from .randomness import draws_of, generator, new_seed
from .release import Release

__all__ = ["fingerprint", "protect", "protect_on"]


def protect(
    frame: Any,
    schema: Schema,
    method: Method,
    *,
    seed: int | None = None,
    accept: Iterable[Mapping[str, Any]] = (),
    missing_cells: str = "keep",
    progress: Progress | None = None,
) -> Release:
    """Protect a table.

    Parameters
    ----------
    frame
        A pandas, polars or pyarrow table, or one that was coded before (`Microdata`) with the same schema.
    schema
        What its columns are.
    method
        How to protect it, such as ``Microaggregation(k=5)``.
    seed
        For a release that can be repeated; by default the operating system gives one. It is kept in the audit only. All
        random choices follow from it, the method with its parameters, and the table. Only one of 2**64 or more is a
        secret: `Release.write` refuses smaller ones.
    accept
        What you have looked at and accept of what the leak check finds, each with a reason:
        ``[{"columns": ["office"], "reason": "offices are public"}]``.
    missing_cells
        ``"keep"``: where cells are missing is up to the method, and many keep it as it is, which can be a fingerprint;
        ``"permute"``: those of the columns that it protects are then moved to records drawn at random.
    progress
        Called from time to time with the fraction of the masking that is done.

    Raises
    ------
    SchemaError
        If the role of a column is undecided.
    PromiseError
        If something that the method promises does not hold on the table about to be released, if the method changed
        nothing in the columns that it should protect, or if a column lets out what was protected or removed. Nothing is
        returned then.
    """
    schema.check_decided()
    data = Microdata.of(frame, schema)
    method = with_missing_cells(method, data, missing_cells)
    terms = Terms(accepted_entries(accept, schema))
    release = protect_on(Memory().telling(progress), data, method, seed=seed, terms=terms)
    frames = release.copies or (release.data,)  # made once
    return release.found([release.check(Frame(copy), number) for number, copy in enumerate(frames)])


@one_thread()
def protect_on(
    engine: Engine, data: Microdata, method: Method, *, seed: int | None = None, terms: Terms | None = None
) -> Release:
    """Mask a coded table, wherever it lies. Nothing is checked yet: see `Release.check`."""
    data.schema.check_decided()
    seed = new_seed() if seed is None else check_integer("seed", seed, at_least=0)
    started = time.time()
    method.check_parameters()
    draws = draws_of(engine, data, method, seed)
    terms = terms or Terms()
    promises = method.promises_on(engine, data)
    masked = rounded(engine, data, method.mask_on(engine, data, generator(draws, "masking")), method, promises)
    audit = {
        "method": method.name,
        "parameters": method.parameters(),
        "seed": seed,
        "draws": draws,
        "accept": [one.to_dict() for one in terms.accept],
        "versions": {"taxomask": __version__, "python": platform.python_version(), "numpy": np.__version__},
        "sha256": {
            "original": fingerprint(engine, data.frame),
            "released": [_fingerprint_of(engine, copy) for copy in masked.copies or (masked.data,)],
        },
        "started": started,
        "seconds": time.time() - started,
    }
    following = [(masked.data, name) for name in masked.data.following]
    notes = (
        *(str(note) for note in data.notes),
        *masked.notes,
        *_untouched_notes(data, masked.data),
        *_index_notes(data.frame.native),
        *(note for note in engine.map(_following_note, following, "following") if note),
    )
    return Release(method, data, (), notes, audit, masked, promises, engine, terms)


def fingerprint(engine: Engine, frame: Frame) -> str:
    """A hash of the values of a table, of any type."""
    if frame.n <= engine.chunk:
        return _combined(frame.names, engine.map(_hash, [(frame, name) for name in frame.names], "hashing"))
    parts = engine.cut([frame])
    hashes = engine.map(_hash_chunk, [(*part, name) for name in frame.names for part in parts], "hashing")
    return _combined(frame.names, hashes)


def _fingerprint_of(engine: Engine, data: Microdata) -> str:
    """The same of a table as it is released."""
    frame = data.seen()
    if not engine.in_parts(data.n):
        return fingerprint(engine, frame)
    hashes: list[bytes] = []
    for name in frame.names:
        if data.in_parts(name):
            parts = [data.part(start, stop, [name]) for start, stop in engine.parts(data.n)]
            found = engine.map(_hash_part, [(part, name) for part in parts], "hashing")
            dtype = widest(kind for kind, _ in found)
            if dtype is not None:
                found = engine.map(_hash_part, [(part, name, dtype) for part in parts], "hashing")
            hashes += (one for _, one in found)
        else:
            hashes += engine.run(_hash_parts, frame, name, engine.parts(data.n), what="hashing")
    return _combined(frame.names, hashes)


def _combined(names: Sequence[str], hashes: Sequence[bytes]) -> str:
    """The hash of a table, given those of its columns, or of the chunks of each of them."""
    digest, several = hashlib.sha256(), len(hashes) // max(len(names), 1)
    for place, name in enumerate(names):
        column = hashes[place * several : (place + 1) * several]
        digest.update(repr(name).encode() + (column[0] if several == 1 else hashlib.sha256(b"".join(column)).digest()))
    return digest.hexdigest()


def _hash(frame: Frame, name: str) -> bytes:
    """The hash of a column."""
    array = frame.arrow(name)
    if array is None:  # objects without a type in pyarrow
        return hashlib.sha256(repr(frame.objects(name)).encode()).digest()
    return _hash_array(array)


def _hash_array(array: Any) -> bytes:
    import pyarrow as pa

    column = pa.table({"": array}).combine_chunks()
    sink = _Sink()
    with pa.ipc.new_stream(pa.PythonFile(sink, "w"), column.schema) as stream:
        stream.write_table(column)
    return sink.digest.digest()


def _hash_chunk(frame: Frame, name: str) -> bytes:
    """The hash of a chunk of a column; rows are taken anew, as the bits around a part are not those of a whole."""
    import pyarrow as pa

    array = frame.arrow(name)
    return _hash(frame, name) if array is None else _hash_array(take(array, pa.array(np.arange(len(array)))))


def _hash_part(data: Microdata, name: str, dtype: Any = None) -> tuple[Any, bytes]:
    """The type and the hash of a chunk of a column as it is released."""
    frame = Frame(data.to_column(name, dtype))
    return frame.arrow_type(name), _hash_chunk(frame, name)


def _hash_parts(frame: Frame, name: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
    """The hashes of the chunks of a column that is made as a whole."""
    import pyarrow as pa

    whole = Frame(pa.table({name: frame.arrow(name)}))
    return [_hash_chunk(whole.part(start, stop), name) for start, stop in parts]


class _Sink(io.RawIOBase):
    """A file of which only the hash is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.digest.update(content)
        return len(content)


def _untouched_notes(data: Microdata, masked: Microdata) -> tuple[str, ...]:
    """A warning about quasi-identifiers that the method left as they are."""
    changed = masked.changed_from(data)
    same = [name for name in data.schema.quasi_identifiers if name not in changed]
    if not same:
        return ()
    return (f"Released as they are, though quasi-identifiers: {', '.join(same)}. No promise covers them.",)


def _index_notes(table: Any) -> tuple[str, ...]:
    """What becomes of an index of pandas that says more than the number of a row."""
    index = getattr(table, "index", None)
    names = [name for name in getattr(index, "names", ()) if name is not None]
    if index is None or callable(index) or (type(index).__name__ == "RangeIndex" and not names):
        return ()
    called = f" ({', '.join(map(str, names))})" if names else ""
    return (
        f"The index of the table{called} is left out, and rows are numbered: an index can name people. To release it, "
        "make it a column first (frame.reset_index()) and describe it.",
    )


def _following_note(data: Microdata, name: str) -> str:
    """What became of a column that follows another one, if not every cell found the value that belongs there."""
    found, leader = data.followed(name), data.schema[name].follows
    said = []
    if found.labelled:
        said.append(f"{found.labelled:,} cells hold what the taxonomy says")
    if found.emptied:
        said.append(f"{found.emptied:,} cells hold nothing")
    notes = [f"{name} follows {leader}: {', '.join(said)}, as the released {leader} does not occur."] if said else []
    if found.single:
        notes.append(
            f"{name} follows {leader}: {found.single:,} of its released values stood in one record only, of several "
            f"with that {leader}, and may speak of that one."
        )
    return " ".join(notes)
