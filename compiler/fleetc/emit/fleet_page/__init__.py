"""The parts of `FLEET.md`: what people read about a fleet, as template rows, each with its origins.

In: the blueprint. Out: views and marks. Combined by `emit/docs.py`.
"""
