"""Splits both blueprints into items, compares them, and finds the spec edits behind the differences."""
