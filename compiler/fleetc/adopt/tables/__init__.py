"""From processes to the tables of a spec.

In: what the readers make of sources. Out: tables with their questions, and the text of the spec.
"""
