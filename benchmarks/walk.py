"""The walk of `taxomask protect --plan … --report …` through the house: functions called, and kinds of objects.

The shipped discharges are protected in this process twice, and every call of the second run is noted: what happens when
modules are imported is no part of the walk. A function is counted once however often it is called; a kind of object is
a class of taxomask of which a function was given an instance or gave one back.

python benchmarks/walk.py [memory local] [--list]
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import taxomask
from taxomask import examples
from taxomask.cli import main

HERE = Path(taxomask.__file__).parent
PLAN = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: quasi_identifier, kind: nominal}
  - {name: n_beds, role: quasi_identifier, kind: ordinal, order: [6-99, 100-199, 200-299, 300-499, 500+]}
  - {name: care_days, role: confidential, kind: continuous}
  - {name: dx01, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
method: {name: microaggregation, k: 5}
seed: 18446744073709551619
"""


class Walk:
    """Notes functions of taxomask that are called, and the kinds of objects that they take and give."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.kinds: set[str] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(HERE)):
            return
        if code.co_name not in ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"):
            self.functions.add((str(Path(code.co_filename).relative_to(HERE)), code.co_qualname))
            met = [argument] if event == "return" else list(frame.f_locals.values())
            for one in met:
                kind = type(one)
                if kind.__module__.startswith("taxomask."):
                    self.kinds.add(f"{kind.__module__}.{kind.__qualname__}")

    def follow(self, arguments: list[str]) -> None:
        """Run a command while everything is noted, in threads as well."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            command(arguments)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def command(arguments: list[str]) -> None:
    try:
        main(arguments)
    except SystemExit as end:
        if end.code:
            raise


def walk(engine: str, listed: bool) -> None:
    seen = Walk()
    for run in (command, seen.follow):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "plan.yaml").write_text(PLAN)
            where = ["--plan", f"{folder}/plan.yaml", str(examples.path()), "-o", f"{folder}/out.csv"]
            run(["protect", *where, "--report", f"{folder}/report.html", "--engine", engine, "--quiet"])
    rooms = Counter(file.split("/")[0] for file, _ in seen.functions)
    files = len({file for file, _ in seen.functions})
    print(f"{engine}: {len(seen.functions)} functions in {files} files, {len(seen.kinds)} kinds of objects")
    print("  " + ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
    if listed:
        print("\n".join(f"  {file}: {function}" for file, function in sorted(seen.functions)))
    print("  kinds: " + ", ".join(sorted(kind.rpartition(".")[2] for kind in seen.kinds)))


if __name__ == "__main__":
    chosen = [one for one in sys.argv[1:] if one != "--list"]
    for where in chosen or ["memory", "local"]:
        walk(where, "--list" in sys.argv)
