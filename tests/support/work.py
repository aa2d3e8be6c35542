"""What children are asked to do in tests: functions of a module that they can import too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa


def fail(error: Exception) -> None:
    raise error


def numbers(rows: int = 100_000) -> Any:
    return pa.table({"a": range(rows)}).to_reader(1000)


def nothing() -> Any:
    return pa.table({"a": pa.nulls(0)}).to_reader()


def fail_in_the_middle(code: str) -> Any:
    """Batches of which the second fails."""

    def pieces() -> Iterator[Any]:
        yield pa.record_batch({"a": [1]})
        exec(code)

    return pa.RecordBatchReader.from_batches(pa.schema([("a", "int64")]), pieces())
