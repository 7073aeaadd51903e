"""Talks to services over HTTP, the only room that does: httpx is imported here and nowhere else.

In: an address, a token and bounds (`http.py`); declared streams and what is known of them. Out: reports about them
(`asking.py`), results of changing requests (`applying.py`), answers of public addresses of nodes (`public.py`). Every
call ends: answers have limits of time and size, and all together a limit of time.
"""
