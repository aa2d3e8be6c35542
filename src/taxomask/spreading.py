"""A table in a store masked by jobs on an engine, written, read back, verified and released as one data set."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .checks import check_integer
from .engines import Store, open_site
from .engines.stored import StoredSite, opened
from .errors import DataError, PlanError, PromiseError
from .leftovers import sweep, temporary_name
from .methods import Check, Method
from .methods.decimals import rounded
from .microdata.casting import take
from .microdata.files import MANIFEST, Folder, Source, is_address, open_table, write_table
from .microdata.frames import Frame
from .one_thread import one_thread
from .publishing import (
    Publication,
    as_written,
    audit_path,
    beside,
    check_free,
    file_sha256,
    flush,
    plain_type,
    put_in_place,
    row_order,
    temporary,
    without_empty_text,
)
from .release import (
    Release,
    changed_in,
    common_checks,
    stop_if_broken,
    unchanged_notes,
    untouched_notes,
    versions,
)

__all__ = ["is_folder", "protect_stored", "publish_stored"]

_BATCH = 65_536
PART = 16 * _BATCH  # records of each file of a released folder
_PART = "part"


@one_thread()
def protect_stored(site: StoredSite, method: Method, *, seed: int | None = None) -> Release:
    """Protect a table in a store; the same as `protect` of the table in memory, to the last bit.

    What the release is about to be is decoded and kept in the store, in its columns; it is checked when it was written.
    """
    seed = secrets.randbits(128) if seed is None else check_integer("seed", seed, at_least=0)
    started = time.time()
    data = site.data()
    promises = method.promises(data)
    masked = method.spread(site, data, np.random.default_rng(seed))
    if masked.copies or not masked.linked:
        raise PlanError(
            f"{method.name} makes several tables, or records of its own, which needs a table in memory.",
            hint="Write 'engine: memory' in the plan.",
        )
    masked = rounded(site, data, masked, method, promises)
    audit = {
        "method": method.name,
        "parameters": method.parameters(),
        "seed": seed,
        "versions": versions(),
        "started": started,
        "seconds": time.time() - started,
    }
    notes = (*(str(note) for note in data.notes), *masked.notes, *untouched_notes(data, masked.data))
    return Release(None, (), None, None, (), notes, audit, data, masked.data, masked, promises)


def is_folder(target: str) -> bool:
    """Whether a release goes to a folder of files: its name ends in a slash."""
    return not is_address(target) and target.endswith("/")


def publish_stored(
    site: StoredSite,
    release: Release,
    target: str,
    *,
    like: Source | None = None,
    plan: Mapping[str, Any] | None = None,
    note: Callable[[Release], str],
    force: bool = False,
    keep_order: bool = False,
    escape_cells: bool = True,
) -> tuple[Release, Publication]:
    """Write a release that lies in a store: as `publish`, and to a folder of files too.

    A folder is written under another name; its manifest comes last, and only then it gets its own name. So a run that
    fails leaves no folder that looks finished. Returns the release with its checks, and where it was written.
    """
    audit, public = audit_path(target), beside(target, ".note.md")
    if not force:
        check_free([target, str(audit), str(public)])
    _decode(site, release, keep_order=keep_order)
    with ExitStack() as stack:
        parts = {path: stack.enter_context(temporary(path)) for path in (audit, public)}
        written = _Written(site, release, like, escape_cells)
        if is_folder(target):
            folder = stack.enter_context(_temporary_folder(Path(target).absolute()))
            digests = written.to_folder(folder, "".join(Path(target).suffixes) or ".parquet")
        elif is_address(target):
            digests = written.to_database(target, force=force)
        else:
            parts[Path(target)] = stack.enter_context(temporary(Path(target)))
            digests = written.to_file(parts[Path(target)], Path(target).name)
        release = replace(release, promise=written.checks, notes=(*release.notes, *unchanged_notes(written.changed)))
        record = {
            **release.audit,
            "checks": [vars(check) for check in release.promise],
            "plan": plan,
            "notes": list(release.notes),
            "files": [target],
            "rows": "kept" if keep_order else "shuffled",
            "records": site.n,
            "linked": True,
            "file_sha256": digests,
        }
        parts[audit].write_text(json.dumps(record, indent=2, default=str), encoding="utf-8")
        parts[public].write_text(note(release), encoding="utf-8")
        for part in parts.values():
            flush(part)
        for path, part in parts.items():
            put_in_place(part, path, force=force)
        if is_folder(target):
            _put_folder(folder, Path(target), force=force)
    return release, Publication((target,), audit, public, release.promise)


# --------------------------------------------------------------------------------------- columns as they will be seen


def _decode(site: StoredSite, release: Release, *, keep_order: bool) -> None:
    """Keep every column as it will be released, in the order of the release."""
    masked, prefix = release.released, site.prefix("decoded")
    if not keep_order:
        site.map(_order, [(release.audit["seed"], site.n)], "shuffling rows")
    names = masked.seen().names
    site.store.put("columns", (names, keep_order))
    jobs = [site.dump((masked, name, place, keep_order), prefix) for place, name in enumerate(names)]
    site.map(_decode_column, jobs, "decoding")


def _order(store: Store, item: tuple[int, int]) -> None:
    whole = row_order(*item)
    order = whole.astype(np.int32) if len(whole) < 2**31 else whole  # half the memory of every job that needs it
    del whole
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    for key, array in (("order", order), ("places", places)):
        store.put_array(key, array)


def _decode_column(store: Store, dumped: bytes) -> None:
    import pyarrow as pa

    data, name, place, keep_order = open_site(store).load(dumped)
    table = data.to_column(name)
    field, column = table.schema.field(0), _lean(table.column(0))
    del table
    if not keep_order:
        column = take(column, pa.array(store.array("order")))
    decoded = pa.table({name: column}).unify_dictionaries()
    with store.writing(f"released/{place}") as part, pa.ipc.new_file(str(part), decoded.schema) as writer:
        for start in range(0, len(column), _BATCH):  # cut at the same rows in all columns, however they came
            writer.write_table(decoded.slice(start, _BATCH).combine_chunks())
    store.put(f"field/{place}", field)


def _lean(column: Any) -> Any:
    """A column of text as codes and categories, if these are few: rows change places several times faster."""
    import pyarrow as pa

    if not pa.types.is_string(plain_type(column.type)) or pa.types.is_dictionary(column.type):
        return column
    coded = column.dictionary_encode().unify_dictionaries()
    few = not coded.num_chunks or len(coded.chunk(0).dictionary) < len(coded) / 4
    return coded if few else column


@contextmanager
def _column(store: Store, place: int) -> Iterator[Any]:
    """A released column, mapped into memory."""
    import pyarrow as pa

    with pa.memory_map(str(store.sealed(f"released/{place}"))) as file:
        yield pa.ipc.open_file(file)


def _batches(store: Store, first: int, last: int) -> Any:
    """Some batches of the released table, as a reader."""
    import pyarrow as pa

    schema = pa.schema([store.get(f"field/{place}") for place in range(len(store.shared("columns")[0]))])

    def batches() -> Iterator[Any]:
        with ExitStack() as stack:
            columns = [stack.enter_context(_column(store, place)) for place in range(len(schema))]
            for number in range(first, min(last, columns[0].num_record_batches)):
                parts = (column.get_batch(number).column(0) for column in columns)
                arrays = [part.cast(field.type) for part, field in zip(parts, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


# --------------------------------------------------------------------------------------- files and tables


@dataclass
class _Written:
    """A release being written; ``checks`` are what was found when it was read back, ``changed`` the cells."""

    site: StoredSite
    release: Release
    like: Source | None
    escape_cells: bool
    checks: tuple[Check, ...] = ()
    changed: Mapping[str, int] = field(default_factory=dict)

    def to_folder(self, folder: Path, suffix: str) -> dict[str, str]:
        """Files of a part each, and the manifest at last; the hash of each file."""
        like = self.like.pieces[0] if isinstance(self.like, Folder) else self.like
        known = like is not None and not is_address(like.where)
        self.site.store.put("like", (str(Path(like.where).resolve()) if like and known else None, self.escape_cells))
        count = -(-self.site.n // PART)
        items = [(str(folder / f"part-{number:05}{suffix}"), number) for number in range(count)]
        digests = dict(self.site.map(_write_part, items, "writing"))
        self._verify(str(folder))
        files = [
            {"name": name, "bytes": (folder / name).stat().st_size, "sha256": digest}
            for name, digest in digests.items()
        ]
        manifest = folder / MANIFEST
        manifest.write_text(json.dumps({"records": self.site.n, "files": files}, indent=2), encoding="utf-8")
        flush(manifest)
        return digests

    def to_file(self, path: Path, name: str) -> dict[str, str]:
        """One file, whose name will be another; its hash."""
        store = self.site.store
        write_table(
            _batches(store, 0, self.site.n), path, name=name, like=self.like, force=True, safe_cells=self.escape_cells
        )
        self._verify(str(path))
        return {name: file_sha256(path)}

    def to_database(self, address: str, *, force: bool) -> dict[str, str]:
        """A table, checked before its transaction ends."""
        write_table(_batches(self.site.store, 0, self.site.n), address, like=self.like, force=force, check=self._copied)
        return {}

    def _copied(self, back: Source) -> None:
        """Workers do not see what a transaction has not ended with: they check a copy of it."""
        store = self.site.store
        with store.writing("back.parquet") as part:
            write_table(back.batches(), part, name="back.parquet")
        self._verify(str(store.path("back.parquet")))

    def _verify(self, where: str) -> None:
        """Compare what was read back with what was written, and check every promise on it."""
        site = self.site
        names, _ = site.store.get("columns")
        site.store.put("back", (str(Path(where).resolve()), self.escape_cells))
        site.map(_compare, list(names), "reading back")
        prefix, masked, promises = site.prefix("checks"), self.release._masked, self.release._promises
        replaced = masked.data.changed_from(self.release.original)
        self.changed = dict(zip(replaced, site.map(_changed, list(replaced), "comparing"), strict=True))
        dumped = [site.dump((masked, promises, self.changed, place), prefix) for place in range(-1, len(promises))]
        found = site.map(_check, dumped, "checking promises")
        self.checks = tuple(check for one in found for check in one)
        stop_if_broken(self.checks)


def _write_part(store: Store, item: tuple[str, int]) -> tuple[str, str]:
    where, number = item
    path, (like, escape_cells) = Path(where), store.shared("like")
    per_part = PART // _BATCH
    source = open_table(like) if like else None
    batches = _batches(store, number * per_part, (number + 1) * per_part)
    write_table(batches, path, like=source, force=True, safe_cells=escape_cells)
    flush(path)
    return path.name, file_sha256(path)


# --------------------------------------------------------------------------------------- verification


def _compare(store: Store, name: str) -> None:
    """Read a column back from disk, piece by piece; an error if it is not as written."""
    import pyarrow as pa

    place = store.shared("columns")[0].index(name)
    where, escaped = store.shared("back")
    kind = store.get(f"field/{place}").type
    texts = [name] if pa.types.is_string(plain_type(kind)) else []
    source = open_table(where, text=texts, safe_cells=escaped)
    with _column(store, place) as written:
        pieces = (written.get_batch(number) for number in range(written.num_record_batches))
        for ours, theirs in _aligned(pieces, source.batches(_BATCH, [name])):
            as_written(pa.table({name: ours.cast(kind)}), pa.table({name: theirs}))


def _aligned(first: Iterable[Any], second: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The single columns of two streams of batches, in pieces of equal length; both must end together."""
    a, b, left, right = iter(first), iter(second), None, None
    while True:
        left = left if left is not None and len(left) else _next(a)
        right = right if right is not None and len(right) else _next(b)
        if left is None or right is None:
            if left is not right:
                raise PromiseError(
                    "what was read back from disk has another number of rows than what was written.",
                    hint="Nothing was released. Check the disk, or choose another format.",
                )
            return
        length = min(len(left), len(right))
        yield left[:length], right[:length]
        left, right = left[length:], right[length:]


def _next(batches: Iterator[Any]) -> Any:
    """The column of the next batch that has rows; None at the end."""
    return next((batch.column(0) for batch in batches if batch.num_rows), None)


def _as_read(store: Store, name: str) -> Any:
    """A column as it was read back, in the order of the original: what `_compare` found to be the one in the store."""
    import pyarrow as pa

    names, keep_order = store.shared("columns")
    with _column(store, names.index(name)) as written:
        column = written.read_all().column(0)
        if not keep_order:
            column = take(column, pa.array(store.array("places")))
        return pa.table({name: without_empty_text(column)})


def _changed(store: Store, name: str) -> int:
    """How many cells of a column changed."""
    site = opened(store)
    return changed_in(site.data(), _read_back(store, site.n), name)


def _check(store: Store, dumped: bytes) -> tuple[Check, ...]:
    """One promise of the method, by its place, or (-1) what every release must be."""
    site = opened(store)
    masked, promises, changed, place = site.load(dumped)
    data, frame = site.data(), _read_back(store, site.n)
    if place >= 0:
        return (promises[place].check(data, frame, masked),)
    return common_checks(data, frame, masked, promises, changed)


def _read_back(store: Store, n: int) -> Frame:
    names, _ = store.shared("columns")
    return Frame.lazy(names, n, lambda name: _as_read(store, name))


# --------------------------------------------------------------------------------------- folders


@contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    """A folder beside a path that only its owner can read; gone in the end if it was not put in place."""
    sweep(path, _PART)
    folder = temporary_name(path, _PART)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}.", hint="Check the folder above it.") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_folder(folder: Path, path: Path, *, force: bool) -> None:
    """Give a finished folder its name; one that is overwritten is moved out of the way first."""
    old = temporary_name(path, _PART)
    if path.exists():
        if not force:
            raise DataError(f"{path} exists already.", hint="Choose another name, or overwrite it with --force.")
        path.rename(old)
    folder.rename(path)
    shutil.rmtree(old, ignore_errors=True)
