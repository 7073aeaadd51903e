"""What is out of service has no substitute: the last seller of a gateway, a signer or redeemer in use, the Prometheus.

Why: names of what is out of service stay valid, and its buyers pass over it while another seller remains. Without any,
the gateway fails every request. A gateway exits at startup without its signer, and so does an orchestrator without its
redeemer. On the host of Prometheus, nobody would notice what else fails.

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

from fleetc.analysis.discovery import searches
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.worker import Transcoder
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.counting import first_of

_CODE = "needed-node-out"
_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what the nodes in service need, and at the host of Prometheus."""
    home = fleet.monitoring.host if fleet.monitoring is not None else None
    if home is not None and fleet.hosts[home].out is not None:
        message = f"{home} is out of service, and Prometheus runs there, so no alert comes from any host"
        place, where = Label(("hosts", home, "out")), [Label(("monitoring", "host"))]
        yield error(_CODE, message, place, where, "write host of another machine in monitoring, and move it first")
    for node in fleet.nodes:
        if effective.out_of(fleet, node) is not None:
            continue
        if node.table == "gateways":
            yield from _without_sellers(fleet, node)
            signer = fleet.gateways[node.name].remote_signer
            yield from _without_helper(fleet, node, "remote_signers", signer.signer if signer is not None else None)
        elif node.table == "orchestrators":
            yield from _without_helper(fleet, node, "redeemers", fleet.orchestrators[node.name].redeemer)


def _without_helper(fleet: Fleet, node: Node, table: str, helper: str | None) -> Iterator[Diagnostic]:
    """A node whose signer or redeemer of this fleet is out of service."""
    settings = getattr(fleet, table).get(helper)
    out = effective.out_of(fleet, Node(table, helper, settings)) if helper is not None and settings else None
    if out is not None:
        message = f"{helper} is out of service, and {node.name} cannot start without it"
        advice = f"let {node.name} use another one first, or take {node.name} out of service too"
        yield error(_CODE, message, Label(out.origin.paths[0]), [Label(node.path, "uses it")], advice)


def _without_sellers(fleet: Fleet, gateway: Node) -> Iterator[Diagnostic]:
    """A gateway whose list names nobody any more who sells what it buys."""
    search = searches(fleet)[gateway.name]
    if not search.closed:
        return  # others may sell to it
    for what, serves in (("video", effective.serves_video), ("AI", effective.serves_ai)):
        sellers = [fleet.nodes_by_name[name] for name in search.found if not search.why_not(name)]
        out = {node.name: _stopped(fleet, node, what) for node in sellers if serves(node)} if serves(gateway) else {}
        missing = [cause for cause in out.values() if cause is not None]
        if missing and len(missing) == len(out):
            names = first_of([*out], _SHOWN)
            message = f"gateway {gateway.name} buys {what} from {names} alone, and nobody there is in service"
            labels = [*missing[1:_SHOWN], Label((*gateway.path, "orchestrators"), "buys from nobody else")]
            advice = f"add another orchestrator to {gateway.name}, or take {gateway.name} out of service too"
            yield error(_CODE, message, missing[0], labels, advice)
            return


def _stopped(fleet: Fleet, seller: Node, what: str) -> Label | None:
    """Why an orchestrator sells nothing: it is out of service, or all who work for it are; None if it sells."""
    out = effective.out_of(fleet, seller)
    if out is not None:
        return Label(out.origin.paths[0], seller.name)
    video = what == "video"
    works = effective.transcodes(fleet, seller) if video else effective.runs_models(fleet, seller)
    own = fleet.workers_by_orchestrator.get(seller.name, ())
    outs = [effective.out_of(fleet, one) for one in own if isinstance(one.settings, Transcoder) == video]
    known = [one for one in outs if one is not None]
    if works.value or not known or len(known) < len(outs):
        return None
    return Label(known[0].origin.paths[0], f"nobody works for {seller.name}")
