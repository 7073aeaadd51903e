"""Text as other programs and people read it: one encoder for each grammar, secrets recognised, names that are alike.

The ground, beside `places/` and `upstream/`.
"""
