"""What a release costs and what it risks."""

from __future__ import annotations

from ..measures import Risk
from .evaluation import Evaluation, Known, check_attackers, evaluate, measured, summary
from .headline import HEADLINE, Summary, headline_figure

__all__ = [
    "HEADLINE",
    "Evaluation",
    "Known",
    "Risk",
    "Summary",
    "check_attackers",
    "evaluate",
    "headline_figure",
    "measured",
    "summary",
]  # fmt: skip
