"""The taxonomies that come with the package, as edge lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from ...errors import TaxonomyError, did_you_mean

__all__ = ["names", "open_path", "path"]

_NAMES = ("icd9cm", "icd9cm_procedures", "isco08", "nace2")


def names() -> tuple[str, ...]:
    """The names of the taxonomies.

    >>> names()
    ('icd9cm', 'icd9cm_procedures', 'isco08', 'nace2')
    """
    return _NAMES


def path(name: str) -> Path:
    """The file of a taxonomy."""
    if name not in _NAMES:
        hint = did_you_mean(str(name), _NAMES)
        raise TaxonomyError(f"There is no built-in taxonomy {name!r}.", hint=hint)
    return Path(__file__).with_name(f"{name}.csv.gz")


@contextmanager
def open_path(name: str) -> Iterator[Path]:
    """The file of a taxonomy, also where the package is not unpacked on disk."""
    with as_file(files(__name__) / path(name).name) as file:
        yield file
