"""What a release costs and what it risks."""

from __future__ import annotations

from ..measures import Risk
from .evaluation import Evaluation, evaluate, measured, summary
from .headline import HEADLINE, Summary, headline_figure

__all__ = ["HEADLINE", "Evaluation", "Risk", "Summary", "evaluate", "headline_figure", "measured", "summary"]
