"""What is looked at in the answers of a node, one subject a file. `rollout/verify/judge.py` lists all checks.

In: a node and what it answered. Out: findings, or `UnknownError` for a useless answer.
"""
