"""fleetc compiles one TOML spec of a video and AI node fleet into everything its hosts need.

Read compiler/README.md first: it holds the map of this package and its invariants.
"""
