"""What rollouts of a fleet did.

In: bytes of a journal. Out: its lines (`lines.py`), and what follows from them (`history.py`). Pure.
"""
