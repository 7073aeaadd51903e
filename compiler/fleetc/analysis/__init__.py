"""Whole-fleet sums that more than one rule or report needs: `capacity` weighs GPUs, `economics` and `funds` money.

In: a sound `Fleet`. Out: plain numbers with the places they come from, and diagnostics. Called by `rules/` and reports;
`requests` is called by lowering too.
"""
