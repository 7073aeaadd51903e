"""What is out of service has no substitute: a last seller, a signer or redeemer in use, Prometheus, a reward caller.

Why: names of what is out of service stay valid, and its buyers pass over it while another seller remains. Without any,
the gateway fails every request. A gateway exits at startup without its signer, and so does an orchestrator without its
redeemer. On the host of Prometheus, nobody would notice what else fails. Each round without a reward caller loses its
reward. A registry has one address of an account, and gateways that search it find nobody else of that account.

Example:

    [gateways.gate]
    orchestrators = ["orch"]

    [orchestrators.orch]
    out = { until = 2027-01-31, reason = "new power supply" }

Instead:

    [gateways.gate]
    orchestrators = ["orch", "other"]

    [orchestrators.orch]
    out = { until = 2027-01-31, reason = "new power supply" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import registrations, searches
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.text.counting import first_of
from fleetc.text.suggestions import one_of

_CODE = "needed-node-out"
_SHOWN = 6
_CALL_BY_THEMSELVES = ("orchestrators", "reward_callers")
_NO_OTHER = "add a reward caller on another host with this wallet, or silence this if the reward may be lost"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what the nodes in service need, and at what others have to do meanwhile."""
    home = fleet.monitoring.host if fleet.monitoring is not None else None
    if home is not None and fleet.hosts[home].out is not None:
        message = f"{home} is out of service, and Prometheus runs there, so no alert comes from any host"
        place, where = Label(("hosts", home, "out")), [Label(("monitoring", "host"))]
        yield error(_CODE, message, place, where, "write host of another machine in monitoring, and move it first")
    for node in (node for node in fleet.nodes if effective.out_of(fleet, node) is None):
        if node.table == "gateways":
            yield from _without_sellers(fleet, node)
            signer = fleet.gateways[node.name].remote_signer
            yield from _without_helper(fleet, node, signer.signer if signer is not None else None)
        elif node.table == "orchestrators":
            yield from _without_helper(fleet, node, fleet.orchestrators[node.name].redeemer)
    yield from _without_caller(fleet)
    yield from _without_address(fleet)


def _without_helper(fleet: Fleet, node: Node, name: str | None) -> Iterator[Diagnostic]:
    """A node whose signer or redeemer of this fleet is out of service."""
    helper = fleet.nodes_by_name.get(name or "")
    out = effective.out_of(fleet, helper) if helper is not None else None
    if out is not None:
        message = f"{name} is out of service, and {node.name} cannot start without it"
        advice = f"let {node.name} use another one first, or take {node.name} out of service too"
        yield error(_CODE, message, Label(out.origin.paths[0]), [Label(node.path, "uses it")], advice)


def _without_sellers(fleet: Fleet, gateway: Node) -> Iterator[Diagnostic]:
    """A gateway whose list names nobody any more who sells what it buys."""
    search = searches(fleet)[gateway.name]
    for what, serves in (("video", effective.serves_video), ("AI", effective.serves_ai)):
        if not search.closed or not serves(gateway):
            continue  # others may sell to it
        sellers = [fleet.nodes_by_name[name] for name in search.found if not search.why_not(name)]
        outs = {node.name: effective.out_of(fleet, node) for node in sellers if serves(node)}
        missing = [Label(out.origin.paths[0], name) for name, out in outs.items() if out is not None]
        if missing and len(missing) == len(outs):
            message = f"gateway {gateway.name} buys {what} from {first_of([*outs], _SHOWN)} alone, out of service"
            labels = [*missing[1:_SHOWN], Label((*gateway.path, "orchestrators"), "buys from nobody else")]
            advice = f"add another orchestrator to {gateway.name}, or take {gateway.name} out of service too"
            yield error(_CODE, message, missing[0], labels, advice)
            return


def _without_caller(fleet: Fleet) -> Iterator[Diagnostic]:
    """A wallet whose reward nobody calls meanwhile."""
    for wallet, holders in fleet.nodes_by_wallet.items() if fleet.on_chain else ():
        chosen = fleet.wallets[wallet].reward_by
        callers = [n for n in holders if n.name == chosen or (chosen is None and n.table in _CALL_BY_THEMSELVES)]
        out = effective.out_of(fleet, callers[0]) if len(callers) == 1 else None
        if out is not None:
            others = [node.name for node in holders if effective.out_of(fleet, node) is None]
            advice = f"write reward_by = {one_of(others)} in wallets.{wallet}" if others else _NO_OTHER
            message = f"{callers[0].name} is out of service, so nobody calls reward for wallet {wallet}"
            yield warning(_CODE, message, Label(out.origin.paths[0]), [Label(("wallets", wallet))], advice)


def _without_address(fleet: Fleet) -> Iterator[Diagnostic]:
    """An account whose registered address may be that of what is out of service."""
    for members in registrations(fleet).values():
        here = [one for one in members if effective.out_of(fleet, one.node) is None]
        there = {one.address for one in here}
        gone = next((one.node for one in members if one not in here and one.address not in there), None)
        out = effective.out_of(fleet, gone) if gone is not None and here else None
        if gone is not None and out is not None:
            names = first_of([one.node.name for one in here], _SHOWN)
            message = f"{gone.name} is out of service, and the registry may have its address, not that of {names}"
            labels = [Label(one.place, "shares its account") for one in here[:_SHOWN]]
            advice = f"register the address of {one_of(one.node.name for one in here)}, or silence this if it is"
            yield warning(_CODE, message, Label(out.origin.paths[0]), labels, advice)
