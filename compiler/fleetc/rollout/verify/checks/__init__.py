"""What is looked at in the answers of a node, one subject a file. `rollout/verify/judge.py` lists all checks."""
