"""Findings as metrics, for the textfile collector of node_exporter.

In: a blueprint, a verdict, the time. Out: text in Prometheus' exposition format. It has no messages, only names; those
from hosts are encoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from fleetc.blueprint.blueprint import Blueprint
from fleetc.rollout.verify.data import Kind
from fleetc.rollout.verify.judge import Verdict
from fleetc.text import leaks
from fleetc.text.encoders import visible

_KINDS: tuple[Kind, ...] = ("drift", "warning", "unknown")


def textfile(blueprint: Blueprint, hosts: Collection[str], verdict: Verdict, now: int) -> str:
    """The metrics of one look at some hosts; `now` in Unix seconds."""
    fleet = f'fleet="{blueprint.fleet}"'
    lines = [
        "# HELP fleetc_verify_time_seconds When fleetc verify looked last.",
        "# TYPE fleetc_verify_time_seconds gauge",
        f"fleetc_verify_time_seconds{{{fleet}}} {now}",
        "# HELP fleetc_verify_findings How many findings a node or a host has, by kind.",
        "# TYPE fleetc_verify_findings gauge",
    ]
    counts = Counter((finding.host, _label(finding.node), finding.kind) for finding in dict.fromkeys(verdict.findings))
    for host in (blueprint_host for blueprint_host in blueprint.hosts if blueprint_host.name in hosts):
        nodes = ["", *(service.name for service in host.services)]
        nodes += sorted({node for name, node, _ in counts if name == host.name} - set(nodes))
        for node in nodes:
            for kind in _KINDS:
                labels = f'{fleet},host="{host.name}",node="{node}",kind="{kind}"'
                lines.append(f"fleetc_verify_findings{{{labels}}} {counts[host.name, node, kind]}")
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    """A text of a host as the value of a label."""
    return visible(leaks.masked(text)).replace("\\", "\\\\").replace('"', '\\"')
