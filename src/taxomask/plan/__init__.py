"""The YAML plan, its first draft, and a plan carried out."""

from __future__ import annotations

from .entries import make_method, vary
from .json_schema import plan_json_schema
from .plan import EngineChoice, Limits, Output, Plan

__all__ = ["EngineChoice", "Limits", "Output", "Plan", "make_method", "plan_json_schema", "vary"]
