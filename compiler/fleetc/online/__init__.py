"""Talks to services over HTTP, the only room that does: httpx is imported here and nowhere else.

In: an address, a token and bounds (`http.py`); declared streams and what is known of them. Out: reports about them
(`asking.py`), and what became of each request that changes one (`applying.py`); what public addresses of nodes answer
(`public.py`). Whatever a service does, a call ends: there is a limit for each answer, for its size, and for everything
together.
"""
