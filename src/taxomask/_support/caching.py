"""Where things are kept that can be made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder(name: str) -> Path:
    """A folder of this name in the user's cache; it may not exist yet."""
    default = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or default
    return Path(base) / "taxomask" / name
