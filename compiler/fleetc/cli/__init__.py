"""The command line: one file for each command, named as it is typed. They read files, call the core, print, and exit.

`commands.py` lists them; `shared/` has what several need, `editor/` and `first/` what `lsp` and `init` need.
"""
