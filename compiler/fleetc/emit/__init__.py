"""Blueprint to artifacts in memory: one file per format, and `formats.py` lists them all.

In: a blueprint, the shipped templates and playbooks. Out: a `Tree`. Formats never import each other.
"""
