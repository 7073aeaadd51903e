"""Compares the running fleet with the reviewed one, by answers of hosts, nodes and public addresses.

In: a compiled fleet, answers. Out: findings, each at a place of the spec. Pure; `rollout/hosts/verify.py` asks.
"""
