"""Accounts, their keys, and who calls reward for them."""
