"""A node that is out of service calls reward, or may have the registered address of its account.

Why: one process calls reward, and each missed round loses its reward. A registry has one address of an account, so
gateways that search it do not find the other orchestrators of that account while the address does not answer.

Example:

    [wallets.earner]
    reward_by = "a"

    [orchestrators.a]
    wallet = "earner"
    out = { until = 2027-01-31, reason = "new power supply" }

Instead:

    [wallets.earner]
    reward_by = "b"

    [orchestrators.a]
    wallet = "earner"
    out = { until = 2027-01-31, reason = "new power supply" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import registrations
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.counting import first_of
from fleetc.text.suggestions import one_of

_CODE = "duty-of-node-out"
_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at who calls reward for each wallet, and at the accounts that a registry has."""
    for wallet, holders in fleet.nodes_by_wallet.items() if fleet.on_chain else ():
        chosen = fleet.wallets[wallet].reward_by
        callers = [n for n in holders if n.name == chosen or (chosen is None and n.table in _CALL_BY_THEMSELVES)]
        out = effective.out_of(fleet, callers[0]) if len(callers) == 1 else None
        if out is not None:
            others = [node.name for node in holders if effective.out_of(fleet, node) is None]
            advice = f"write reward_by = {one_of(others)} in wallets.{wallet}" if others else _NO_OTHER
            message = f"{callers[0].name} is out of service, so nobody calls reward for wallet {wallet}"
            labels = [Label(("wallets", wallet), "each round, its reward is lost")]
            yield warning(_CODE, message, Label(out.origin.paths[0]), labels, advice)
    for members in registrations(fleet).values():
        here = [one for one in members if effective.out_of(fleet, one.node) is None]
        there = {one.address for one in here}
        gone = next((one for one in members if one not in here and one.address not in there), None)
        out = effective.out_of(fleet, gone.node) if gone is not None and here else None
        if gone is not None and out is not None:
            names = first_of([one.node.name for one in here], _SHOWN)
            message = f"{gone.node.name} is out of service, and the registry may have its address, not that of {names}"
            labels = [Label(one.place, "shares its account") for one in here[:_SHOWN]]
            advice = f"register the address of {one_of(one.node.name for one in here)}, or silence this if it is"
            yield warning(_CODE, message, Label(out.origin.paths[0]), labels, advice)


_CALL_BY_THEMSELVES = ("orchestrators", "reward_callers")
_NO_OTHER = "add a reward caller on another host with this wallet, or silence this if the reward may be lost"
