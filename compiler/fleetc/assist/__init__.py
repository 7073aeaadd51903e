"""What an editor asks while somebody types: answers to a position in the text of a spec.

In: the texts of a spec as they are in the editor, and what the last check found. Out: plain values with offsets;
nothing here knows a protocol, a file or a clock. Called by `cli/editor/features.py`.
"""
