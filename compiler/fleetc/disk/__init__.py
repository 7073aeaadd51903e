"""The door to the disk and to git: specs are read, trees are written entirely or not at all, revisions are found.

Nothing else of fleetc opens a file, but for `settings.py` and the private directories of a rollout.
"""
