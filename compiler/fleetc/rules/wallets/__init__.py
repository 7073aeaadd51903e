"""Accounts, their keys, and who calls rewards for them."""
