from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Server, running


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to open tables from, beside a secret that is not in it."""
    base = tmp_path_factory.mktemp("served")
    (base / "secret.csv").write_text("name\nNobody may read this\n")
    folder = base / "tables"
    (folder / "below").mkdir(parents=True)
    (folder / "people.csv").write_text("age,job\n" + "".join(f"{20 + i % 25},{'abc'[i % 3]}\n" for i in range(40)))
    (folder / "below" / "more.csv").write_text("age\n1\n2\n")
    (folder / ".hidden.csv").write_text("age\n1\n")
    (folder / "link.csv").symlink_to(base / "secret.csv")
    (folder / "way").symlink_to(base)
    return folder


@pytest.fixture(scope="session")
def server(folder: Path) -> Iterator[Server]:
    with running(folder) as found:
        yield found
