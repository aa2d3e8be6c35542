"""Jobs that workers import by name."""

from __future__ import annotations

import os
import time

import numpy as np

from taxomask.engines import Store
from taxomask.errors import DataError


def double(store: Store, number: int) -> int:
    return 2 * number


def fail_at_three(store: Store, number: int) -> int:
    """Only the job of the number 3 fails."""
    if number == 3:
        raise DataError("column 'dx', row 3: unknown.", hint="Look at row 3.")
    store.put(f"done-{number}", number)
    return number


def look_for_a_file(store: Store, name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read()


def move(store: Store, number: int) -> int:
    """Put something under another key and drop it, as jobs that save room do; tell which process it was."""
    value = store.get(f"in/{number}")
    store.put(f"out/{number}", 2 * value)
    store.drop(f"in/{number}")
    return os.getpid()


def move_in_two_steps(store: Store, number: int) -> int:
    """As `move`; the numbers from 4 on wait in the middle of it until they may go on."""
    store.put(f"out/{number}", 2 * store.get(f"in/{number}"))
    while number >= 4 and not (store.folder.parent / "go on").exists():
        time.sleep(0.01)
    store.drop(f"in/{number}")
    return os.getpid()


def ask_for_too_much(store: Store, number: int) -> int:
    return len(np.empty(1 << 55))
