"""The sealed plan: what a rollout will do, what it was made from, and what it is checked against.

In: a compiled fleet, what is known of its hosts, a time. Out: a `SealedPlan`, its canonical bytes, and every reason to
refuse it later. Nothing here touches disk, hosts or clock: `rollout/hosts/` reads and asks, `cli/plan.py` prints.
"""
