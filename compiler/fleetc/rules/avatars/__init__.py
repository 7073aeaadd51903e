"""Avatar stacks: slots, ports, allowlists, releases."""
