"""The host side: everything that reaches a machine.

`runner.py` alone imports ansible_runner; `gate.py` judges what it reports; the other files are one operation each.
"""
