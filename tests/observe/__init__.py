"""Tests of what is observed: logs and what they mean."""
