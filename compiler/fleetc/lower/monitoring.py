"""Lowers the monitoring of the fleet: targets with their labels, alerts, panels, and what is not monitored.

In: a fleet. Out: `MonitoringBlueprint`, or None if there is nothing to monitor. Called by `lower/__init__.py`. Labels
are set on targets, never globally in Prometheus: it may monitor other things too, and expands `$` in global labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import (
    AGENT,
    CENTRAL,
    NOBODY,
    Probe,
    Reading,
    can_be_probed,
    prometheus_host,
    readings,
    receiver,
)
from fleetc.blueprint.monitoring import Agent, MonitoringBlueprint, ScrapeTarget, TargetLabel, Unwatched
from fleetc.language import effective, monitoring
from fleetc.language.answers import once_for_all
from fleetc.language.effective_avatar import slots_of
from fleetc.language.effective_monitoring import alertmanager_listener
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.signing import talks_to_chain
from fleetc.lower.monitoring_project import lower_project
from fleetc.lower.scope import Scope, reward_caller
from fleetc.lower.watching import alert_rows, alerts, panel_rows, panels
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, default, derived, given

DEFAULT_INTERVAL = 30
ROLES = {
    "gateways": "gateway",
    "orchestrators": "orchestrator",
    "transcoders": "transcoder",
    "ai_workers": "ai-worker",
    "remote_signers": "remote-signer",
    "redeemers": "redeemer",
    "reward_callers": "reward-caller",
}
"""The label `role` of the nodes in each table."""


@once_for_all
def lower_monitoring(fleet: Fleet) -> MonitoringBlueprint | None:
    """The monitoring of the fleet; None if the spec does not ask for it and no node serves metrics."""
    found = tuple(readings(fleet))
    if not found and fleet.monitoring is None:
        return None
    settings = fleet.monitoring or monitoring.Monitoring()
    kept = ("fleet", "host", "node", "role", "region", *sorted(settings.labels))
    scope = Scope(fleet, settings, tuple(r for r in found if r.by != NOBODY), kept)
    home = prometheus_host(fleet)
    interval = settings.scrape_interval
    return MonitoringBlueprint(
        home=home.value if home else "",
        interval=Chosen(DEFAULT_INTERVAL, default("the default of scrape_interval", ("monitoring",)))
        if interval is None
        else Chosen(interval.whole_seconds, given("monitoring", "scrape_interval")),
        receiver=receiver(fleet),
        token_file=_given(settings.receiver_token.name if settings.receiver_token else None, "receiver_token"),
        alertmanagers=tuple(_alertmanagers(settings, bool(home))),
        rule_files=tuple(
            Chosen(path, given("monitoring", "rule_files", index)) for index, path in enumerate(settings.rule_files)
        ),
        runbook=_given(str(settings.runbook) if settings.runbook else None, "runbook"),
        targets=(*(_target(fleet, settings, r) for r in found if r.by == CENTRAL), *_verify(settings)),
        agents=tuple(_agents(fleet, settings, found)),
        alerts=tuple(alerts(scope, alert_rows())),
        panels=tuple(panels(scope, panel_rows())),
        unwatched=tuple(_unwatched(fleet, found)),
        programs=lower_project(fleet, settings),
    )


def _alertmanagers(settings: monitoring.Monitoring, at_home: bool) -> Iterator[Chosen[str]]:
    """Those of the spec, and the one beside Prometheus."""
    listed = [str(address) for address in settings.alertmanagers]
    for index, address in enumerate(listed):
        yield Chosen(address, given("monitoring", "alertmanagers", index))
    if settings.project is not None and at_home:
        own = alertmanager_listener(settings.project)
        if str(own.value) not in listed:
            yield Chosen(str(own.value), own.origin)


def _given(value: str | None, field: str) -> Chosen[str] | None:
    return None if value is None else Chosen(value, given("monitoring", field))


def _agents(fleet: Fleet, settings: monitoring.Monitoring, found: tuple[Reading, ...]) -> Iterator[Agent]:
    by_host: dict[str, list[ScrapeTarget]] = {}
    for reading in found:
        if reading.by == AGENT:
            by_host.setdefault(reading.host, []).append(_target(fleet, settings, reading))
    for host in sorted(by_host):
        yield Agent(host, tuple(by_host[host]))


def _target(fleet: Fleet, settings: monitoring.Monitoring, reading: Reading) -> ScrapeTarget:
    labels = (*_labels(fleet, reading), *_further(settings))
    probe = reading.probe.url if reading.probe else ""
    return ScrapeTarget(reading.job, str(reading.address), tuple(sorted(labels)), reading.origin, probe)


def _verify(settings: monitoring.Monitoring) -> Iterator[ScrapeTarget]:
    """Where what `fleetc verify` found is read. Its text has labels of fleet, host and node; the target has none."""
    if settings.verify_exporter is not None:
        origin = given("monitoring", "verify_exporter")
        label = TargetLabel("instance", "fleetc-verify", derived("what writes the text", *origin.paths))
        yield ScrapeTarget("verify", str(settings.verify_exporter), (label,), origin)


def _labels(fleet: Fleet, reading: Reading) -> Iterator[TargetLabel]:
    host, node = ("hosts", reading.host), reading.node
    yield TargetLabel("fleet", fleet.fleet.name, given("fleet", "name"))
    yield TargetLabel("host", reading.host, derived("its host", host))
    region = fleet.hosts[reading.host].region
    if region is not None:
        yield TargetLabel("region", region, given(*host, "region"))
    if reading.probe is not None:
        yield from _of_probe(reading, reading.probe)
    elif node is None:
        yield TargetLabel("instance", f"{reading.host}-{reading.job}", derived("one exporter on each host", host))
    else:
        yield from _of_node(fleet, node)


def _of_node(fleet: Fleet, node: Node) -> Iterator[TargetLabel]:
    yield TargetLabel("instance", node.name, derived("its name, as many nodes listen on one address", node.path))
    yield TargetLabel("node", node.name, derived("its name", node.path))
    yield TargetLabel("role", ROLES[node.table], derived("its table in the spec", node.path))
    if isinstance(node.settings, Gateway | Orchestrator):
        yield TargetLabel("mode", node.settings.mode, given(*node.path, "mode"))
    yield from _of_wallet(fleet, node)


def _of_probe(reading: Reading, probe: Probe) -> Iterator[TargetLabel]:
    origin = reading.origin
    yield TargetLabel("service", probe.service, derived("the service that is asked", *origin.paths))
    if probe.runner:
        yield TargetLabel("instance", f"{reading.host}-{probe.runner}", derived("one on each host", *origin.paths))
        yield TargetLabel("runner", probe.runner, derived("its name", ("runners", probe.runner)))
        return
    if probe.slot is None:
        yield TargetLabel("instance", f"{reading.host}-{probe.service}", derived("one on each host", *origin.paths))
        return
    yield TargetLabel("instance", probe.slot.project, derived("its Compose project", probe.slot.path))
    yield TargetLabel("avatar", probe.slot.avatar, derived("its slot", probe.slot.path))
    yield TargetLabel("slot", str(probe.slot.number), origin)


def _of_wallet(fleet: Fleet, node: Node) -> Iterator[TargetLabel]:
    if fleet.on_chain and isinstance(node.settings, ChainSettings) and node.settings.wallet is not None:
        yield TargetLabel("wallet", node.settings.wallet, given(*node.path, "wallet"))
        caller = reward_caller(fleet, node)
        if caller is not None:
            yield TargetLabel("reward", "caller", caller)


def _further(settings: monitoring.Monitoring) -> Iterator[TargetLabel]:
    for name, value in settings.labels.items():
        yield TargetLabel(name, value, given("monitoring", "labels", name))


# --- what nothing watches -------------------------------------------------------------------------


def _unwatched(fleet: Fleet, found: tuple[Reading, ...]) -> Iterator[Unwatched]:
    """What a reader of the alerts may believe is monitored, but is not."""
    for reading in found:
        if reading.by == NOBODY and reading.node is not None:
            why = f"it serves metrics on the loopback of host {reading.host} and nothing there reads them"
            yield Unwatched(f"node {reading.node.name}", why, derived(why, reading.node.path))
    for node in fleet.nodes:
        out = effective.out_of(fleet, node)
        if out is not None:
            yield Unwatched(f"node {node.name}", f"it is out of service {out.value}", out.origin)
        elif not node.settings.monitor:
            why = "it serves no metrics without monitor = true"
            yield Unwatched(f"node {node.name}", why, derived(why, node.path))
    for name, host in sorted(fleet.hosts.items()):
        if host.gpus and host.gpu_exporter is None:
            why = "nodes serve no such metric and the host has no gpu_exporter"
            yield Unwatched(f"GPU memory of host {name}", why, derived(why, ("hosts", name)))
    yield from _unwatched_runners(fleet)
    for stack in fleet.stacks:
        for slot in slots_of(fleet, stack):
            if slot.asleep:
                yield Unwatched(f"avatar {slot.avatar}", "its slot sleeps", given(*slot.path, "asleep"))
        if fleet.hosts[stack.settings.host].blackbox_port is None:
            why = "no blackbox exporter asks them as the host has no blackbox_port"
            yield Unwatched(f"avatar slots of {stack.name}", why, derived(why, ("hosts", stack.settings.host)))
        else:
            why = "the matchmaker interface is not public and only signaling servers are probed"
            yield Unwatched(f"registration of the slots of {stack.name}", why, derived(why, stack.path))
    earning = [node.path for node in fleet.nodes if node.table == "orchestrators" and talks_to_chain(fleet, node)]
    if earning:
        why = "nodes serve no such metric and only fleetc verify asks for it"
        yield Unwatched("whether orchestrators are in the active set", why, derived(why, *earning))
    for name, wallet in sorted(fleet.wallets.items()):
        if fleet.on_chain and wallet.minimum_balance is not None and name in fleet.nodes_by_wallet:
            why = "nodes serve the deposit and the reserve of those that pay but no balance"
            yield Unwatched(f"balance of wallet {name}", why, given("wallets", name, "minimum_balance"))


def _unwatched_runners(fleet: Fleet) -> Iterator[Unwatched]:
    """Live runners that no exporter asks for their health beside an orchestrator that offers them."""
    for offer in offers(fleet):
        host, seller = offer.orchestrator.settings.host, offer.orchestrator.name
        path: Path = ("hosts", host)
        why = ""
        if offer.runner.health is None:
            why, path = "it registers itself and the spec has no health URL", offer.of_runner
        elif not can_be_probed(offer.runner):
            why, path = "a blackbox exporter takes another status than 2xx for a failure", offer.of_runner
        elif fleet.hosts[host].blackbox_port is None:
            why = f"no blackbox exporter asks it as host {host} has no blackbox_port"
        if why:
            yield Unwatched(f"live runner {offer.name} of {seller}", why, derived(why, path))
