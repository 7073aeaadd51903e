"""Prices, tickets, deposits: what nobody would pay for or sell."""
