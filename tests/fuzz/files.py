"""Damaged files of every format: reading one gives what is in it, or says what is wrong with it and what to do.

Whole files are changed in a few places, the same way for the same seed, and read as a user would read them. Anything
but success or an error of ours with a hint is a fault, and so is an input that takes more than ten seconds. What takes
long, or hangs, is tried once more: machines are slow at times.

python tests/fuzz/files.py --seconds 60 --seed 1 [--inputs 1000] [--processes 2] [--only sav --only owl] [--keep folder]
"""

from __future__ import annotations

import argparse
import datetime as dt
import faulthandler
import gzip
import io
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyreadstat
import yaml

from taxomask.errors import TaxomaskError
from taxomask.microdata import infer
from taxomask.microdata.files import open_table, write_table
from taxomask.plan import Plan
from taxomask.taxonomy import Taxonomy

DATA = Path(__file__).parents[1]
SLOW = 10.0  # seconds that nobody should wait for a file of some kilobytes
Bytes = Callable[[random.Random, bytes], bytes]

# --------------------------------------------------------------------------------------- changes

NUMBERS = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0x7FFFFFFFFFFFFFFF)
PIECES = (b"\0", b'"' * 3000, b"\xef\xbb\xbf", b"\xff\xfe", b"\n" * 40, b",", b";", b"\r", b"\t", b"\xff", b"'", b"=",
          b"9" * 400, b"1e999", b"-", b"nan", b"<", b"&", b"]", b"{", b"\xed\xa0\x80", b"\\ud800", b"\\0", b": ",
          b"[" * 50, "é".encode("cp1252"), "λ".encode(), b"A" * 70_000,
          b" " * 30_000, b"9" * 30_000 + b"x", b"{a=" * 10_000, b"}" * 3000, b"\\\n" * 3000)  # fmt: skip


def place(rng: random.Random, data: bytes, longest: int = 64) -> tuple[int, int]:
    """A stretch of the file; files say most about themselves at both ends."""
    span = len(data) if rng.random() < 0.5 else min(len(data), 512)
    start = rng.randrange(span + 1)
    start = len(data) - start if rng.random() < 0.3 else start
    return start, min(len(data), start + rng.randint(1, longest))


def flip(rng: random.Random, data: bytes) -> bytes:
    start, _ = place(rng, data)
    changed = data[start : start + 1] and bytes([data[start] ^ (1 << rng.randrange(8))])
    return data[:start] + changed + data[start + 1 :]


def set_byte(rng: random.Random, data: bytes) -> bytes:
    start, _ = place(rng, data)
    return data[:start] + bytes([rng.choice([0, 0x7F, 0x80, 0xFF, rng.randrange(256)])]) + data[start + 1 :]


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def drop(rng: random.Random, data: bytes) -> bytes:
    start, end = place(rng, data)
    return data[:start] + data[end:]


def double(rng: random.Random, data: bytes) -> bytes:
    start, end = place(rng, data, 512)
    return data[:end] + data[start:end] * rng.choice([1, 1, 2, 20]) + data[end:]


def insert(rng: random.Random, data: bytes) -> bytes:
    start, _ = place(rng, data)
    return data[:start] + rng.choice(PIECES) + data[start:]


def swap(rng: random.Random, data: bytes) -> bytes:
    (a, b), (c, d) = sorted([place(rng, data), place(rng, data)])
    return data if b > c else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def number(rng: random.Random, data: bytes) -> bytes:
    """Another length, count or offset."""
    start, width = place(rng, data)[0], rng.choice([2, 4, 8])
    order = rng.choice(["little", "big"])
    before = int.from_bytes(data[start : start + width], order)  # type: ignore[arg-type]
    after = rng.choice([*NUMBERS, before + 1, before - 1, before * 2, before // 2]) % (1 << 8 * width)
    return data[:start] + after.to_bytes(width, order) + data[start + width :]  # type: ignore[arg-type]


CHANGES: tuple[Bytes, ...] = (flip, set_byte, cut, drop, double, insert, swap, number)


def changed(rng: random.Random, data: bytes) -> bytes:
    """A file with one change, or with a few."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        data = rng.choice(CHANGES)(rng, data)
    return data


def in_gzip(rng: random.Random, data: bytes) -> bytes:
    return gzip.compress(changed(rng, gzip.decompress(data)), 1, mtime=0)


def in_zip(rng: random.Random, data: bytes) -> bytes:
    """A workbook of which one part is changed, and packed anew."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = rng.choice([*names, "xl/worksheets/sheet1.xml"])
        for name in names:
            content = old.read(name)
            new.writestr(zipfile.ZipInfo(name), changed(rng, content) if name == chosen else content)
    return packed.getvalue()


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 10**30, 0.5, float("nan"), float("inf"), dt.date(2020, 1, 1)),
    *("", "x", "\0", "a" * 5000, "../x", "://", "zeros:²", "\ud800", b"x"),
    *([], ["x"], [[["x"]]], [None], {}, {"x": 3}, {"name": ["x"]}),
)


def in_yaml(rng: random.Random, data: bytes) -> bytes:
    """A plan with odd values in some places."""
    content = deepcopy(_loaded(data))
    for _ in range(rng.choice([1, 1, 2, 4])):
        node: Any = content
        while True:
            key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.2:
                break
            node = node[key]
        node[key] = rng.choice(ODD)
    try:
        return yaml.dump(content, Dumper=_FAST).encode()
    except UnicodeEncodeError:
        return yaml.dump(content).encode()


_FAST: Any = getattr(yaml, "CDumper", yaml.Dumper)  # ten times as fast, but takes no half characters
_loaded = cache(yaml.safe_load)


# --------------------------------------------------------------------------------------- whole files

TABLE = pa.table(
    {
        "id": [f"person {i}" for i in range(24)],
        "age": [20 + i % 7 if i % 5 else None for i in range(24)],
        "size": [i / 4 for i in range(24)],
        "dx": [("0380", "25001", "4019")[i % 3] for i in range(24)],
        "sex": pa.array([("f", "m")[i % 2] for i in range(24)]),
        "day": pa.array([18_000 + i for i in range(24)], pa.date32()),
    }
)
EDGES = "code,parent,label\nA,,all\nA1,A,first\nA2,A,second\nA11,A1,first of first\nA12,A1,second of first\n"
LEVELS = "Oslo;Norway;Europe;*\nBergen;Norway;Europe;*\nRome;Italy;Europe;*\nLima;Peru;America;*\n"
CODES = "code;title\n01;Crops\n01.1;Annual crops\n01.11;Cereals\n01.12;Rice\n02;Forestry\n02.1;Silviculture\n"
OBO = "format-version: 1.2\n\n" + "".join(
    f"[Term]\nid: X:{i}\nname: term {i}\nalt_id: Y:{i}\n" + (f"is_a: X:{i // 2} ! above\n" if i > 1 else "") + "\n"
    for i in range(1, 9)
)
HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#" '
HEAD += 'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">'
OWL = HEAD + "".join(
    f'<owl:Class rdf:about="http://x.org/a#C{i}"><rdfs:label xml:lang="en">class {i}</rdfs:label>'
    + (f'<rdfs:subClassOf rdf:resource="http://x.org/a#C{i // 2}"/>' if i > 1 else "")
    + "</owl:Class>"
    for i in range(1, 90)
)
SKOS = HEAD + "\n".join(
    f'<skos:Concept rdf:about="http://x.org/a/{i}"><skos:prefLabel xml:lang="en">concept {i}</skos:prefLabel>\n'
    + (f'<skos:broader rdf:resource="http://x.org/a/{i // 2}"/>' if i > 1 else "")
    + "</skos:Concept>"
    for i in range(1, 20)
)
TURTLE = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix a: <http://x.org/a/> .\n" + "".join(
    f'a:{i} a skos:Concept ; skos:prefLabel "concept {i}"@en'
    + (f" ; skos:broader a:{i // 2}" if i > 1 else "")
    + " .\n"
    for i in range(1, 20)
)
PLAN = """\
data: table.csv
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous, missing: ["", 99], weight: 2, decimals: 1}
  - {name: grade, role: quasi_identifier, kind: ordinal, order: [low, mid, high]}
  - name: dx
    role: confidential
    kind: taxonomic
    taxonomy: [icd9cm, {taxonomy: icd9cm, weight: 0.5}]
    normalize: ["zeros:3", dots]
    match: code
    unmapped: error
  - {name: remark, role: other, note: "as it is"}
method: {name: microaggregation, k: 3, algorithm: refined, steps: 20}
compare: [{name: microaggregation, vary: {k: [3, 5]}}, {name: rank_swapping, p: 5}, [{name: noise, amount: 0.1}]]
seed: 7
limits: {risk: 0.1, loss: 0.5}
output: {path: out.csv, report: report.html, keep_order: false}
engine: {name: local, workers: 2, scratch: here}
"""


def labelled(path: Path) -> bytes:
    """An SPSS file with all that such a file says about its columns."""
    pyreadstat.write_sav(
        polars.from_arrow(TABLE.select(["size", "dx", "age", "id"])),
        path,
        file_label="Stays",
        note="of a year",
        column_labels={"size": "Size of the household"},
        variable_value_labels={"size": {1: "one", 5: "five"}, "dx": {"4019": "hypertension"}},
        missing_ranges={"size": [5], "age": [{"lo": 24, "hi": 30}], "dx": ["4019"]},
        row_compress=False,
    )
    return path.read_bytes()


def crashing(path: Path) -> bytes:
    """The same file with one wrong byte, that of the width of its first column: pyreadstat crashes."""
    content = bytearray(labelled(path))
    content[180] = 255
    path.write_bytes(content)
    return bytes(content)


@dataclass(frozen=True)
class Target:
    """Files of one format: a whole one, how it is changed, and who reads it."""

    name: str
    whole: bytes
    change: Bytes
    read: Callable[[Path], None]
    file: str  # how the changed one is called


def read_table(path: Path) -> None:
    source = open_table(path)
    table = source.read()
    infer(table)
    _ = source.titles, source.labels, source.missing


def read_text(path: Path) -> None:
    source = open_table(path, text=True)
    infer(source.batches(7).read_all())
    open_table(path).read()


def read_database(path: Path) -> None:
    read_table(f"sqlite:///{path}?table=a")  # type: ignore[arg-type]


def read_taxonomy(path: Path) -> None:
    Taxonomy.read(path)


def read_release(path: Path) -> None:
    Taxonomy.read(path.parent)


def read_plan(path: Path) -> None:
    Plan.read(path)


def targets(folder: Path) -> Iterator[Target]:
    """Every format; ``folder`` is for files on their way."""

    def written(name: str, table: Any = TABLE) -> bytes:
        write_table(table, folder / name)
        return (folder / name).read_bytes()

    yield Target("csv", written("a.csv"), changed, read_text, "a.csv")
    yield Target("tsv", written("a.tsv"), changed, read_text, "a.tsv")
    packed = written("a.csv.gz")
    yield Target("gz", packed, changed, read_text, "a.csv.gz")
    yield Target("gz inside", packed, in_gzip, read_text, "a.csv.gz")
    book = written("a.xlsx")
    yield Target("xlsx", book, changed, read_table, "a.xlsx")
    yield Target("xlsx inside", book, in_zip, read_table, "a.xlsx")
    coded = TABLE.set_column(4, "sex", TABLE["sex"].dictionary_encode())
    for suffix in ("parquet", "arrow", "arrows"):
        yield Target(suffix, written(f"a.{suffix}", coded), changed, read_table, f"a.{suffix}")
    small = io.BytesIO()
    with pa.ipc.new_file(small, coded.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(coded)
    yield Target("feather", small.getvalue(), changed, read_table, "a.feather")
    yield Target("sav", labelled(folder / "a.sav"), changed, read_table, "a.sav")
    for suffix in ("zsav", "dta", "xpt"):
        yield Target(suffix, written(f"a.{suffix}"), changed, read_table, f"a.{suffix}")
    sas = DATA / "microdata" / "formats" / "data" / "discharges.sas7bdat"
    yield Target("sas7bdat", sas.read_bytes(), changed, read_table, "a.sas7bdat")
    with sqlite3.connect(folder / "a.db") as base:
        base.execute("CREATE TABLE a (age INTEGER, size REAL, dx TEXT, more BLOB)")
        base.executemany("INSERT INTO a VALUES (?, ?, ?, ?)", [(i, i / 4, f"0{i}", b"x") for i in range(20)])
    base.close()
    yield Target("sqlite", (folder / "a.db").read_bytes(), changed, read_database, "a.db")
    trees = {"edges": EDGES, "levels": LEVELS, "prefix": CODES, "obo": OBO, "owl": f"{OWL}</rdf:RDF>"}
    trees |= {"skos": f"{SKOS}</rdf:RDF>", "turtle": TURTLE}
    for name, text in trees.items():
        yield Target(name, text.encode(), changed, read_taxonomy, f"tree.{name}")
    (folder / "release").mkdir()
    for one in (DATA / "data" / "rf2_sample").rglob("*.txt"):
        (folder / "release" / one.name).write_bytes(one.read_bytes())
    for kind in ("Concept", "Relationship", "Description", "Language"):
        one = next((folder / "release").glob(f"*{kind}*Snapshot*"))
        yield Target(f"rf2 {kind.lower()}", one.read_bytes(), changed, read_release, f"release/{one.name}")
    yield Target("plan", PLAN.encode(), changed, read_plan, "plan.yaml")
    yield Target("plan inside", PLAN.encode(), in_yaml, read_plan, "plan.yaml")


# --------------------------------------------------------------------------------------- trying them


def damaged(target: Target, seed: int, turn: int) -> bytes:
    """The input of a turn."""
    return target.change(random.Random(f"{seed} {target.name} {turn}"), target.whole)


def outcome(target: Target, content: bytes, folder: Path) -> str:
    """``read``, ``refused``, or what went wrong; what takes long is tried again, since machines are slow at times."""
    path = folder / target.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    try:
        found, seconds = attempt(target.read, path)
        if seconds > SLOW:
            found, seconds = attempt(target.read, path)
    finally:
        if target.file.startswith("release/"):
            path.write_bytes(target.whole)
    return found if seconds < SLOW else f"slow: {seconds:.0f} s"


def attempt(read: Callable[[Path], None], path: Path) -> tuple[str, float]:
    """What came of reading a file, and how long it took."""
    started = time.monotonic()
    try:
        read(path)
        found = "read"
    except TaxomaskError as error:
        found = "refused" if error.hint else f"no hint: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a library in Rust is not an Exception
        found = "".join(traceback.format_exception(error))
    return found, time.monotonic() - started


def work(seed: int, seconds: float, only: list[str], turns: range) -> None:
    """Try some turns of every target, and tell each before it begins and when it has ended."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        chosen = [one for one in targets(Path(name)) if not only or one.name in only]
        for turn in turns:
            for target in chosen:
                if time.monotonic() > end:
                    return
                print(json.dumps([target.name, turn, None]), flush=True)
                faulthandler.dump_traceback_later(6 * SLOW, exit=True)
                found = outcome(target, damaged(target, seed, turn), Path(name))
                faulthandler.cancel_dump_traceback_later()
                print(json.dumps([target.name, turn, found]), flush=True)


@dataclass(frozen=True)
class Given:
    """How long to try, and what."""

    seconds: float
    inputs: int  # of each format, at most
    seed: int
    processes: int
    only: list[str]
    keep: Path | None

    def tried(self, first: int) -> tuple[Counter[str], dict[tuple[str, int], str]]:
        """Try every so-many-th turn from the first on in a process, and in another one after a crash."""
        tried: Counter[str] = Counter()
        faults: dict[tuple[str, int], str] = {}
        again: set[int] = set()
        done: set[tuple[str, int]] = set()
        end, turn = time.monotonic() + self.seconds, first
        while turn < self.inputs and time.monotonic() < end:
            turns = [str(turn), str(self.inputs), str(self.processes)]
            seconds = ["--seconds", str(end - time.monotonic())]
            command = [sys.executable, __file__, "--seed", str(self.seed), *seconds, "--turns", *turns]
            command += [word for one in self.only for word in ("--only", one)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                name, found = "", None
                for line in process.stdout:
                    name, turn, found = json.loads(line)
                    if found is not None and (name, turn) not in done:
                        done.add((name, turn))
                        tried[name] += 1
                        tried[f"{name} {found}"] += found in ("read", "refused")
                        if found not in ("read", "refused"):
                            faults[name, turn] = found
                code = process.wait()
            if found is None and code == 1 and turn not in again:
                again.add(turn)
                continue
            if found is None:
                faults[name, turn] = f"the process ended with {code} (1 after a hang)"
            turn += self.processes
        return tried, faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inputs", type=int, default=10**9, help="of each format, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a format")
    parser.add_argument("--keep", type=Path, help="a folder for inputs that lead to faults")
    parser.add_argument("--turns", type=int, nargs=3, help=argparse.SUPPRESS)
    options = vars(parser.parse_args())
    turns = options.pop("turns")
    given = Given(**options)
    if turns is not None:
        work(given.seed, given.seconds, given.only, range(*turns))
        return
    tried: Counter[str] = Counter()
    faults: dict[tuple[str, int], str] = {}
    with ThreadPoolExecutor(given.processes) as lanes:
        for some, wrong in lanes.map(given.tried, range(given.processes)):
            tried += some
            faults |= wrong
    report(tried, faults, given)
    sys.exit(1 if faults else 0)


def report(tried: Counter[str], faults: dict[tuple[str, int], str], given: Given) -> None:
    with tempfile.TemporaryDirectory() as name:
        every = list(targets(Path(name)))
    total = 0
    for one in every:
        if tried[one.name]:
            read, refused = tried[f"{one.name} read"], tried[f"{one.name} refused"]
            wrong = sum(key[0] == one.name for key in faults)
            total += tried[one.name]
            print(
                f"{one.name:<18} {tried[one.name]:>8,} inputs {read:>8,} read {refused:>8,} refused {wrong:>5} faults"
            )
    print(f"{'all':<18} {total:>8,} inputs in {used_seconds():,.0f} CPU s")
    for (name, turn), found in faults.items():
        print(f"\n--- {name}, seed {given.seed}, turn {turn}: {found}")
        if given.keep is not None:
            given.keep.mkdir(exist_ok=True)
            target = next(one for one in every if one.name == name)
            file = f"{given.seed}-{turn}-{Path(target.file).name}"
            (given.keep / file).write_bytes(damaged(target, given.seed, turn))


def used_seconds() -> float:
    """The CPU seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
