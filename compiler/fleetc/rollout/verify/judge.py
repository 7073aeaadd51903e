"""Judges all answers: drift, failures and unknowns.

In: a fleet, its blueprint, what hosts and public addresses answered. Out: findings in the order of hosts, and facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

from fleetc.analysis.funds import funds
from fleetc.analysis.prices import prices_of
from fleetc.analysis.seen_market import SeenMarket
from fleetc.blueprint.blueprint import RUNNERS, Blueprint, Connection, HostBlueprint
from fleetc.language.fleet import Fleet
from fleetc.lower.common import account
from fleetc.places.diagnostic import Path
from fleetc.planner.data import UNHELPED, ProcessState
from fleetc.rollout.findings import NOT_REACHED, reaching_help
from fleetc.rollout.verify import market, replies, stack
from fleetc.rollout.verify.checks import accounts, offers, peers, registration, runners
from fleetc.rollout.verify.data import (
    Alert,
    Back,
    Check,
    Fact,
    Finding,
    HostAnswer,
    Kind,
    NodeSeen,
    UnknownError,
)
from fleetc.rollout.verify.questions import LANGUAGE_MODELS
from fleetc.text.counting import first_of

_SHORT = 12
_NAMED = 5

CHECKS: tuple[Check, ...] = (
    accounts.account,
    accounts.deposit,
    registration.by_node,
    peers.orchestrators,
    peers.workers,
    peers.payments,
    runners.warm_runners,
    offers.live_runners,
    market.nobody_sells,
)


class Verdict(NamedTuple):
    """All findings, and what is worth showing of what was said."""

    findings: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    markets: tuple[SeenMarket, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 on drift, else 4 if a part could not be checked, else 0."""
        kinds = {finding.kind for finding in self.findings}
        return 1 if "drift" in kinds else 4 if "unknown" in kinds else 0


def judge(
    fleet: Fleet,
    blueprint: Blueprint,
    answers: Mapping[str, HostAnswer],
    public: Iterable[Finding],
    backs: Mapping[str, Back] = MappingProxyType({}),
) -> Verdict:
    """What the answers of some hosts show; `public` is what their public addresses did, and `backs` are rollbacks that
    were the last rollout of a host."""
    findings: list[Finding] = []
    facts: list[Fact] = []
    running: list[NodeSeen] = []
    markets: list[SeenMarket] = []
    nodes = {(node.table, node.name): node for node in fleet.nodes}
    paying = {row.node: row for row in funds(fleet)}
    edges: dict[str, list[Connection]] = {}
    for edge in blueprint.edges:
        edges.setdefault(edge.source, []).append(edge)
    for host in blueprint.in_order:
        if host.name not in answers:
            continue
        answer = answers[host.name]
        back = backs.get(host.name)
        if back is not None and back.release != answer.release:
            back = None  # the host was changed since
        findings += _of_host(fleet, blueprint, host, answer, back)
        if answer.unknown or answer.known_as not in _own_names(blueprint, host):
            continue
        findings += registration.by_chain(fleet, host, answer)
        alive = {process.node for process in answer.processes if process.running}
        unanswered = {process.node: process.unanswered for process in answer.processes}
        for service in (service for service in host.services if service.name in alive and service.table != RUNNERS):
            node, own = nodes[service.table, service.name], tuple(edges.get(service.name, ()))
            paid = paying.get(service.name)
            seen = NodeSeen(fleet, host, service, answer.replies, node, paid, own)
            findings += _of_node(seen, unanswered.get(service.name, ()))
            facts += _facts(seen)
            running.append(seen)
            with suppress(UnknownError):  # the check of it says why
                markets += market.seen_by(seen)
        findings += stack.findings(fleet, host, answer.replies)
        facts += stack.facts(host, answer.replies)
    findings += market.findings(fleet, blueprint, running, markets)
    return Verdict(tuple(_once((*findings, *public))), tuple(facts), tuple(markets))


_OF_WALLETS = ("deposit-low", "deposit-unlocking", "reserve-low", "wallet-balance-low", "wallet-empty")
"""The chain's data of a wallet, which each of its hosts and nodes may report."""


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each finding; those of a wallet or an orchestrator only once, from the first reporter."""
    subjects: set[tuple[str, Path | str]] = set()
    for finding in dict.fromkeys(findings):
        if finding.code in _OF_WALLETS or finding.code in registration.CODES:
            subject = finding.place if finding.code in _OF_WALLETS else finding.node
            if (finding.code, subject) in subjects:
                continue
            subjects.add((finding.code, subject))
        yield finding


def _of_node(seen: NodeSeen, unanswered: Iterable[str]) -> Iterator[Finding]:
    """Findings of all checks; a check that cannot tell reports its reason, once, if its host has not reported it."""
    paths = [words.rpartition(" to ")[2] for words in unanswered]
    silent = any(words.startswith("it answers nothing to ") for words in unanswered)
    reasons: dict[str, None] = {}
    for check in CHECKS:
        try:
            yield from check(seen)
        except UnknownError as problem:
            reasons[str(problem)] = None
    for reason in reasons:
        if not any(path in reason for path in paths) and not (silent and "does not answer" in reason):
            yield seen.found("unknown", "not-answered", reason)


def _facts(seen: NodeSeen) -> Iterator[Fact]:
    """What people look for first: its release, what it asks or pays, what it can pay from."""
    where, name = seen.service.health.status, seen.service.name
    try:
        status = replies.mapping(seen.reply(where, "/status"), "/status")
    except UnknownError:
        return
    if "Version" in status:
        yield Fact(seen.host.name, name, "release", replies.shown(status["Version"]))
    prices = status.get("BroadcasterPrices")
    if isinstance(prices, dict) and "default" in prices:
        yield Fact(seen.host.name, name, "asks", f"{replies.shown(prices['default'])} wei a pixel")
    try:
        cap = replies.mapping(seen.reply(where, "/getBroadcastConfig"), "/getBroadcastConfig").get("MaxPrice")
    except UnknownError:
        cap = None
    if replies.number(cap) is not None:
        yield Fact(seen.host.name, name, "pays at most", f"{replies.shown(cap)} wei a pixel")
    yield from accounts.amounts(seen)
    yield from _abilities(seen)


def _abilities(seen: NodeSeen) -> Iterator[Fact]:
    """Its reported capabilities, and those of its peers: only shown, because their form is undocumented."""
    service, name = seen.service, seen.service.name
    for where, path, keys, words in (
        (service.health.status, "/getNetworkCapabilities", ("orchestrators",), "knows the capabilities of"),
        (service.health.healthz, "/status", ("SessionLimit",), "session limit where work is taken"),
        (service.health.healthz, "/getOrchestratorInfo", ("capabilities",), "capabilities"),
        (service.health.healthz, "/hardware/stats", ("gpu_stats", "gpus"), "GPUs that it reports"),
        (LANGUAGE_MODELS, "/api/version", ("version",), "language model runtime"),
    ):
        try:
            answer = replies.mapping(seen.reply(where, path), path)
        except UnknownError:
            continue
        value = next((answer[key] for key in keys if key in answer), None)
        if isinstance(value, list | dict):
            yield Fact(seen.host.name, name, words, str(len(value)))
        elif value is not None:
            yield Fact(seen.host.name, name, words, replies.shown(value))


def _of_host(
    fleet: Fleet, blueprint: Blueprint, host: HostBlueprint, answer: HostAnswer, back: Back | None
) -> Iterator[Finding]:
    """The host's own report of its release and its processes; `back` is the rollback to that release, if any."""
    place: Path = ("hosts", host.name)
    tables: dict[str, Path] = {service.name: (service.table, service.name) for service in host.services}

    def found(kind: Kind, code: str, message: str, node: str = "", help: str = "") -> Finding:
        at = ("avatars", host.avatar.name) if node.startswith("avatar/") and host.avatar else tables.get(node, place)
        return Finding(kind, code, host.name, node, f"{host.name}: {message}", at, help)

    if answer.unknown:
        if host.out is not None and answer.unknown.startswith(NOT_REACHED):
            return
        yield found("unknown", "host-unreachable", answer.unknown, help=reaching_help(host))
        return
    if answer.known_as not in _own_names(blueprint, host):
        other, name = answer.known_as
        yield found("drift", "other-host", f"the machine at {host.address} is the host {name} of the fleet {other}")
        return
    if answer.quarantine:
        message = f"it is in quarantine: {answer.quarantine}"
        yield found("drift", "host-quarantined", message, help=f"look at it, then deploy with --clear {host.name}")
    if answer.switch:
        yield found("drift", "switch-open", "a switch of its release has not ended")
    said: set[tuple[str, str]] = set()
    for node in _unmentioned(host, answer):
        yield found("unknown", "host-silent", f"no report of {node}", node)
    for entry in answer.processes:
        for kind, code, words, advice in _against(entry):
            said.add((entry.node, words))
            finding = found(kind, code, f"{entry.node}: {words}", entry.node, advice)
            yield finding._replace(place=_place(fleet, host, finding)) if code == "set-at-run-time" else finding
    for step in answer.steps:
        again = any(step.node == node and step.reason.startswith(words) for node, words in said)
        if again or step.do in ("keep", "ensure", *UNHELPED):
            continue
        code, message = _meaning(step.do, step.node, step.reason)
        if step.node or not any(other.do not in ("keep", "copy") for other in answer.steps):
            if code == "other-release" and back is not None:
                message = f"rolled back to {back.release[:_SHORT]} at {back.at} by {back.who}, so {message}"
            yield found("drift", code, message, step.node, _advice_for_other(back))
    for node, variables in _other_variables(answer).items():
        names = first_of(sorted(variables), _NAMED, " and ")
        message = f"{node} also reads {names} from its environment, which nothing of its release sets"
        yield found("drift", "other-setting", message, node)
    wallets = fleet.wallets.items() if answer.strangers else ()
    own = {str(settings.address).lower(): name for name, settings in wallets}
    for stranger in answer.strangers:
        if stranger.account in own:
            wallet, also = own[stranger.account], " and calls reward" if stranger.reward else ""
            message = f"{stranger.what} uses the account of the wallet {wallet}{also}, and is not of this fleet"
            yield found("drift", "second-node", message)._replace(place=("wallets", wallet))
    for alert in answer.alerts:
        unknown = alert.code in ("rpc-answers", "price-feed-answers", "check-failed")
        weight: Kind = "unknown" if unknown else "warning" if alert.severity == "warning" else "drift"
        told_by_host = found(weight, alert.code, alert.message, alert.node)
        yield told_by_host._replace(place=_wallet(fleet, alert) or told_by_host.place)


def _other_variables(answer: HostAnswer) -> dict[str, list[str]]:
    """What processes read that nothing of their release sets, by node, however it came there."""
    found: dict[str, list[str]] = {}
    for setting in answer.settings:
        if not setting.overridden:
            found.setdefault(setting.node, []).append(setting.variable)
    return found


def _against(entry: ProcessState) -> Iterator[tuple[Kind, str, str, str]]:
    """Kind, code, words and advice for each thing that a host says against one of its processes."""
    yield from (
        ("drift", "changed-on-host", words, "deploy again to repair it") for words in (*entry.drift, *entry.unlinked)
    )
    advice = "somebody set it while the node runs; deploy again to undo it, or write the value into the spec"
    yield from (("drift", "set-at-run-time", words, advice) for words in entry.was_set)
    yield from (("drift", "node-unhealthy", words, "") for words in entry.ill)
    silent = "runtime-silent" if entry.running is None else "not-answered"
    yield from (("unknown", silent, words, "") for words in entry.unanswered)


def _place(fleet: Fleet, host: HostBlueprint, finding: Finding) -> Path:
    """Where the spec has the setting that a node has another value of: a price, a given argument, else its table."""
    service = next((service for service in host.services if (service.table, service.name) == finding.place), None)
    node = next((node for node in fleet.nodes if (node.table, node.name) == finding.place), None)
    if service is None or node is None:
        return finding.place
    for live in service.live:
        if f" {live.name} is " not in finding.message:
            continue
        who = live.name.partition(" ")[2]
        for price in prices_of(fleet, node) if who else ():
            if price.to and not price.work and account(fleet, price.to).lower() == who:
                return price.path
        for argument in service.arguments:
            if argument.flag in live.flags and not live.file and argument.origin.paths:
                return argument.origin.paths[0]
    return finding.place


def _advice_for_other(back: Back | None) -> str:
    """What to do about another release than that of the spec."""
    if back is None:
        return "deploy the tree; after a rollback, revert the spec instead; else find out who changed it"
    return "revert the spec to what was rolled back to, or deploy the tree to bring its release back"


def _own_names(blueprint: Blueprint, host: HostBlueprint) -> tuple[tuple[str, str], ...]:
    """The valid records of a host: itself, or none before its first rollout."""
    return (blueprint.fleet, host.name), ("", "")


def _unmentioned(host: HostBlueprint, answer: HostAnswer) -> Iterator[str]:
    """What the spec has on a host and its program compared with nothing. "keep" means as planned."""
    nodes = {step.node for step in answer.steps}
    yield from (service.name for service in host.services if service.name not in nodes)
    if host.avatar is not None and not any(node.startswith("avatar/") for node in nodes):
        yield "avatar/host"


def _wallet(fleet: Fleet, alert: Alert) -> Path:
    """The wallet of a finding of the chain; () for other findings."""
    if alert.code not in _OF_WALLETS:
        return ()
    text = alert.message.lower()
    return next((("wallets", name) for name, own in fleet.wallets.items() if str(own.address).lower() in text), ())


def _meaning(do: str, node: str, reason: str) -> tuple[str, str]:
    """Code and words for an action that a rollout would take now."""
    if do == "start":
        return "node-not-running", f"{node} is not there" if reason == "it is new here" else f"{node} does not run"
    if do == "retire":
        return "node-not-in-spec", f"{node} runs, and {reason}"
    if not node:
        return "other-release", "its release is not the one of the spec, but its nodes run the same files"
    return "other-release", f"{node} runs with other files than the spec; deploy would {do} it: {reason}"
