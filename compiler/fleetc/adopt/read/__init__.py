"""One file for each kind of source: commands, units, Compose projects, environment files, stacks, trees, hosts.

In: texts of sources. Out: processes with an account of every word.
"""
