"""The commands, a file for each kind of work: they read files, call the core, print, and choose the exit code.

In: arguments as typer read them. Out: text and exit codes. Registered by `cli.py`; nothing is decided here.
"""
