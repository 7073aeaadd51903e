"""What must hold before a rollout.

In: needs. Out: findings.

A need has the name of its check (need), its subject (a path, an address or a name), the nodes that need it, and what
else the check reads. Each check yields all that is wrong, as codes and messages. Nothing here changes the host, waits
for a lock, or shows a secret.
"""
