"""Settings of all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from taxomask.caching import cache_folder

# The first example of a test may load compiled kernels, and machines of continuous integration are slow at times.
settings.register_profile("taxomask", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("taxomask")


SERVERS = {"tests/engines": "clusters", "tests/web": "browser", "tests/microdata/formats": "databases"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a cluster, a browser or a database server run in the same process, so that each starts once."""
    for item in items:
        for folder, group in SERVERS.items():
            if folder in item.path.as_posix():
                item.add_marker(pytest.mark.xdist_group(group))


def pytest_configure(config: pytest.Config) -> None:
    """Start with a cache that is empty but for compiled kernels, which are found by the text that they are made from.

    Processes that run tests at the same time have it in common.
    """
    if hasattr(config, "workerinput"):  # one of several processes: the first has done it for all
        return
    kernels = cache_folder("kernels")
    if not kernels.exists():  # at once and here, not in every process that needs some
        subprocess.run([sys.executable, "-c", "from taxomask._jit import compile_all; compile_all()"], check=True)
    own = Path(tempfile.mkdtemp(prefix="taxomask-tests-"))
    config.add_cleanup(partial(shutil.rmtree, own))
    (own / "taxomask").mkdir()
    (own / "taxomask" / "kernels").symlink_to(kernels)
    os.environ["XDG_CACHE_HOME"] = str(own)
