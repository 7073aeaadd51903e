"""A look at a fleet as one page for a browser, in the frame and the look of the page of a review.

In: a `Report` and the shipped files of `templates/html/`. Out: HTML. All texts of nodes and hosts pass the encoder of
its templates. Any page stays usable: long lists end with a count, and faults come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fleetc.emit.templates import Encoded, Templates
from fleetc.review.data import Edge
from fleetc.review.reports import picture, wording
from fleetc.review.reports.page import NAME, SENTENCE, HostList, framed
from fleetc.rollout.verify.report import GRAVITY, FindingRow, NodeReport, Payer, Report, State, summary
from fleetc.text.counting import counted
from fleetc.version import __version__

_FOUND = 800
"""The most findings that are shown."""

_NODES = 2_000
_PAYERS = 500
_MANY = 100
"""From so many findings and nodes on, a browser only lays out the visible part."""

_NAMES = {"drift": "drift", "unknown": "unknown", "warning": "warning", "fine": "as reviewed"}
_MEANINGS = {
    "drift": "findings: differs from the review, or does not work",
    "unknown": "findings: no answer, or an invalid one",
    "warning": "findings: as reviewed, but people should know it",
    "fine": "nodes as reviewed",
}
_TONES = {"drift": "danger", "unknown": "restart", "warning": "money", "fine": "calm"}
"""The four colours of the page of a review. Here they only distinguish states, which have names beside them."""

_LEGEND = picture.Legend(
    states={
        "drift": picture.State("differs", "differ", "differs or does not work", "diamond", "drift"),
        "unknown": picture.State("is unknown", "are unknown", "unknown", "square", "unknown"),
        "warning": picture.State("has a warning", "have warnings", "has a warning", "triangle", "warning"),
        "fine": picture.State("is as reviewed", "are as reviewed", "as reviewed"),
    },
    link="#findings",
    that="needs a look",
    those="need a look",
)


def as_html(report: Report, templates: Mapping[str, str]) -> str:
    """The page. `templates` are the shipped ones, by path."""
    ready = Templates(templates)
    hosts = HostList([*(box.host for box in report.hosts), *(finding.host for finding in report.findings)])
    first = _first_finding(report.findings)
    view: dict[str, object] = {
        "fleet": wording.clip(report.fleet, NAME),
        "time": report.time,
        "verdict": summary(report),
        "left_out": f"A limit left {counted(report.left_out, 'host')} out: they were not checked."
        if report.left_out
        else "",
        "tallies": _tallies(report.findings, report.nodes),
        "filter": hosts.form(ready, "node, code, message"),
        "finding_count": f"{len(report.findings):,}",
        "node_count": f"{len(report.nodes):,}",
        "host_count": f"{len(report.hosts):,}",
        "findings": [_finding(index, row, hosts, ready) for index, row in enumerate(report.findings[:_FOUND])],
        "more_findings": _more(len(report.findings) - _FOUND, "finding"),
        "nodes": [_node(node, hosts, first) for node in _shown(report.nodes)],
        "more_nodes": _more(len(report.nodes) - _NODES, "node"),
        "payers": [_payer(payer) for payer in report.payers[:_PAYERS]],
        "more_payers": _more(len(report.payers) - _PAYERS, "node"),
        "picture": picture.drawn(ready, _boxes(report), [Edge(*edge) for edge in report.edges], _LEGEND),
    }
    title = f"{wording.clip(report.fleet, NAME)} at {report.time}: {summary(report)}"
    many = len(report.findings) + len(report.nodes) > _MANY
    return framed(templates, title, ready.render("html/verify.html.j2", view), __version__, many)


def _tallies(findings: Sequence[FindingRow], nodes: Sequence[NodeReport]) -> list[dict[str, str]]:
    """How often each kind was found, and how many nodes are as reviewed."""
    counts: Counter[State] = Counter(finding.kind for finding in findings)
    counts["fine"] = sum(node.state == "fine" for node in nodes)
    return [
        {
            "state": state,
            "tone": _TONES[state],
            "name": _NAMES[state],
            "number": f"{counts[state]:,}",
            "means": _MEANINGS[state],
        }
        for state in GRAVITY
        if counts[state]
    ]


def _first_finding(findings: Sequence[FindingRow]) -> dict[tuple[str, str], int]:
    """The number of each node's first shown finding; hosts have the node ""."""
    first: dict[tuple[str, str], int] = {}
    for number, finding in enumerate(findings[:_FOUND]):
        first.setdefault((finding.host, finding.node), number)
    return first


def _finding(number: int, finding: FindingRow, hosts: HostList, templates: Templates) -> dict[str, object]:
    diagnostic, spot = finding.located.diagnostic, finding.located.primary
    cause = {
        "place": wording.clip(f"{spot.file}:{spot.line}:{spot.column}" if spot.line else spot.file, NAME),
        "path": wording.clip(spot.path, NAME),
        "line": 0 if spot.hidden else spot.line,
        "text": wording.clip(spot.text.strip(), NAME),
        "instead": "blank line",
        "reason": "",
    }
    return {
        "index": number,
        "kind": finding.kind,
        "tone": _TONES[finding.kind],
        "hosts": hosts.ranges([finding.host] if finding.host else []),
        "code": wording.clip(diagnostic.code, NAME),
        "message": wording.clip(diagnostic.message, SENTENCE),
        "help": wording.clip(diagnostic.help, SENTENCE),
        "where": wording.clip(f"on {finding.host}" + (f", {finding.node}" if finding.node else ""), NAME),
        "cause": Encoded(templates.render("html/causes.html.j2", {"causes": [cause], "more_causes": ""})),
    }


def _shown(nodes: Sequence[NodeReport]) -> Sequence[NodeReport]:
    """The nodes of the table: all in their order, or the first by state."""
    if len(nodes) <= _NODES:
        return nodes
    return sorted(nodes, key=lambda node: GRAVITY.index(node.state))[:_NODES]


def _node(node: NodeReport, hosts: HostList, first: Mapping[tuple[str, str], int]) -> dict[str, object]:
    finding = first.get((node.host, node.node), first.get((node.host, "")))
    return {
        "hosts": hosts.ranges([node.host]),
        "host": wording.clip(node.host, NAME),
        "node": wording.clip(node.node or "the host", NAME),
        "role": wording.clip(node.role, NAME),
        "state": node.state,
        "tone": _TONES[node.state],
        "name": _NAMES[node.state],
        "finding": f"#c{finding}" if finding is not None and node.state != "fine" else "",
        "facts": [{"name": wording.clip(name, NAME), "text": wording.clip(text, NAME)} for name, text in node.facts],
    }


def _payer(payer: Payer) -> dict[str, object]:
    """Missing values have their own word in the table, never an empty cell."""
    texts = {name: wording.clip(text, NAME) for name, text in payer._asdict().items()}
    return {name: text or ("not stated" if name.startswith("planned") else "unknown") for name, text in texts.items()}


def _boxes(report: Report) -> list[picture.DrawnBox]:
    """The hosts of the picture; entries that are no nodes have the host before their names."""
    inside: dict[str, list[tuple[str, str]]] = {box.host: [] for box in report.hosts}
    facts: dict[str, dict[str, str]] = {box.host: {} for box in report.hosts}
    for node in report.nodes:
        own = node.role not in ("host", "not in the spec") and not node.role.startswith("avatar")
        name = node.node if own else f"{node.host}/{node.node.rpartition('/')[2] or 'the host'}"
        inside[node.host].append((name, node.state))
        facts[node.host][name] = "; ".join([node.role, *(f"{what} {text}" for what, text in node.facts)])
    return [picture.DrawnBox(box.host, box.label, tuple(inside[box.host]), facts[box.host]) for box in report.hosts]


def _more(number: int, thing: str) -> str:
    return f"{counted(number, f'more {thing}')}: the JSON report has them all." if number > 0 else ""
