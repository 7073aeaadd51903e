"""The node's own rules: flags, files, lists, listeners, paths and GPUs; and what of a source may be repeated.

In: words of processes, and the texts that these name. Out: what they mean to the node.
"""
