"""TOML text and its values, with a place for every key and value, and edits of the text.

In: text. Out: a `Document`, and texts that were edited.
"""
