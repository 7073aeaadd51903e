"""Transcoders and AI workers of an orchestrator."""
