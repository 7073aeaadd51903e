"""What holds for all tests: no example of a property is judged by the clock, for machines are noisy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")
