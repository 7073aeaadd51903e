"""Tables of the spec, filled from processes.

In: processes with their roles. Out: tables with values and questions.
"""
