"""What the page costs: CPU seconds of the server until the first answer, and a first look at 150,000 rows.

The rows are the shipped discharges, drawn with replacement (or the whole NHDS 2010 file, if its path is in the
environment variable NHDS). The first look is what the page shows after opening: preview, kinds, roles and statistics.

python benchmarks/web.py
"""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.csv as csv

from taxomask import examples
from taxomask.microdata import read_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from web.client import Server, running

ROWS = 150_000


def used(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def used_by_workers(server: Server) -> float:
    lists = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return sum(used(int(child)) for one in lists for child in one.read_text().split())


def table() -> bytes:
    if "NHDS" in os.environ:
        return Path(os.environ["NHDS"]).read_bytes()
    small = read_table(examples.path(), text=True)
    large = small.take(np.random.default_rng(0).integers(0, small.num_rows, ROWS))
    numbers = small.column_names.index("id")
    large = large.set_column(numbers, "id", [[str(i) for i in range(ROWS)]])
    sink = io.BytesIO()
    csv.write_csv(large, sink)
    return sink.getvalue()


def first_look(server: Server, content: bytes) -> None:
    name = "large.csv.gz" if content.startswith(b"\x1f\x8b") else "large.csv"
    started = time.perf_counter()
    identifier = server.upload(name, content)
    sent, before = time.perf_counter(), used_by_workers(server)
    found = server.get(f"/api/tables/{identifier}")
    done, after = time.perf_counter(), used_by_workers(server)
    print(f"{found['rows']:,} rows: uploaded in {sent - started:.2f} s")
    print(f"preview and statistics: {done - sent:.2f} s, {after - before:.2f} s CPU (at most 3)")


if __name__ == "__main__":
    with running(upload=1 << 30) as server:
        assert server.request("GET", "/")[0] == 200
        print(f"the first answer: {used(server.process.pid):.2f} s CPU after the start (at most 1)")
        server.get("/api/methods")  # the page asks for them while the file is chosen
        first_look(server, table())
