"""Several nodes share a wallet, and the spec chooses no reward caller, a gateway, or another than the one it has.

Why: by default, a node calls reward if its account is a registered orchestrator, and so do gateways. Several callers
burn gas on calls that fail every round; turning all of them off loses a round's reward. The process that earns the
income should call: a gateway is restarted for stream settings, and a missed round pays nothing. A reward caller
without rewards to call and without rounds to initialize exits at startup.

Fix: `fleetc check --fix` sets reward_by to the reward caller that holds the wallet, or else to the orchestrator, if
there is one.

Example:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"

    [orchestrators.a]
    wallet = "earner"

    [orchestrators.b]
    wallet = "earner"

Instead:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"
    reward_by = "a"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signer import RewardCaller
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_insert, warning
from fleetc.text.suggestions import one_of

_CODE = "reward-caller-wrong"
_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets that nodes hold, and at the reward callers; off-chain nobody calls reward."""
    if not fleet.on_chain:
        return
    for name, settings in sorted(fleet.reward_callers.items()):
        yield from _idle(fleet, Node("reward_callers", name, settings), settings)
    for wallet, holders in fleet.nodes_by_wallet.items():
        chosen = fleet.wallets[wallet].reward_by
        better = [node for node in holders if node.table == "orchestrators"]
        if chosen in fleet.gateways and better:
            yield warning(
                _CODE,
                f"gateway {chosen} calls reward for wallet {wallet}, but orchestrator {better[0].name} also holds it",
                Label(("wallets", wallet, "reward_by")),
                [Label((*better[0].path, "wallet"), better[0].name)],
                f"write reward_by = {one_of(node.name for node in better)}",
            )
        if len(holders) < 2 or chosen is not None:
            continue
        callers: dict[str, list[str]] = {}
        for node in holders:
            callers.setdefault(node.table, []).append(node.name)
        candidates = callers.get("reward_callers") or callers.get("orchestrators") or ["none"]
        caller = candidates[0]
        certain = caller != "none" and len(candidates) == 1
        yield error(
            _CODE,
            f"{len(holders)} nodes share wallet {wallet}, but none is its reward caller",
            Label(("wallets", wallet), "here"),
            [Label((*node.path, "wallet"), node.name) for node in holders[:_SHOWN]],
            f"write reward_by = {one_of(candidates)} in wallets.{wallet}"
            + ("" if caller == "none" else ', or reward_by = "none" if another process calls reward'),
            fix_insert(("wallets", wallet, "reward_by"), caller) if certain else None,
        )


def _idle(fleet: Fleet, node: Node, caller: RewardCaller) -> Iterator[Diagnostic]:
    """A reward caller whose wallet names another one; another rule reports a missing wallet."""
    calls = effective.calls_reward(fleet, node, caller) if caller.wallet is not None else None
    if calls is not None and not calls.value and not caller.initialize_round:
        yield error(
            _CODE,
            f"reward caller {node.name} has nothing to do, so its node exits at startup",
            Label(node.path, "neither calls reward nor initializes rounds"),
            [Label(path, "another one calls") for path in calls.origin.paths],
            f'write reward_by = "{node.name}" in wallets.{caller.wallet}, or initialize_round = true here',
        )
