"""The language: every field, its type and its sentence of documentation, and the typed fleet they make.

In: a `Document`. Out: a `Fleet` and diagnostics (`spec.read_fleet`). One file for each kind of table.
"""
