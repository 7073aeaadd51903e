"""Runs rules: each run in its own process, without files, environment or network, and within bounds.

In: texts of rules and views of fleets. Out: findings, and how a rule failed. `run.py` starts the process, `worker.py`
is its program, `prelude.star` what rules can use. Rules are Starlark and not Python, because a checkout may be hostile
and no list of forbidden names makes Python safe.
"""
