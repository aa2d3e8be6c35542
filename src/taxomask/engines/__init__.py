"""Where columns live and where functions run: in memory, or in files, with threads or a Dask cluster at work.

All give the same bytes. This is the only room that knows of files, messages and workers; what the others see of it is
an `Engine` with a handful of verbs.
"""

from __future__ import annotations

from .base import Engine, Told
from .coding import coded_on, numbered_on
from .dask import DaskCluster
from .files import Call, Files, Workers
from .memory import Memory
from .pieces import Pieces
from .reading import read_coded
from .scratch import Scratch
from .threads import Threads

__all__ = [
    "Call", "DaskCluster", "Engine", "Files", "Memory", "Pieces", "Scratch", "Threads", "Told", "Workers", "coded_on",
    "numbered_on", "read_coded",
]  # fmt: skip
