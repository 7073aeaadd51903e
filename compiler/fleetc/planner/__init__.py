"""What a rollout does to each host and each process on it: the one place that knows.

In: trees, and the hosts that a journal knows. Out: states and steps. Pure. Reviews, plans and rollouts ask here.
"""
