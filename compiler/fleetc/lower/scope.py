"""What is monitored, and the names that the tables of alerts and panels use for it: subjects and conditions.

In: a fleet, its `monitoring` table and who reads what. Out: `Scope`; `SUBJECTS`, what a row repeats over, by name;
`CONDITIONS`, when it applies, by name. A condition returns the origins that make it true, and none if it is false.
Called by `watching.py` and `monitoring.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import floor
from typing import NamedTuple

from fleetc.analysis.funds import funds, payers
from fleetc.analysis.scraping import AGENT, Reading
from fleetc.blueprint.monitoring import TargetLabel
from fleetc.language import effective
from fleetc.language.fleet import NODE_TABLES, Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Duration, parse_duration
from fleetc.language.signing import talks_to_chain
from fleetc.lower.planned import (
    Wanted,
    alike,
    asked,
    cap,
    highest_gas_price,
    lists,
    lowest_gas_price,
    release,
    session_limit,
    transcoders,
)
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, default, derived, given
from fleetc.upstream import NETWORKS, REDEMPTION_GAS

GWEI = Decimal(10**9)
DEFAULTS = {"runway_low": parse_duration("24h")}
"""Thresholds that hold where the spec has none and its type has no default."""
CHAIN_TABLES = ("gateways", "orchestrators", "remote_signers", "redeemers", "reward_callers")
"""The nodes that can talk to a chain. Workers never do."""
_ZEROS = re.compile("(?<=[hm])0[ms]")


class Scope(NamedTuple):
    """What alerts and panels are made for. `readings` are the scraped ones, `kept` the labels sums keep."""

    fleet: Fleet
    settings: Monitoring
    readings: tuple[Reading, ...]
    kept: tuple[str, ...]

    def origin(self, field: str) -> Origin:
        """The origin of a threshold: the spec, or its documented default."""
        if field in self.settings.model_fields_set:
            return given("monitoring", field)
        return default(f"the default of {field}", ("monitoring",))

    def threshold(self, field: str) -> str | int | Duration:
        """A threshold of the spec, or its default. Raises KeyError if there is no such field."""
        value: str | int | Duration | None = dict(self.settings)[field]
        return DEFAULTS[field] if value is None else value

    def written(self, field: str) -> str:
        """A threshold as people write it."""
        return _ZEROS.sub("", str(self.threshold(field)))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The monitored nodes."""
        return tuple(r.node for r in self.readings if r.node is not None)

    @property
    def reward_round(self) -> str:
        """Length of a round, as a PromQL duration."""
        length = self.settings.reward_round
        minutes = 22 * 60 if length is None else length.whole_seconds // 60
        return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"


class Subject(NamedTuple):
    """One subject that a row repeats over. Texts can use its `words`, and expressions compare with its `amounts`.

    `labels` are those of an alert, `origins` why it is monitored.
    """

    name: str
    words: Mapping[str, str]
    labels: tuple[TargetLabel, ...]
    origins: tuple[Origin, ...]
    amounts: Mapping[str, Decimal]


# --- subjects ---------------------------------------------------------------------------------------


def _fleet(scope: Scope) -> Iterator[Subject]:
    network = NETWORKS.get(scope.fleet.fleet.network)
    gas = network.redemption_gas if network else REDEMPTION_GAS
    yield Subject("", {}, (), (), {"redemption_gas": Decimal(gas)})


def _hosts_with_agents(scope: Scope) -> Iterator[Subject]:
    for host in sorted({r.host for r in scope.readings if r.by == AGENT}):
        path = ("hosts", host)
        label = TargetLabel("host", host, derived("the host that is silent", path))
        yield Subject(host, {"host": host}, (label,), (derived("an agent reads this host", path),), {})


def _paying_wallets(scope: Scope) -> Iterator[Subject]:
    runways = {one.wallet: one.runway for one in funds(scope.fleet)}
    for name in _payers(scope):
        wallet, path = scope.fleet.wallets[name], ("wallets", name)
        label = TargetLabel("wallet", name, derived("the wallet that is judged", path))
        planned = {"deposit": wallet.deposit, "reserve": wallet.reserve}
        known = {what: amount for what, amount in planned.items() if amount is not None}
        amounts = {what: Decimal(amount.wei) / GWEI for what, amount in known.items()}
        runway = runways.get(name)
        if runway is not None:
            amounts["runway"] = Decimal(floor(runway * 3600))
        yield Subject(
            name,
            {"wallet": name, **{what: str(amount) for what, amount in known.items()}},
            (label,),
            (derived("a node pays from this wallet", path),),
            amounts,
        )


def _kinds_of_exporters(scope: Scope) -> Iterator[Subject]:
    read = [r for r in scope.readings if r.job == "gpu"]
    origins = tuple(r.origin for r in read)
    exporters = (scope.fleet.hosts[r.host].gpu_exporter for r in read)
    for kind in sorted({exporter.kind for exporter in exporters if exporter is not None}):
        label = TargetLabel("exporter", kind, derived("the kind of exporter", *(o.paths[0] for o in origins)))
        yield Subject(kind, {"exporter": kind}, (label,), origins, {})


def _planned_as(what: str, wanted: Wanted, tables: Sequence[str]) -> Subjects:
    """The planned values of nodes in these tables, each with its nodes."""

    def subjects(scope: Scope) -> Iterator[Subject]:
        for same in alike(scope.fleet, (node for node in scope.nodes if node.table in tables), wanted):
            origin = derived(f"{what} of these nodes", *same.paths)
            label = TargetLabel("planned", same.want.text, origin)
            words = {"nodes": same.nodes, "planned": same.want.text, **same.want.words}
            yield Subject(same.want.text, words, (label,), (origin,), same.want.amounts)

    return subjects


def _lists(scope: Scope) -> Iterator[Subject]:
    for one in lists(scope.fleet, scope.nodes):
        origin = derived("gateways buy from this list alone", *one.paths)
        listed = ", ".join(one.orchestrators)
        words = {"gateways": "|".join(one.gateways), "orchestrators": "|".join(one.orchestrators), "listed": listed}
        yield Subject(listed, words, (TargetLabel("listed", listed, origin),), (origin,), {})


def _gateways_with_lists(scope: Scope) -> Iterator[Subject]:
    found = [
        node for node in _video_gateways(scope) if isinstance(node.settings, Gateway) and node.settings.orchestrators
    ]
    if found:
        origin = derived("gateways with a list of orchestrators", *((*node.path, "orchestrators") for node in found))
        yield Subject("", {"gateways": "|".join(node.name for node in found)}, (), (origin,), {})


Subjects = Callable[[Scope], Iterator[Subject]]

SUBJECTS: dict[str, Subjects] = {
    "fleet": _fleet,
    "host with an agent": _hosts_with_agents,
    "paying wallet": _paying_wallets,
    "kind of GPU exporter": _kinds_of_exporters,
    "planned release": _planned_as("the release", release, NODE_TABLES),
    "planned session limit": _planned_as("the session limit", session_limit, ("gateways", "orchestrators")),
    "planned number of transcoders": _planned_as("the transcoders", transcoders, ("orchestrators",)),
    "planned cap": _planned_as("the cap", cap, ("gateways", "remote_signers")),
    "planned price": _planned_as("the price", asked, ("orchestrators",)),
    "planned lowest gas price": _planned_as("the lowest gas price", lowest_gas_price, CHAIN_TABLES),
    "planned highest gas price": _planned_as("the highest gas price", highest_gas_price, CHAIN_TABLES),
    "list of orchestrators": _lists,
    "gateways with a list": _gateways_with_lists,
}

# --- conditions -------------------------------------------------------------------------------------


def _payers(scope: Scope) -> tuple[str, ...]:
    """The wallets of monitored nodes that pay, sorted."""
    read = {node.name for node in scope.nodes}
    return tuple(sorted({wallet for wallet, node in payers(scope.fleet) if node.name in read}))


def _video(scope: Scope) -> tuple[Node, ...]:
    nodes = (node for node in scope.nodes if isinstance(node.settings, Gateway | Orchestrator))
    return tuple(node for node in nodes if effective.serves_video(node))


def _video_gateways(scope: Scope) -> tuple[Node, ...]:
    return tuple(node for node in _video(scope) if isinstance(node.settings, Gateway))


def _ai_gateways(scope: Scope) -> tuple[Node, ...]:
    return tuple(n for n in scope.nodes if isinstance(n.settings, Gateway) and effective.serves_ai(n))


def _runners(scope: Scope) -> tuple[Node, ...]:
    return tuple(node for node in scope.nodes if effective.runs_models(scope.fleet, node).value)


def reward_caller(fleet: Fleet, node: Node) -> Origin | None:
    """Why a node calls reward: the spec sets it, or it is an orchestrator and its wallet's only user. Else None."""
    if not fleet.on_chain or not isinstance(node.settings, ChainSettings) or node.settings.wallet is None:
        return None
    caller = effective.calls_reward(fleet, node, node.settings)
    if caller is not None:
        return caller.origin if caller.value else None
    if isinstance(node.settings, Orchestrator):
        return derived("an orchestrator that alone holds its wallet calls reward", node.path)
    return None


def _reward_callers(scope: Scope, subject: Subject) -> tuple[Origin, ...]:
    found = (reward_caller(scope.fleet, node) for node in scope.nodes)
    return tuple(origin for origin in found if origin is not None)


def _planned(what: str) -> Condition:
    return lambda scope, subject: (given("wallets", subject.name, what),) if what in subject.amounts else ()


def _some(reason: str, nodes: Callable[[Scope], Iterable[Node]]) -> Condition:
    """The condition that there are such nodes."""
    return lambda scope, subject: _together(reason, [node.path for node in nodes(scope)])


def _together(reason: str, paths: Iterable[Path]) -> tuple[Origin, ...]:
    unique = tuple(dict.fromkeys(paths))
    return (derived(reason, *unique),) if unique else ()


def _on_chain(*tables: str) -> Callable[[Scope], Iterable[Node]]:
    """The nodes in these tables that talk to the chain."""
    return lambda scope: (n for n in scope.nodes if n.table in tables and talks_to_chain(scope.fleet, n))


def _spending_is_counted(scope: Scope, subject: Subject) -> tuple[Origin, ...]:
    """A gateway counts what it spends. False for a remote signer, and for a node without metrics."""
    read = {node.name for node in scope.nodes}
    paying = [node for wallet, node in payers(scope.fleet) if wallet == subject.name]
    counted = all(isinstance(node.settings, Gateway) and node.name in read for node in paying)
    return _together("gateways that pay from it", (node.path for node in paying)) if counted else ()


def _verified(scope: Scope, subject: Subject) -> tuple[Origin, ...]:
    return () if scope.settings.verify_every is None else (given("monitoring", "verify_every"),)


def _heard(scope: Scope, subject: Subject) -> tuple[Origin, ...]:
    project = scope.settings.project
    return () if project is None or project.heartbeat is None else (given("monitoring", "project", "heartbeat"),)


def _probes(service: str) -> Condition:
    return lambda scope, subject: tuple(
        r.origin for r in scope.readings if r.probe is not None and r.probe.service == service
    )


Condition = Callable[[Scope, Subject], tuple[Origin, ...]]

CONDITIONS: dict[str, Condition] = {
    "always": lambda scope, subject: subject.origins,
    "nodes are read": _some("every node with monitor = true", lambda scope: scope.nodes),
    "exporters are read": lambda scope, subject: tuple(r.origin for r in scope.readings if r.node is None),
    "hosts are measured": lambda scope, subject: tuple(
        dict.fromkeys(r.origin for r in scope.readings if r.job == "node")
    ),
    "wallets pay": lambda scope, subject: _together("wallets that pay", (("wallets", name) for name in _payers(scope))),
    "its deposit is planned": _planned("deposit"),
    "its reserve is planned": _planned("reserve"),
    "its spending is counted": _spending_is_counted,
    "its runway is planned": lambda scope, subject: subject.origins if "runway" in subject.amounts else (),
    "gateways pay": _some("gateways that pay", _on_chain("gateways")),
    "tickets are received": _some("orchestrators on a chain", _on_chain("orchestrators")),
    "tickets are redeemed": _some("nodes that redeem tickets", _on_chain("orchestrators", "redeemers")),
    "prices are told": _some("nodes with prices", _on_chain("gateways", "orchestrators", "remote_signers")),
    "fleetc verify is run": _verified,
    "somebody listens for the heartbeat": _heard,
    "video is served": _some("nodes that serve video", _video),
    "gateways serve video": _some("gateways for video", _video_gateways),
    "gateways serve AI": _some("gateways for AI", _ai_gateways),
    "gateways are read": _some("gateways", lambda scope: (*_video_gateways(scope), *_ai_gateways(scope))),
    "models run": _some("nodes that run models", _runners),
    "reward is called": _reward_callers,
    "slots are asked": _probes("signaling"),
    "health is asked": _probes("orchestrator-health"),
    "runners are asked": _probes("live-runner"),
}
