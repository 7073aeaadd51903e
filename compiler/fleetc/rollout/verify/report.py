"""A report of one check of a fleet: findings, places in the spec, and states of nodes.

In: a verdict. Out: `Report`, for all forms except lists of diagnostics, and its JSON.
Texts of nodes have passed `shown` and the masks of diagnostics; printers encode them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from fleetc.analysis.funds import funds
from fleetc.analysis.seen_market import SeenMarket
from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, Connection, HostBlueprint
from fleetc.blueprint.out import out_of, running
from fleetc.language.fleet import Fleet
from fleetc.lower.market_words import seen_text
from fleetc.messages.locate import Located, locate
from fleetc.pipeline import Compiled
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.rollout.verify.data import AVATARS, Fact, Finding, Kind
from fleetc.rollout.verify.judge import Verdict
from fleetc.text import leaks
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import visible

State = Literal["drift", "warning", "unknown", "fine"]
"""The gravest kind of a node's findings, or "fine"."""

GRAVITY: tuple[State, ...] = ("drift", "unknown", "warning", "fine")
"""What comes first."""

_NAMED = 3

_BLIND = frozenset({"host-unreachable", "other-host"})
"""Findings about a host after which nothing is known of its nodes."""


class FindingRow(NamedTuple):
    """A finding with its line; `kind`, `host` and `node` are those of `Finding`."""

    kind: Kind
    host: str
    node: str
    located: Located


class NodeReport(NamedTuple):
    """A node, the avatar stack of a host, one of its slots, or the host itself with the name "".

    `facts` are its reported values.
    """

    host: str
    node: str
    role: str
    state: State
    facts: tuple[tuple[str, str], ...]


class Payer(NamedTuple):
    """The funds of a node: planned by the spec, and reported by the node; "" if unknown."""

    host: str
    node: str
    wallet: str
    deposit: str
    reserve: str
    planned_deposit: str
    planned_reserve: str
    lasts: str


class HostBox(NamedTuple):
    """A host that was asked."""

    host: str
    label: str


class Report(NamedTuple):
    """One look. `time` is that of its end, in UTC; `size` counts nodes and slots of the spec on the hosts that were
    asked, and `left_out` the hosts that a limit leaves out. `out` has until when and why hosts and nodes are out of
    service. `located` are all diagnostics, in the order of the spec."""

    fleet: str
    time: str
    hosts: tuple[HostBox, ...]
    size: int
    left_out: int
    out: Mapping[str, str]
    findings: tuple[FindingRow, ...]
    located: tuple[Located, ...]
    nodes: tuple[NodeReport, ...]
    payers: tuple[Payer, ...]
    edges: tuple[Connection, ...]
    exit_code: int
    markets: tuple[SeenMarket, ...] = ()


def report_of(compiled: Compiled, hosts: Collection[str], verdict: Verdict, time: str) -> Report:
    """The report of a look at `hosts` of a fleet."""
    document, fleet, whole, _ = compiled.sound
    blueprint = running(whole)
    found = diagnostics_of(verdict.findings)
    located, own = (locate(found, compiled.checked.sources, document, apart) for apart in (False, True))
    here = [host for host in blueprint.in_order if host.name in hosts]
    nodes = tuple(node for host in here for node in _nodes(host, verdict))
    ours = {service.name for host in blueprint.hosts for service in host.services}
    seen = {node.node for node in nodes}
    return Report(
        fleet=blueprint.fleet,
        time=time,
        hosts=tuple(
            HostBox(host.name, " ".join(filter(None, (host.name, host.runtime, host.region)))) for host in here
        ),
        size=sum(len(host.services) + len(host.avatar.slots if host.avatar else ()) for host in here),
        left_out=len(blueprint.hosts) - len(here),
        out=out_of(whole),
        findings=tuple(_told(verdict.findings, own)),
        located=tuple(located),
        nodes=nodes,
        payers=tuple(_payers(fleet, nodes)),
        edges=tuple(edge for edge in blueprint.edges if not ({edge.source, edge.target} & ours - seen)),
        exit_code=verdict.exit_code,
        markets=verdict.markets,
    )


def diagnostics_of(findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
    """Each finding once, as a diagnostic of the spec; unknown results are warnings, with their own exit code."""
    diagnostics = []
    for finding in dict.fromkeys(findings):
        make = error if finding.kind == "drift" else warning
        diagnostics.append(make(finding.code, finding.message, Label(finding.place), help=finding.help))
    return tuple(diagnostics)


def summary(report: Report) -> str:
    """The result in a few words; never "as reviewed" while anything is unknown."""
    kinds = Counter(finding.kind for finding in report.findings)
    looked = f"{counted(len(report.hosts), 'host')} with {counted(report.size, 'node')} asked"
    looked += f" without {first_of([*report.out], 6)} (out of service)" if report.out else ""
    warnings = counted(kinds["warning"], "warning") if kinds["warning"] else ""
    if not kinds["drift"] and not kinds["unknown"]:
        return f"{looked}: all of it is as reviewed{'; ' + warnings if warnings else ''}"
    differ = f"{counted(kinds['drift'], 'difference')} from what was reviewed" if kinds["drift"] else ""
    silent = f"{kinds['unknown']:,} unknown" if kinds["unknown"] else ""
    return f"{looked}: {', '.join(filter(None, (differ, silent, warnings)))}"


def as_data(report: Report) -> dict[str, Any]:
    """Plain values for JSON, beside the diagnostics."""
    return {
        "fleet": report.fleet,
        "time": report.time,
        "exit_code": report.exit_code,
        "out_of_service": dict(report.out),
        "findings": [
            {
                "kind": finding.kind,
                "code": finding.located.diagnostic.code,
                "host": finding.host,
                "node": finding.node,
                "message": finding.located.diagnostic.message,
            }
            for finding in report.findings
        ],
        "nodes": [{**node._asdict(), "facts": dict(node.facts)} for node in report.nodes],
        "funds": [payer._asdict() for payer in report.payers],
        "market": [market.model_dump(mode="json", by_alias=True) for market in report.markets],
    }


def seen_lines(report: Report) -> Iterator[str]:
    """The markets that gateways saw, and one line for all nodes that report the same, for people."""
    for market in report.markets:
        yield from (leaks.masked(line) for line in seen_text(market, market.reaches))
    alike: dict[str, list[str]] = {}
    for node in report.nodes:
        if node.facts:
            text = ", ".join(f"{name}: {value}" for name, value in node.facts)
            alike.setdefault(text, []).append(node.node)
    yield from (visible(f"{first_of(names, _NAMED)}: {text}") for text, names in alike.items())


def _told(findings: Sequence[Finding], located: Sequence[Located]) -> Iterator[FindingRow]:
    """Findings with their lines, the gravest first; of equal ones the first."""
    lines = {item.key[-2:]: item for item in reversed(located)}
    for finding in sorted(dict.fromkeys(findings), key=lambda finding: GRAVITY.index(finding.kind)):
        yield FindingRow(finding.kind, finding.host, leaks.masked(finding.node), lines[finding.code, finding.message])


def _nodes(host: HostBlueprint, verdict: Verdict) -> Iterator[NodeReport]:
    """The nodes of a host in their order, then those outside the spec.

    A node without answers is unknown, despite other findings.
    """
    kinds: dict[str, list[Kind]] = {}
    for finding in verdict.findings:
        if finding.host == host.name:
            kinds.setdefault(finding.node, []).append(finding.kind)
    facts: dict[str, list[Fact]] = {}
    for fact in verdict.facts:
        if fact.host == host.name:
            facts.setdefault(fact.node, []).append(fact)
    blind = any(finding.host == host.name and finding.code in _BLIND for finding in verdict.findings)
    silent = "unknown" in kinds.get(AVATARS, ())
    for node, role in _roles(host, kinds).items():
        nothing_known = node and (blind or (silent and node.startswith(f"{AVATAR_DIRECTORY}/")))
        state = min((*kinds.get(node, ()), "unknown" if nothing_known else "fine"), key=GRAVITY.index)
        own = tuple((fact.name, leaks.masked(fact.text)) for fact in facts.get(node, ()))
        yield NodeReport(host.name, leaks.masked(node), role, state, own)


def _roles(host: HostBlueprint, kinds: Mapping[str, Sequence[Kind]]) -> dict[str, str]:
    """The listed entries of a host with their kinds; the host itself only with findings."""
    roles = {"": "host"} if "" in kinds else {}
    roles |= {service.name: service.role for service in host.services}
    if host.avatar is not None:
        roles[AVATARS] = "avatar stack"
        roles |= {f"{AVATAR_DIRECTORY}/{slot.name}": f"avatar {slot.avatar}" for slot in host.avatar.slots}
    for node in sorted(kinds.keys() - roles.keys()):
        roles[node] = "avatar stack" if node.startswith(f"{AVATAR_DIRECTORY}/") else "not in the spec"
    return roles


def _payers(fleet: Fleet, nodes: Sequence[NodeReport]) -> Iterator[Payer]:
    """The paying nodes, in the order of the report, with their funds."""
    own = {row.node: row for row in funds(fleet)}
    for node in nodes:
        planned = own.get(node.node)
        if planned is not None:
            facts = dict(node.facts)
            yield Payer(
                host=node.host,
                node=node.node,
                wallet=planned.wallet,
                deposit=facts.get("deposit", ""),
                reserve=facts.get("reserve", ""),
                planned_deposit="" if planned.deposit is None else str(planned.deposit),
                planned_reserve="" if planned.reserve is None else str(planned.reserve),
                lasts=facts.get("deposit lasts", ""),
            )
