"""Pages for people: self-contained HTML with figures drawn here; nothing is fetched from elsewhere.

This layer knows plain values only (numbers, names, trees of counts), nothing of methods or measures.
"""

from __future__ import annotations

from .notebook import map_view
from .page import render, write_page

__all__ = ["map_view", "render", "write_page"]
