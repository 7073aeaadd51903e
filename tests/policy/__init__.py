"""Tests of the rules that people write for their own fleets."""
