"""Settings of a node that contradict each other or do nothing."""
