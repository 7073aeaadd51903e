"""Access to the disk and to git: reads specs, writes trees completely or not at all, finds revisions.

Nothing else in fleetc opens a file, except `settings.py` and the private directories of a rollout.
"""
