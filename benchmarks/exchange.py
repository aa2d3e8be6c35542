"""Rows put into another order: the exchange of taxomask against the shuffle of Dask's data frames, on two workers.

A folder of Parquet files of 9 columns (that of engines.py) and the place of each row, drawn at random, are given. Both
bring every column into the order of the places, on disk; Dask also without sorting what it has brought together. CPU
seconds are those of all processes; the memory is that of the largest worker. Both run twice, to see whether rows come
in the same order.

python benchmarks/exchange.py [5,000,000]
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from engines import show, watched, write
from taxomask.engines import DaskCluster, Engine, Files, Scratch
from taxomask.microdata.files import open_table

LIMIT = 3.0  # GB, of both workers together


def prepare(folder: Path, n: int) -> None:
    """The table, and its columns with the place of each row."""
    write(folder, n)
    places, at = np.random.default_rng(1).permutation(n), 0
    np.save(folder.with_suffix(".npy"), places)
    for file in sorted(folder.iterdir()):
        table = pq.read_table(file)
        table = table.append_column("place", pa.array(places[at : at + table.num_rows]))
        at += table.num_rows
        pq.write_table(table, file)


def digest(ids: Any) -> str:
    """Of the column that numbers the rows: the same only where rows come in the same order."""
    return hashlib.sha256(np.ascontiguousarray(ids.to_numpy())).hexdigest()[:12]


def read_chunk(where: str, name: str, start: int, stop: int) -> tuple[None, Any]:
    return None, open_table(where, trusted=True).read_rows([name], start, stop)


def ours(folder: Path) -> None:
    places = np.load(folder.with_suffix(".npy"))
    names = [name for name in open_table(folder, trusted=True).names if name != "place"]
    cuts = [(start, min(start + Engine.chunk, len(places))) for start in range(0, len(places), Engine.chunk)]
    with DaskCluster(workers=2) as workers, Scratch.temporary(folder.parent / "scratch") as scratch:
        engine = Files(workers, scratch)
        columns = []
        for name in names:
            items = [(str(folder), name, *cut) for cut in cuts]
            columns.append(engine.rearrange(read_chunk, items, places, "moving")[1])
        print(digest(columns[names.index("id")].column()))


def theirs(folder: Path, by: str) -> None:
    import dask.dataframe as frames
    from distributed import Client, LocalCluster

    n, out = len(np.load(folder.with_suffix(".npy"), mmap_mode="r")), folder.with_name("theirs")
    parts = -(-n // Engine.chunk)
    how: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1.5GB", "dashboard_address": None}
    with LocalCluster(**how) as cluster, Client(cluster):
        table = frames.read_parquet(str(folder))
        if by == "sorted":  # every partition is sorted by place afterwards
            divisions = [*range(0, n, Engine.chunk), n - 1]
            moved = table.set_index("place", divisions=divisions, shuffle_method="p2p")
        else:
            table["part"] = table["place"] // Engine.chunk
            moved = table.shuffle(on="part", npartitions=parts, shuffle_method="p2p")
        moved.to_parquet(str(out))
    files = sorted(out.glob("*.parquet"), key=lambda file: int(file.name.split(".")[1]))
    print(digest(pa.concat_tables(pq.read_table(file, columns=["id"]) for file in files)["id"]))
    shutil.rmtree(out)


def compare(n: int) -> None:
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where) / "table"
        prepare(folder, n)
        for who, how in (("taxomask", "ours"), ("Dask, sorted", "sorted"), ("Dask, as they come", "unsorted")):
            runs = [watched([sys.executable, __file__, how, str(folder)], limit=LIMIT) for _ in range(2)]
            same = "the same order twice" if len({run.digest for run in runs}) == 1 else "another order each time"
            best = min(runs, key=lambda run: run.cpu)
            show(f"{n:,} rows", who, best, f"{1e6 * best.cpu / n:.2f} CPU s per million rows; {same}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ours", where]:
            ours(Path(where))
        case ["sorted" | "unsorted" as by, where]:
            theirs(Path(where), by)
        case given:
            compare(int(given[0].replace(",", "")) if given else 5_000_000)
