"""The language: every field with its type and its sentence of documentation, and the typed fleet they make up.

In: a `Document`. Out: a `Fleet` and diagnostics (`spec.read_fleet`). One file for each kind of table.
"""
