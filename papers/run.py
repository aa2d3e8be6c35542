"""All pages, made in two processes and written to docs/papers."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from papers.harness import PAGES, Page
from papers.index import index, timings

MODULES = ("p0", "p1", "p2", "p3", "p4", "beyond", "ru_map", "scaling")
LONGEST_FIRST = ("beyond", "ru_map", "scaling", "p0", "p3", "p1", "p2", "p4")


def make(module: str) -> Page:
    page: Page = importlib.import_module(f"papers.{module}").page()
    return page


def main(chosen: list[str]) -> None:
    """Make all pages, or the chosen ones (the index and the timings then stay as they are)."""
    start = time.monotonic()
    unknown = set(chosen) - set(MODULES)
    if unknown:
        sys.exit(f"No such page: {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}.")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # one core for each of the two processes; sums in one order
    pages: dict[str, Page] = {}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(make, module): module for module in LONGEST_FIRST if module in (chosen or MODULES)}
        for done in as_completed(running):
            module = running[done]
            pages[module] = done.result()
            print(f"{module} done, {time.monotonic() - start:.0f} s after the start", flush=True)
    pages = {module: pages[module] for module in MODULES if module in pages}
    if not chosen:
        timings(pages)
    for page in pages.values():
        page.write()
    path = PAGES / "keys.json"
    keys = json.loads(path.read_text(encoding="utf-8")) if chosen and path.exists() else {}
    keys |= {module: {name: _rounded(value) for name, value in page.keys.items()} for module, page in pages.items()}
    ordered = {module: keys[module] for module in MODULES if keys.get(module)}
    path.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if not chosen:
        (PAGES / "README.md").write_text(index(pages), encoding="utf-8")
    print(f"written to {PAGES.relative_to(PAGES.parents[1])} in {time.monotonic() - start:.0f} s")


def _rounded(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(f"{value:.6g}")
