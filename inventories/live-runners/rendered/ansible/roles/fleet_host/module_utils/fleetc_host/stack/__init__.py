"""The avatar stack of a host.

In: what a release wants of it. Out: a host that has that.
"""
