"""What people read of an adoption: the first screen, the report, the differences, and what a takeover does.

In: an adoption. Out: text.
"""
