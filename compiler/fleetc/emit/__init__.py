"""Blueprint to artifacts in memory: one file for each format, `formats.py` lists them all.

In: a blueprint, the shipped templates and playbooks. Out: a `Tree`. Formats never import one another.
"""
