"""What a release costs."""

from __future__ import annotations

from .sse import SquaredError, squared_error

__all__ = ["SquaredError", "squared_error"]
