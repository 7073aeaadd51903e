"""A reward caller has nothing to do.

Why: a process without a role, without rewards to call and without rounds to initialize exits at startup.

Example:

    [wallets.earner]
    reward_by = "orch"

    [reward_callers.caller]
    wallet = "earner"

Instead:

    [wallets.earner]
    reward_by = "caller"

    [reward_callers.caller]
    wallet = "earner"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.signer import RewardCaller
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the reward callers whose wallet names another caller; another rule reports a missing wallet."""
    if not fleet.on_chain:
        return
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, RewardCaller) or settings.wallet is None or settings.initialize_round:
            continue
        calls = effective.calls_reward(fleet, node, settings)
        if calls is not None and not calls.value:
            yield error(
                "reward-caller-idle",
                f"reward caller {node.name} has nothing to do, so its node exits at startup",
                Label(node.path, "neither calls reward nor initializes rounds"),
                [Label(path, "another one calls") for path in calls.origin.paths],
                f'write reward_by = "{node.name}" in wallets.{settings.wallet}, or initialize_round = true here',
            )
