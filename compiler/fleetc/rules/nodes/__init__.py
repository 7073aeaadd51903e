"""Settings of a node that contradict one another or do nothing."""
