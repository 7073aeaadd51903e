"""The journal of a fleet."""
