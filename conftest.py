"""Settings of all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from taxomask._support.caching import cache_folder

# Tests that share what takes long to start: a database, a browser, a cluster. Others go together by files; those of
# engines that start processes of their own, too.
TOGETHER = ("tests/web", "tests/microdata/formats", "tests/engines")
APART = ("tests/engines/test_faults.py", "tests/engines/test_processes.py", "tests/engines/test_properties.py")


def pytest_configure(config: pytest.Config) -> None:
    # Properties are tried on the same examples each time; on others if a seed is given. The first example may load
    # compiled kernels, and machines are slow at times.
    always = config.getoption("--hypothesis-seed", None) is None
    slow = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("taxomask", derandomize=always, **slow)
    settings.load_profile("taxomask")
    if not hasattr(config, "workerinput"):  # else one of several processes: the first does it for all
        empty_cache(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where slow tests are left out, try each property on a fifth of its examples: most of the time goes into them."""
    if "not slow" not in config.getoption("markexpr"):
        return
    for test in {item.function for item in items if isinstance(item, pytest.Function)}:
        if is_hypothesis_test(test):
            given = test._hypothesis_internal_use_settings  # there is no other way to a part of what a test asks for
            test._hypothesis_internal_use_settings = settings(given, max_examples=-(-given.max_examples // 5))


def empty_cache(config: pytest.Config) -> None:
    """Start with a cache that is empty but for compiled kernels, which are found by the text that made them."""
    kernels = cache_folder("kernels")
    if not kernels.exists():  # at once and here, not in every process that needs some
        subprocess.run(
            [sys.executable, "-c", "from taxomask._support.compiling import compile_all; compile_all()"], check=True
        )
    own = Path(tempfile.mkdtemp(prefix="taxomask-tests-"))
    config.add_cleanup(partial(shutil.rmtree, own))
    (own / "taxomask").mkdir()
    (own / "taxomask" / "kernels").symlink_to(kernels)
    os.environ["XDG_CACHE_HOME"] = str(own)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Say what one process should run if there are several: a file, or files that share what takes long to start."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file in APART else next((folder for folder in TOGETHER if file.startswith(folder)), file)

    return Together(config, log)
