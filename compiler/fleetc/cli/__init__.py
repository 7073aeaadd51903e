"""The command line: one file for each command, named as it is typed. They read files, call the core, print, and exit.

`app.py` lists them; `options.py`, `output.py` and `working.py` have what they share.
"""
