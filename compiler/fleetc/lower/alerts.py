"""When the fleet's Prometheus raises an alert: for what no message of a node says, and only where it can happen.

In: what is watched (`Scope`). Out: `Alert`s with expression, threshold and text. Called by `monitoring.py`. Every
metric is one of `upstream/metrics.toml`, which says where it comes from.

What the node does not export is not guessed. It counts failed calls of reward but no successful ones, so an alert tells
of failures and of a caller that is away for a round. It tells the deposit of a wallet, not its balance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from fleetc.analysis.scraping import AGENT
from fleetc.blueprint.monitoring import Alert, Live, Said, TargetLabel
from fleetc.language.gateway import Gateway
from fleetc.language.quantities import Wei
from fleetc.lower.promql import differs, equals, rising, series, summed
from fleetc.lower.scope import (
    JOB,
    NODES,
    Scope,
    ai_gateways,
    exporter_kinds,
    health_answers,
    left,
    memory_share,
    paying_wallets,
    percent,
    plain,
    reward_origins,
    sellers_of_sessions,
    sessions_share,
    slots_answer,
    window,
    without_ai_orchestrator,
    without_orchestrator,
)
from fleetc.places.origin import Origin, derived, given

GWEI = Decimal(10**9)
CRITICAL, WARNING = "critical", "warning"
LIVE = {
    "node": Live("$labels.node"),
    "host": Live("$labels.host"),
    "job": Live("$labels.job"),
    "gpu": Live("$labels.gpu"),
    "uuid": Live("$labels.uuid"),
    "avatar": Live("$labels.avatar"),
    "slot": Live("$labels.slot"),
    "share": Live("$value | humanizePercentage"),
    "count": Live("$value | humanize"),
}
"""What a sentence may leave for an alert to fill in, by the word that stands in angle brackets for it."""


def alerts(scope: Scope) -> Iterator[Alert]:
    """All alerts of a fleet, by topic."""
    yield from _reach(scope)
    yield from _funds(scope)
    yield from _work(scope)
    yield from _gpus(scope)
    yield from _rewards(scope)
    yield from _avatars(scope)


def said(text: str, **values: str) -> Said:
    """A sentence of ours, in which <word> stands for one of `values`, which are data, or of LIVE."""
    parts = re.split(r"<(\w+)>", text)
    known: dict[str, str | Live] = {**LIVE, **values}
    return tuple(known[part] if index % 2 else part for index, part in enumerate(parts) if part)


# --- nodes and those who read them -----------------------------------------------------------------


def _reach(scope: Scope) -> Iterator[Alert]:
    nodes = [r.node.path for r in scope.readings if r.node is not None]
    exporters = [r.origin for r in scope.readings if r.node is None]
    if nodes:
        yield from _nodes(scope, derived("every node with monitor = true", *nodes))
    if exporters:
        yield Alert(
            name="ExporterDown",
            group="nodes",
            expr=f"min by (fleet, host, job) ({series('up', (scope.name, differs('job', JOB)))}) == 0",
            wait="10m",
            severity=WARNING,
            summary=said("An exporter on host <host> does not answer"),
            description=said(
                "Job <job> on host <host> has not been read for 10 minutes, so what it watches is unwatched. See that "
                "the program runs, and that it listens where hosts.<host> of the spec says."
            ),
            origins=tuple(exporters),
        )
    for host in sorted({r.host for r in scope.readings if r.by == AGENT}):
        yield Alert(
            name="AgentSilent",
            group="nodes",
            expr=f"absent({series('up', (scope.name, equals('host', host)))})",
            wait="5m",
            severity=CRITICAL,
            summary=said("No metrics come from host <name>", name=host),
            description=said(
                "The agent on host <name> has written nothing for 5 minutes: the host, the agent or the way to the "
                "receiver is down, and no other alert of that host can fire. Its configuration is "
                "monitoring/agents/<name>.yml.",
                name=host,
            ),
            labels=(TargetLabel("host", host, derived("the host that is silent", ("hosts", host))),),
            origins=(derived("an agent reads this host", ("hosts", host)),),
        )


def _nodes(scope: Scope, watched: Origin) -> Iterator[Alert]:
    yield Alert(
        name="NodeDown",
        group="nodes",
        expr=f"{series('up', (scope.name, NODES))} == 0",
        wait="5m",
        severity=CRITICAL,
        summary=said("Node <node> does not answer"),
        description=said(
            "Nothing has been read from <node> on host <host> for 5 minutes: it takes no work and earns or serves "
            "nothing. Look at its log on the host; a rollout starts it again."
        ),
        origins=(watched,),
    )
    limit = scope.settings.restarts_high
    yield Alert(
        name="NodeRestarting",
        group="nodes",
        expr=f"changes({series('process_start_time_seconds', (scope.name, NODES))}[1h]) >= {limit}",
        wait="0m",
        severity=WARNING,
        summary=said("Node <node> keeps restarting"),
        description=said(
            "It started <count> times within an hour, and every start drops its sessions. It is started again whenever"
            " it ends, so only its log on host <host> says why. The limit is monitoring.restarts_high in the spec."
        ),
        threshold=Decimal(limit),
        origins=(scope.origin("restarts_high"), watched),
    )


# --- deposits, reserves, payments -------------------------------------------------------------------


def _funds(scope: Scope) -> Iterator[Alert]:
    names = paying_wallets(scope)
    for name in names:
        wallet = scope.fleet.wallets[name]
        yield from _fund(scope, name, "deposit", wallet.deposit, scope.settings.deposit_low)
        yield from _fund(scope, name, "reserve", wallet.reserve, scope.settings.reserve_low)
    if names:
        yield Alert(
            name="PaymentErrors",
            group="funds",
            expr=rising(scope.kept, series("livepeer_payment_create_errors", (scope.name,)), "5m"),
            wait="10m",
            severity=CRITICAL,
            summary=said("Node <node> cannot pay"),
            description=said(
                "It has failed to make tickets for 10 minutes, so its streams and requests lose their orchestrators. "
                "Look at the deposit and the reserve of its wallet first, then whether it reaches the chain: rpc of "
                "the fleet in the spec."
            ),
            threshold=Decimal(0),
            origins=(derived("wallets that pay", *(("wallets", name) for name in names)),),
        )


def _fund(scope: Scope, wallet: str, what: str, planned: Wei | None, share: str) -> Iterator[Alert]:
    cost = "it buys no work, and neither it nor a sender of streams sees an error"
    if what == "reserve":
        cost = "orchestrators refuse its tickets, because no reserve backs them"
    names = {"wallet": wallet, "what": what, "cost": cost, "share": share, "planned": str(planned)}
    remaining = left(scope, wallet, what)
    labels = (TargetLabel("wallet", wallet, derived("the wallet that is judged", ("wallets", wallet))),)
    if planned is not None:  # a rule refuses a payer without
        limit = Decimal(planned.wei) / GWEI * percent(share)
        yield Alert(
            name=f"{what.capitalize()}Low",
            group="funds",
            expr=f"{remaining} < {plain(limit)} > 0",
            wait="10m",
            severity=WARNING,
            summary=said("The <what> of wallet <wallet> is low", **names),
            description=said(
                "<count> gwei are left, less than <share> of the <planned> that wallets.<wallet>.<what> of the spec "
                "plans. At zero, <cost>. Fund it on the chain; monitoring.<what>_low says from when it is low.",
                **names,
            ),
            threshold=limit,
            labels=labels,
            origins=(scope.origin(f"{what}_low"), given("wallets", wallet, what)),
        )
    yield Alert(
        name=f"{what.capitalize()}Empty",
        group="funds",
        expr=f"{remaining} == 0",
        wait="2m",
        severity=CRITICAL,
        summary=said("The <what> of wallet <wallet> is empty", **names),
        description=said(
            "What pays from this wallet has stopped: <cost>. Fund it on the chain; wallets.<wallet>.<what> of the spec"
            " says how much it is meant to be.",
            **names,
        ),
        threshold=Decimal(0),
        labels=labels,
        origins=(derived("a node pays from this wallet", ("wallets", wallet)),),
    )


# --- sessions and orchestrators ---------------------------------------------------------------------


def _work(scope: Scope) -> Iterator[Alert]:
    video, ai = sellers_of_sessions(scope), ai_gateways(scope)
    if video:
        limit = percent(scope.settings.sessions_high)
        yield Alert(
            name="SessionsNearLimit",
            group="work",
            expr=f"{sessions_share(scope)} >= {plain(limit)}",
            wait="5m",
            severity=WARNING,
            summary=said("Node <node> is near its session limit"),
            description=said(
                "<share> of its sessions are taken; at the limit it turns streams away. Raise max_sessions of <node> "
                "in the spec if its GPUs have room, or add a node. monitoring.sessions_high says what near is."
            ),
            threshold=limit,
            origins=(scope.origin("sessions_high"), derived("nodes that serve video", *(n.path for n in video))),
        )
    buyers = [n.path for n in video if isinstance(n.settings, Gateway)]
    if buyers:
        yield Alert(
            name="NoOrchestrator",
            group="work",
            expr=rising(scope.kept, without_orchestrator(scope), "5m"),
            wait="5m",
            severity=CRITICAL,
            summary=said("Gateway <node> finds no orchestrator"),
            description=said(
                "Segments pass without being transcoded, so viewers get the source alone. Look whether its "
                "orchestrators answer, whether its max_price in the spec admits any, and whether its deposit is empty."
            ),
            threshold=Decimal(0),
            origins=(derived("gateways for video", *buyers),),
        )
    if ai:
        available = series("livepeer_ai_orchestrators_available_total", (scope.name, equals("role", "gateway")))
        yield Alert(
            name="NoAiOrchestrator",
            group="work",
            # The gauge counts what is configured or discovered, whether it answers or not; only requests tell that.
            expr=f"{rising(scope.kept, without_ai_orchestrator(scope), '5m')} or {summed(scope.kept, available)} == 0",
            wait="5m",
            severity=CRITICAL,
            summary=said("Gateway <node> finds no orchestrator for AI"),
            description=said(
                "Its requests fail. Look whether its orchestrators answer and offer the model, whether its discovery in"
                " the spec finds any, and whether max_model_prices admits them."
            ),
            threshold=Decimal(0),
            origins=(derived("gateways for AI", *(n.path for n in ai)),),
        )


# --- GPUs -----------------------------------------------------------------------------------------------


def _gpus(scope: Scope) -> Iterator[Alert]:
    limit = percent(scope.settings.gpu_memory_high)
    hosts = [r.origin for r in scope.readings if r.job == "gpu"]
    for kind in exporter_kinds(scope):
        yield Alert(
            name="GpuMemoryHigh",
            group="gpus",
            expr=f"{memory_share(scope, kind)} > {plain(limit)}",
            wait="10m",
            severity=WARNING,
            labels=(TargetLabel("exporter", kind, derived("the kind of exporter", *(o.paths[0] for o in hosts))),),
            summary=said("A GPU of host <host> is nearly full"),
            description=said(
                "<share> of the memory of GPU <gpu><uuid> is used; when it is full, models fail to load and sessions "
                "fail to start. Lower capacity or take models from warm on the nodes of this host, or give them hosts "
                "of their own. monitoring.gpu_memory_high is the limit."
            ),
            threshold=limit,
            origins=(scope.origin("gpu_memory_high"), *hosts),
        )


# --- rewards ----------------------------------------------------------------------------------------------


def _rewards(scope: Scope) -> Iterator[Alert]:
    callers = reward_origins(scope)
    if not callers:
        return
    span = window(scope.round_minutes)
    mine = (scope.name, equals("reward", "caller"))
    reading = series("up", (*mine, NODES))
    yield Alert(
        name="RewardNotCalled",
        group="rewards",
        expr=rising(scope.kept, series("livepeer_reward_call_errors", mine), span),
        wait="0m",
        severity=CRITICAL,
        summary=said("Node <node> failed to call reward"),
        description=said(
            "Within the last round, about <span>, a call of reward failed. The node does not try again in that round, "
            "and its reward is lost unless somebody calls reward with livepeer_cli before the round ends. Look whether"
            " its wallet can pay gas: minimum_balance of the wallet in the spec.",
            span=span,
        ),
        threshold=Decimal(0),
        origins=(scope.origin("reward_round"), *callers),
    )
    yield Alert(
        name="RewardCallerAway",
        group="rewards",
        # A node that was not there a round ago has not been away for one.
        expr=f"max_over_time({reading}[{span}]) == 0 and {reading} offset {span}",
        wait="0m",
        severity=CRITICAL,
        summary=said("Node <node> has called no reward for a round"),
        description=said(
            "It has been away for about <span>, a whole round, so its wallet earned no reward. Start it, or name "
            "another node in reward_by of its wallet in the spec.",
            span=span,
        ),
        threshold=Decimal(0),
        origins=(scope.origin("reward_round"), *callers),
    )


# --- avatars ------------------------------------------------------------------------------------------


def _avatars(scope: Scope) -> Iterator[Alert]:
    probes = [r for r in scope.readings if r.probe is not None]
    if not probes:
        return
    yield Alert(
        name="AvatarSignalingSilent",
        group="avatars",
        expr=f"{slots_answer(scope)} == 0",
        wait="5m",
        severity=CRITICAL,
        summary=said("Signaling of slot <slot> of host <host>, avatar <avatar>, does not answer"),
        description=said(
            "A slot whose signaling server is silent cannot be registered and carries no viewer: one unit of capacity "
            "is gone, and a monitored service that is down makes the whole host ineligible for pay. Start the slot, or "
            "silence this while it sleeps on purpose. Nothing here asks the edge whether the slot is registered."
        ),
        threshold=Decimal(0),
        origins=tuple(r.origin for r in probes if r.probe is not None and r.probe.slot is not None),
    )
    yield Alert(
        name="AvatarHealthSilent",
        group="avatars",
        expr=f"{health_answers(scope)} == 0",
        wait="5m",
        severity=WARNING,
        summary=said("orchestrator-health of host <host> does not answer"),
        description=said(
            "It reports no health, so the host counts as unhealthy and can be neither woken nor upgraded remotely. "
            "Look at its container on the host; health_port of the avatar stack in the spec is where it listens."
        ),
        threshold=Decimal(0),
        origins=tuple(r.origin for r in probes if r.probe is not None and r.probe.slot is None),
    )
