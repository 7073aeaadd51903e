"""What is looked at in the answers of a node, one subject a file. A new file is listed in `judge.py`."""
