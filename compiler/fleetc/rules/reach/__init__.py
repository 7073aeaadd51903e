"""Who can reach what: ports, addresses, registries, the chain."""
