"""The pictures beside the alerts: one panel for each number that an alert judges, with the same expression and limit.

In: what is watched (`Scope`) and its alerts. Out: `Panel`s by topic, for a dashboard whose variables host, node, role
and region filter all of them. Called by `monitoring.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from fleetc.blueprint.monitoring import VARIABLES, Alert, Panel, Query
from fleetc.language import effective
from fleetc.lower.promql import equals, matches, series, summed
from fleetc.lower.scope import (
    NODES,
    Scope,
    ai_gateways,
    exporter_kinds,
    health_answers,
    left,
    memory_share,
    paying_wallets,
    reward_origins,
    sellers_of_sessions,
    sessions_share,
    slots_answer,
    window,
    without_ai_orchestrator,
    without_orchestrator,
)
from fleetc.places.origin import derived

CHOSEN = tuple(matches(name, f"${name}") for name in VARIABLES)
_HOSTS = tuple(matches(name, f"${name}") for name in ("host", "region"))
_NODE = "{{node}}"


def panels(scope: Scope, alerts: Sequence[Alert]) -> Iterator[Panel]:
    """All panels of a fleet, by topic."""
    by_name = {alert.name: alert for alert in alerts}
    if "NodeDown" in by_name:
        yield from _nodes(scope, by_name)
    yield from _funds(scope, alerts)
    if "SessionsNearLimit" in by_name:
        yield from _sessions(scope, by_name)
    yield from _orchestrators(scope, by_name)
    yield from _containers(scope)
    for kind in exporter_kinds(scope):
        alert = by_name["GpuMemoryHigh"]
        yield Panel(
            title=f"GPU memory, {kind}",
            group=alert.group,
            unit="percentunit",
            queries=(Query(memory_share(scope, kind, *_HOSTS), "{{host}} {{gpu}}{{uuid}}"),),
            description="Used share of the memory of each GPU.",
            threshold=alert.threshold,
            origins=alert.origins,
        )
    if "RewardNotCalled" in by_name:
        yield from _rewards(scope, by_name)
    if "AvatarSignalingSilent" in by_name:
        yield from _avatars(scope, by_name)


def _nodes(scope: Scope, alerts: dict[str, Alert]) -> Iterator[Panel]:
    down, restarting = alerts["NodeDown"], alerts["NodeRestarting"]
    yield Panel(
        title="Nodes that answer",
        group=down.group,
        unit="short",
        queries=(Query(series("up", (scope.name, NODES, *CHOSEN)), _NODE),),
        description="1 where the last reading succeeded, 0 where it failed.",
        threshold=Decimal(1),
        below=True,
        origins=down.origins,
    )
    start = series("process_start_time_seconds", (scope.name, NODES, *CHOSEN))
    yield Panel(
        title="Restarts within an hour",
        group=restarting.group,
        unit="short",
        queries=(Query(f"changes({start}[1h])", _NODE),),
        description="How often each node has started within the last hour.",
        threshold=restarting.threshold,
        origins=restarting.origins,
    )


def _funds(scope: Scope, alerts: Sequence[Alert]) -> Iterator[Panel]:
    """Deposit and reserve of each wallet. Wallets are no nodes, so the variables do not filter them."""
    judged = {alert.expr.split(" < ")[0]: alert for alert in alerts if alert.name in ("DepositLow", "ReserveLow")}
    names = paying_wallets(scope)
    for name in names:
        for what in ("deposit", "reserve"):
            expression = left(scope, name, what)
            alert = judged.get(expression)
            if alert is None:  # the spec does not say what the wallet should hold, so nothing judges it
                continue
            yield Panel(
                title=f"{what.capitalize()} of {name}",
                group="funds",
                unit="suffix: gwei",
                queries=(Query(expression, name),),
                description=f"What is left of the {what}, and from when it is low. The node tells it once it has paid.",
                threshold=alert.threshold,
                below=True,
                origins=alert.origins,
            )
    if names:
        paid = derived("wallets that pay", *(("wallets", name) for name in names))
        for title, metric, limit in (
            ("Payments that failed", "livepeer_payment_create_errors", Decimal(0)),
            ("Tickets sent", "livepeer_tickets_sent", None),
        ):
            rate = summed(scope.kept, f"increase({series(metric, (scope.name, *CHOSEN))}[5m])")
            yield Panel(title, "funds", "short", (Query(rate, _NODE),), "In the last 5 minutes.", (paid,), limit)


def _sessions(scope: Scope, alerts: dict[str, Alert]) -> Iterator[Panel]:
    alert = alerts["SessionsNearLimit"]
    yield Panel(
        title="Share of the session limit",
        group=alert.group,
        unit="percentunit",
        queries=(Query(sessions_share(scope, *CHOSEN), _NODE),),
        description="Video sessions of each node as a share of the most it takes.",
        threshold=alert.threshold,
        origins=alert.origins,
    )
    current = summed(scope.kept, series("livepeer_current_sessions_total", (scope.name, *CHOSEN)))
    video = derived("nodes that serve video", *(node.path for node in sellers_of_sessions(scope)))
    yield Panel("Sessions", alert.group, "short", (Query(current, _NODE),), "Video sessions of each node.", (video,))


def _orchestrators(scope: Scope, alerts: dict[str, Alert]) -> Iterator[Panel]:
    if "NoOrchestrator" in alerts:
        alert = alerts["NoOrchestrator"]
        lost = summed(scope.kept, f"increase({without_orchestrator(scope, *CHOSEN)}[5m])")
        yield Panel(
            title="Segments without an orchestrator",
            group=alert.group,
            unit="short",
            queries=(Query(lost, _NODE),),
            description="In the last 5 minutes.",
            threshold=alert.threshold,
            origins=alert.origins,
        )
    if "NoAiOrchestrator" in alerts:
        alert = alerts["NoAiOrchestrator"]
        chosen = (scope.name, equals("role", "gateway"), *CHOSEN)
        labels = (*scope.kept, "model_name")
        known = summed(labels, series("livepeer_ai_orchestrators_available_total", chosen))
        yield Panel(
            title="Orchestrators for AI",
            group=alert.group,
            unit="short",
            queries=(Query(known, "{{node}} {{model_name}}"),),
            description="How many each gateway knew when it last looked, whether they answer or not.",
            threshold=Decimal(1),
            below=True,
            origins=alert.origins,
        )
        failed = summed(labels, f"increase({without_ai_orchestrator(scope, *CHOSEN)}[5m])")
        yield Panel(
            title="AI requests without an orchestrator",
            group=alert.group,
            unit="short",
            queries=(Query(failed, "{{node}} {{model_name}}"),),
            description="In the last 5 minutes.",
            threshold=alert.threshold,
            origins=alert.origins,
        )
    buyers = [n for n in (*sellers_of_sessions(scope), *ai_gateways(scope)) if n.table == "gateways"]
    if buyers:
        errors = series("livepeer_discovery_errors_total", (scope.name, *CHOSEN))
        yield Panel(
            title="Discovery errors",
            group="work",
            unit="short",
            queries=(Query(summed((*scope.kept, "error_code"), f"increase({errors}[5m])"), "{{node}} {{error_code}}"),),
            description="Orchestrators that did not answer a gateway, in the last 5 minutes.",
            origins=(derived("gateways", *dict.fromkeys(node.path for node in buyers)),),
        )


def _containers(scope: Scope) -> Iterator[Panel]:
    nodes = [r.node for r in scope.readings if r.node is not None]
    runners = [node for node in nodes if effective.runs_models(scope.fleet, node).value]
    if not runners:
        return
    labels = (*scope.kept, "pipeline", "model_name")
    workers = (scope.name, matches("role", "orchestrator|ai-worker"), *CHOSEN)
    queries = tuple(
        Query(
            summed(labels, series(f"livepeer_ai_container_{state}", workers)), f"{{{{node}}}} {{{{model_name}}}} {word}"
        )
        for state, word in (("in_use", "in use"), ("idle", "idle"))
    )
    origin = derived("nodes that run models", *(node.path for node in runners))
    yield Panel("Containers with models", "gpus", "short", queries, "Busy and free containers by model.", (origin,))


def _rewards(scope: Scope, alerts: dict[str, Alert]) -> Iterator[Panel]:
    alert = alerts["RewardNotCalled"]
    errors = series("livepeer_reward_call_errors", (scope.name, equals("reward", "caller"), *CHOSEN))
    yield Panel(
        title="Failed calls of reward",
        group=alert.group,
        unit="short",
        queries=(Query(summed(scope.kept, f"increase({errors}[{window(scope.round_minutes)}])"), _NODE),),
        description="In the last round. A node counts failures alone, and tries once in a round.",
        threshold=alert.threshold,
        origins=reward_origins(scope),
    )


def _avatars(scope: Scope, alerts: dict[str, Alert]) -> Iterator[Panel]:
    for title, name, expression, legend in (
        ("Slots that answer", "AvatarSignalingSilent", slots_answer(scope, *_HOSTS), "{{host}} {{slot}} {{avatar}}"),
        ("Health reports", "AvatarHealthSilent", health_answers(scope, *_HOSTS), "{{host}}"),
    ):
        alert = alerts[name]
        yield Panel(
            title=title,
            group=alert.group,
            unit="short",
            queries=(Query(expression, legend),),
            description="1 where the last question was answered, 0 where it was not.",
            threshold=Decimal(1),
            below=True,
            origins=alert.origins,
        )
