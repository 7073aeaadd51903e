"""Answers for an editor while you type, by position in the text of a spec.

In: the texts of a spec as they are in the editor, and what the last check found. Out: plain values with offsets;
independent of protocol, files and clock. Called by `cli/editor/features.py`.
"""
