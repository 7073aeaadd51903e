"""What a release of the node does not have."""
