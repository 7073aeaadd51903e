"""The sealed plan: the steps of a rollout, its inputs, and its checks.

In: a compiled fleet, what is known of its hosts, a time. Out: a `SealedPlan`, its canonical bytes, and every reason to
refuse it later. Nothing here touches disk, hosts or clock: `rollout/hosts/` reads and asks, `cli/plan.py` prints.
"""
