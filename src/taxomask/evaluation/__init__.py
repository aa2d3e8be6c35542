"""What a release costs and what it risks."""

from __future__ import annotations

from .evaluation import Evaluation, Risk, Summary, evaluate, measured, summary

__all__ = ["Evaluation", "Risk", "Summary", "evaluate", "measured", "summary"]
