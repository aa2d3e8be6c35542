"""How a cell is spelled: the text by which values, categories and missing markers are compared."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from numbers import Integral

__all__ = ["in_order", "is_nan", "listing", "spell"]


def spell(value: object) -> str:
    """The text of a cell: ``250``, ``250.0`` and ``"250"`` are spelled alike.

    >>> spell(38.0), spell(8.5), spell("038"), spell(True)
    ('38', '8.5', '038', 'True')
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral) and not _is_bool(value):
        return str(int(value))
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value.normalize():f}"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def is_nan(value: object) -> bool:
    """Whether a value is not equal to itself: NaN, NaT, and the like."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to say
        return True


def in_order(values: Iterable[object]) -> list[object]:
    """Values in sorted order; where types do not compare, one type after the other.

    >>> in_order(["b", 2, "a", 1.5])
    [1.5, 2, 'a', 'b']
    """
    groups: dict[str, list[object]] = {}
    for value in values:
        number = isinstance(value, (Integral, float, Decimal)) and not _is_bool(value)
        groups.setdefault("" if number else type(value).__name__, []).append(value)
    return [value for name in sorted(groups) for value in _sorted(groups[name])]


def _sorted(values: list[object]) -> list[object]:
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return sorted(values, key=spell)


def listing(values: Iterable[object], limit: int = 10) -> str:
    """Values for a message, the first few of them.

    >>> listing("abc", limit=2)
    "'a', 'b', …"
    """
    values = list(values)
    return ", ".join(repr(value) for value in values[:limit]) + (", …" if len(values) > limit else "")
