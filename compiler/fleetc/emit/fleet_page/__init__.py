"""The parts of `FLEET.md`: what people read about a fleet, as rows for its template, each with its origins.

In: the blueprint. Out: views and marks. Put together by `emit/docs.py`.
"""
