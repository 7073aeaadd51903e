"""Tests of the language server and of what it answers from."""
