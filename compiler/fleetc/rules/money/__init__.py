"""Prices, tickets, deposits: what would not be paid, or not be sold."""
