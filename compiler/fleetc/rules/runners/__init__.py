"""Live runners: what they cost, who offers and buys them, and where they run."""

from fleetc.language.fleet import Fleet


def concerns(fleet: Fleet) -> bool:
    """Whether there are any live runners, or an orchestrator that may get some from outside of the spec."""
    fields = ("live_runners", "live_runner_config", "capabilities")
    nodes = fleet.orchestrators.values()
    return bool(fleet.runners) or any(getattr(node, field) for node in nodes for field in fields)
