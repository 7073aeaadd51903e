"""Whether what runs is what was reviewed: judges what hosts, nodes and public addresses answered.

In: a compiled fleet, answers. Out: findings, each at a place of the spec. Pure; `rollout/hosts/verify.py` asks.
"""
