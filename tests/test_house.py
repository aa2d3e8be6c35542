"""Data flows one way: a module imports only from those above it in the list of CONTRIBUTING, or beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[1]
SOURCE = HERE / "src" / "taxomask"
ENTRANCES = ("__init__", "__main__")  # which name what is inside


def stairs() -> dict[str, int]:
    """The step on which each module stands."""
    text = (HERE / "CONTRIBUTING.md").read_text()
    table = text.partition("| module | what it knows |\n|---|---|\n")[2].partition("\n\n")[0]
    steps = [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in table.splitlines()]
    return {name.rstrip("/").removesuffix(".py"): place for place, names in enumerate(steps) for name in names}


def rooms() -> set[str]:
    return {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def imports(file: Path) -> Iterator[str]:
    """The modules of the first level that a file imports: at once, late, or to name types. There are no exceptions."""
    folder = file.relative_to(SOURCE).parts[:-1]
    for one in ast.walk(ast.parse(file.read_text())):
        if isinstance(one, ast.ImportFrom) and one.level:
            inside = [*folder[: len(folder) - one.level + 1], *(one.module.split(".") if one.module else ())]
            yield from inside[:1] or (alias.name for alias in one.names)
        elif isinstance(one, ast.ImportFrom | ast.Import):
            named = [one.module or ""] if isinstance(one, ast.ImportFrom) else [alias.name for alias in one.names]
            yield from (name.split(".")[1] for name in named if name.startswith("taxomask."))


def test_every_module_has_its_step() -> None:
    assert set(stairs()) == rooms() - set(ENTRANCES)


def test_nobody_climbs_up() -> None:
    steps = stairs()
    wrong = [
        f"{file.relative_to(SOURCE)} imports {name}"
        for file in sorted(SOURCE.rglob("*.py"))
        if (own := file.relative_to(SOURCE).parts[0].removesuffix(".py")) not in ENTRANCES
        for name in imports(file)
        if name in steps and steps[name] > steps[own]
    ]
    assert not wrong
    assert {"microdata", "errors"} <= set(imports(SOURCE / "engines" / "scratch.py"))  # they are found
