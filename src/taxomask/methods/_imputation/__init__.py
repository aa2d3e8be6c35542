"""The models of sequential regression imputation: one for scales, one for categories, and what predicts them."""

from __future__ import annotations

from .models import ColumnModel, MissingModel
from .predictors import Encoder, design

__all__ = ["ColumnModel", "Encoder", "MissingModel", "design"]
