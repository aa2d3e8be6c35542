"""A local page over the same functions: open a table, describe it, protect it, look at it, release it.

The server itself only passes things on. Tables are read and protected in worker processes, so that neither a bad file
nor a long job can take it down.
"""

from __future__ import annotations

from .server import serve

__all__ = ["serve"]
