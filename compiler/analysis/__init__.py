"""Whole-fleet sums that more than one rule or report needs: so far `capacity`, the load of every GPU.

In: a sound `Fleet`. Out: plain numbers with the places they come from, and diagnostics. Called by `rules/` and reports.
"""
