"""Talks to services over HTTP, the only room that does: httpx is imported here and nowhere else.

In: addresses and bounds. Out: what was answered (`public.py`: addresses of nodes, asked as anybody can). Whatever a
service does, a call ends: there is a limit for each answer, for its size, and for everything together.
"""
