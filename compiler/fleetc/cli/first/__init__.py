"""The first spec, which `fleetc init` writes, and the files beside it.

In: answers to its questions, shipped texts. Out: texts by path.
"""
