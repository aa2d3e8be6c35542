"""Two checkouts beside each other: CPU seconds of the same jobs, runs alternating, the best of each, and their ratio.

    python benchmarks/before_after.py BEFORE AFTER [--rounds 5] [case …]

BEFORE and AFTER are folders with a checkout each. Every job is that of the checkout's own benchmark file, in a process
of its own on one thread; a first round, which may compile kernels, does not count. A job with several figures has a
line for each. The last line is the geometric mean of the ratios, and the largest.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

# What a job is: a case of a benchmark file, or a few lines that say what `work` is.
CASES = {
    "taxonomy.py": [
        "load icd9cm",
        "marginality tree 300,000 ancestors",
        "marginality DAG 15,000 wu_palmer",
        "marginality, column of 1,000,000",
        "distance covariance 500 × 500",
    ],
    "formats.py": ["whole .csv 100,000", "whole .parquet 100,000"],
    "shuffling.py": ["shuffling 1M x 6 (must 0.6)", "shuffling 1M x 6, mixed", "reverse 1M concepts (must 0.5)"],
    "swapping.py": ["2 open 1M", "2 paper 1M", "3 paper 100k x 2", "3 open 100k x 2"],
    "mechanisms.py": ["noise", "pram, semantic", "recoding", "rounding", "top and bottom coding"],
    "refinement.py": ["Census k=5", "100,000 x 4 k=5"],
    "utility.py": ["overall loss", "tables of counts", "propensity", "distance correlation, number-concept"],
    "measures.py": ["evaluate"],
    "protect.py": ["100,000"],
}
_MDAV = "from microaggregation import space\nfrom taxomask.partition import mdav\ntable = space({!r}, {}, {})\n"
_LINKS = (
    "from linkage import masked, space\nfrom taxomask.partition.nearest import Neighbours\n"
    "table = space({!r}, {}, 4)\nqueries = masked(table)\nwork = lambda: Neighbours(table).nearest(queries)"
)
LINES = {
    "mdav numeric 143,472 x 4": _MDAV.format("numeric", 143_472, 4) + "work = lambda: mdav(table, 5)",
    "mdav mixed 30,000": _MDAV.format("mixed", 30_000, 4) + "work = lambda: mdav(table, 5)",
    "linkage numeric 143,472": _LINKS.format("numeric", 143_472),
    "linkage mixed 30,000": _LINKS.format("mixed", 30_000),
    "blocks numeric 200,000": _MDAV.format("numeric", 200_000, 3)
    + "from blocks import blocked\nwork = lambda: blocked(table, 10_000)",
    "imputation 2,000": "import numpy as np\nimport taxomask as tm\nfrom imputation import SMALL, read, schema\n"
    "whole = read(SMALL, ['age_years', 'care_days']).slice(0, 2000)\n"
    "data = tm.Microdata.from_frame(whole, schema(whole))\n"
    "method = tm.Imputation(attributes=whole.column_names, given=[])\n"
    "work = lambda: method.mask(data, np.random.default_rng(1))",
}
_TIMED = "\nimport json\nfrom measuring import best\nwork()\nprint(json.dumps({'CPU s': best(work, 3)}))"
_SECONDS = re.compile(r"(^|\s)s(\s|$)|^(first|best|report)$")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def measured(checkout: Path, file: str, case: str) -> dict[str, float]:
    """The figures of a job that are seconds; none if this checkout cannot do it."""
    arguments = [file, "--case", case] if file else ["-c", LINES[case] + _TIMED]
    path = os.pathsep.join([str(checkout / "src"), str(checkout / "benchmarks")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout / "benchmarks",
        env=os.environ | _ONE_THREAD | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"{checkout.name}, {case}: {(done.stderr.splitlines() or ['?'])[-1]}", file=sys.stderr)
        return {}
    answer = json.loads(done.stdout.splitlines()[-1])
    return {key: value for key, value in answer.items() if isinstance(value, float) and _SECONDS.search(key)}


def compared(before: Path, after: Path, file: str, case: str, rounds: int) -> dict[str, tuple[float, float]]:
    """The best figures of both checkouts."""
    found: dict[Path, list[dict[str, float]]] = {before: [], after: []}
    for turn in range(rounds + 1):
        for checkout in (before, after) if turn % 2 else (after, before):
            found[checkout].append(measured(checkout, file, case))
    counted = [some[1:] for some in found.values()]
    least = [{key: min(one[key] for one in some if key in one) for key in some[-1]} for some in counted if some[-1]]
    return {key: (least[0][key], least[1][key]) for key in least[0] if key in least[1]} if len(least) == 2 else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_intermixed_args()
    before, after = given.before.resolve(), given.after.resolve()
    jobs = [*((file, case) for file, some in CASES.items() for case in some), *(("", case) for case in LINES)]
    ratios = []
    for file, case in jobs:
        if given.cases and case not in given.cases:
            continue
        figures = compared(before, after, file, case, given.rounds)
        for key, (old, new) in figures.items():
            ratios.append(new / old)
            print(f"{file or 'lines':<16}{case:<40}{key:<18}{old:>9.3f}{new:>9.3f}{new / old:>7.2f}", flush=True)
        if not figures:
            print(f"{file or 'lines':<16}{case:<40}not in both", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of {len(ratios)} ratios {mean:.3f}, the largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
