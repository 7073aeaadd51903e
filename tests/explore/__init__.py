"""Explores every interleaving of a rollout: the real program of hosts and the real controller, in a simulated world."""
