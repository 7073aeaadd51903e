"""Compares actual streams with declared ones: what the API answered, how it differs, and what fixes that.

In: the blueprint of a stream, and the text of an answer. Out: a `Report`. `resource.py` has the fields of an answer,
`observed.py` reads answers, `refused.py` finds what the service refuses. `normal.py` brings both sides into one form,
`drift.py` compares them, `steps.py` orders the requests, `report.py` prints. Nothing here talks to the service.
"""
