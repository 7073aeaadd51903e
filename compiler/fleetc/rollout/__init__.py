"""Changing hosts, and looking at them afterwards.

In: a compiled tree. Out: a sealed plan made in advance, changed hosts, and findings about what they run.
"""
