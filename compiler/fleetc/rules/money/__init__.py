"""Prices, tickets and deposits that make a sale fail."""
