"""The host side: everything that reaches a machine.

In: a tree, names of hosts, settings. Out: what became of each host, or what it said.

`runner.py` alone imports ansible_runner; `gate.py` judges what it reports; the other files are one operation each.
"""
