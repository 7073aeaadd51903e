"""What runs, against what was reviewed: the logs of nodes and what they mean for a spec.

In: logs as blocks of bytes, and a fleet if there is a spec. Out: findings as diagnostics at lines of the spec. Pure:
`disk/` reads the files, `rollout/hosts/` asks the hosts. The patterns are data of `upstream/signatures/`.
"""
