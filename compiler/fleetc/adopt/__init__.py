"""Adopting: from what an operator already has to a spec that says the same.

In: the texts of commands, scripts, units, Compose files and the files that nodes read. Out: a spec, and an account of
every word of the sources. Pure: `cli/adopt.py` reads the files and writes the spec. Nothing of a source is ever run.
"""
