"""The YAML plan, its first draft, and a plan carried out."""

from __future__ import annotations

from .plan import EngineChoice, Limits, Output, Plan, make_method, plan_json_schema, vary

__all__ = ["EngineChoice", "Limits", "Output", "Plan", "make_method", "plan_json_schema", "vary"]
