"""Avatar stacks: slots, ports, allowlists, releases."""

from fleetc.language.fleet import Fleet


def concerns(fleet: Fleet) -> bool:
    """Whether there are any stacks."""
    return bool(fleet.avatars)
