"""Tests of the formats: small plans, odd values, and the real programs that read the artifacts."""
