"""What a release costs and what it risks."""

from __future__ import annotations

from ..measures import Risk
from .evaluation import (
    Evaluation,
    Known,
    check_analyses,
    check_attackers,
    evaluate,
    evaluate_on,
    measured,
    released_schema,
    summary,
)  # fmt: skip
from .headline import HEADLINE, OVERLAP, Summary, headline_figure, learns_most
from .records_at_risk import RecordsAtRisk
from .table_risk import TableRisk, table_risk

__all__ = [
    "HEADLINE", "OVERLAP", "Evaluation", "Known", "RecordsAtRisk", "Risk", "Summary", "TableRisk", "check_analyses",
    "check_attackers", "evaluate", "evaluate_on", "headline_figure", "learns_most", "measured", "released_schema",
    "summary", "table_risk",
]  # fmt: skip
