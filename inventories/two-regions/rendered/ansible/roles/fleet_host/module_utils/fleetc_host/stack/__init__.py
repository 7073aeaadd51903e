"""The avatar stack of a host."""
