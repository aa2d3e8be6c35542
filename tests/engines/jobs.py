"""Functions that workers import by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from taxomask.errors import DataError
from taxomask.microdata import Column

Array = np.ndarray[Any, Any]


def double(number: int) -> int:
    return 2 * number


def doubled(array: Array) -> Array:
    return 2 * array


def fail_at_three(number: int) -> int:
    """Only the call with the number 3 fails."""
    if number == 3:
        raise DataError("column 'dx', row 3: unknown.", hint="Look at row 3.")
    return number


def look_for_a_file(name: str) -> bytes:
    return Path(name).read_bytes()


def move(array: Array, go_on: str) -> tuple[Array, int]:
    """What is large comes in one file and goes to another; tell which process it was.

    Numbers from 8 on wait in the middle of it until they may go on.
    """
    moved = 2 * array
    while array[0] >= 8 and not Path(go_on).exists():
        time.sleep(0.01)
    return moved, os.getpid()


def sums(table: Any, array: Array) -> int:
    return sum(table.column(0).to_pylist()) + int(array.sum())


def as_it_is(array: Array) -> Array:
    return array


def note(folder: str, number: int) -> int:
    """Leave word of being called."""
    Path(folder, f"{time.monotonic_ns()}").write_text(str(number))
    return number


def ask_for_too_much(number: int) -> int:
    return len(np.empty(1 << 55))


def doubled_from(array: Array, rows: range) -> tuple[Array, int]:
    """The rows of a chunk, and where it begins."""
    return 2 * array, rows.start


def with_noise(array: Array, amount: float, rng: np.random.Generator) -> Array:
    return array + amount * rng.standard_normal(len(array))


def opposite(column: Column) -> Column:
    return column.with_cells(-column.cells)


def total(array: Array) -> float:
    return float(array.sum())
