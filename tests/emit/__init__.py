"""Tests of the backends: small plans, odd values, and the real programs that read the artifacts."""
