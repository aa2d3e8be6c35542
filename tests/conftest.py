"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The first example of a test may load compiled kernels, and machines of continuous integration are slow at times.
settings.register_profile("taxomask", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("taxomask")
