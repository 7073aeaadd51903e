"""Tests of what watches a fleet: targets, rules, dashboard, each before the real programs."""
