"""From processes to the tables of a spec, one file for each kind of table.

In: what `read/` made of the sources. Out: tables with their questions, and the text of the spec.
"""
