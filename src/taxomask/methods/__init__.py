"""Protection methods: one file per method, each a small declared object. To add one: one file, and one line here."""

from __future__ import annotations

from .base import Check, Masked, Method, Progress, Promise
from .micro_hybrid import MicroHybrid
from .microaggregation import Microaggregation

__all__ = ["METHODS", "Check", "Masked", "Method", "MicroHybrid", "Microaggregation", "Progress", "Promise"]

METHODS: dict[str, type[Method]] = {method.name: method for method in (Microaggregation, MicroHybrid)}
