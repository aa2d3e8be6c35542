from __future__ import annotations

import subprocess
import sys

import pytest

import taxomask.microdata


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, taxomask.microdata; "
        "print(*sorted({'pandas', 'polars', 'pyarrow', 'narwhals', 'yaml', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


@pytest.mark.parametrize("name", taxomask.microdata.__all__)
def test_public_names(name: str) -> None:
    assert getattr(taxomask.microdata, name).__doc__
