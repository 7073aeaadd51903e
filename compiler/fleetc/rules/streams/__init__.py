"""Streams, their ladders and their renditions."""
