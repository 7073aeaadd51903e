"""Tests of the host side that need no host."""
