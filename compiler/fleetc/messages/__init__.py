"""Diagnostics as people and programs read them: places become lines here, and every code and field has its page."""
