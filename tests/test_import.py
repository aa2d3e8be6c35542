"""`import taxomask` and `taxomask --help` stay light: nothing heavy is imported at the top."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "numpy",
    "scipy",
    "numba",
    "pyarrow",
    "pandas",
    "polars",
    "narwhals",
    "pydantic",
    "pyoxigraph",
    "jinja2",
)


def imported(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert imported("import taxomask").isdisjoint(HEAVY)


def test_help_imports_nothing_heavy() -> None:
    code = "from taxomask.cli import main\nimport io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n"
    code += "    try: main(['taxonomy', '--help'])\n    except SystemExit: pass"
    assert imported(code).isdisjoint(set(HEAVY) - {"pydantic"})  # typer imports pydantic by itself


def test_reading_a_taxonomy_does_not_compile_anything() -> None:
    assert "numba" not in imported("import taxomask as tm\ntm.Taxonomy.builtin('isco08')")


def test_public_names_are_all_there() -> None:
    import taxomask as tm

    for name in tm.__all__:
        assert getattr(tm, name) is not None
    assert set(tm.__all__) <= set(dir(tm))
    with pytest.raises(AttributeError, match="no attribute 'marginalty'"):
        _ = tm.marginalty
    with pytest.raises(AttributeError, match="no attribute 'Microagregation'"):
        _ = tm.Microagregation


def test_every_method_is_a_public_name() -> None:
    import taxomask as tm
    from taxomask.methods import METHODS

    assert all(getattr(tm, kind.__name__) is kind for kind in METHODS.values())
    assert {kind.__name__ for kind in METHODS.values()} <= set(tm.__all__)


def test_type_checkers_are_told_every_public_name() -> None:
    """The names that are loaded on first use are also listed for type checkers: no more and no fewer."""
    import taxomask as tm

    (listed,) = (one for one in ast.parse(Path(tm.__file__).read_text()).body if isinstance(one, ast.If))
    told = [(alias.asname, alias.name) for one in listed.body if isinstance(one, ast.ImportFrom) for alias in one.names]
    assert all(name == shown for shown, name in told)
    assert {name for _, name in told} == set(tm.__all__) - {"__version__"}
