"""Streams as the API answers them against streams as they are declared."""
