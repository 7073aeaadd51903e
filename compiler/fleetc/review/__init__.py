"""What would change, why, and what it costs: comparison, impact, provenance and their reports.

In: two compiled fleets, or one and a question about it. Out: a `Review`, a chain of reasons, text. Nothing here touches
disk, network or terminal; `cli/` reads and prints.
"""
