"""Diagnostics for people and programs: places become lines here, and every code and field has its page."""
