"""The example table that comes with the package: real hospital discharges."""

from __future__ import annotations

from pathlib import Path

from ..errors import DataError, did_you_mean

__all__ = ["names", "path"]

_NAMES = ("discharges",)


def names() -> tuple[str, ...]:
    """The names of the example tables.

    >>> names()
    ('discharges',)
    """
    return _NAMES


def path(name: str = "discharges") -> Path:
    """The file of an example table."""
    if name not in _NAMES:
        raise DataError(f"There is no example table {name!r}.", hint=did_you_mean(str(name), _NAMES))
    return Path(__file__).with_name(f"{name}.csv.gz")
