"""Whole-fleet calculations for more than one rule or report: `capacity` adds up GPUs, `economics` and `funds` money.

In: a sound `Fleet`. Out: plain numbers with the places they come from, and diagnostics. Called by `rules/` and reports;
lowering also calls `requests`.
"""
