"""The parts of `FLEET.md` and of the pages of hosts, as template rows, each with its origins.

In: the blueprint. Out: views and marks. Combined by `emit/docs.py`.
"""
