"""Findings of a preflight: what would keep a release from running on a host.

In: answers of hosts. Out: findings, also as diagnostics of a spec. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.rollout import Need
from fleetc.blueprint.tasks import command_of, owner_of, user_command
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.text.encoders import readable_word

USER_MISSING = "node-user-missing"
UNREACHABLE = "host-unreachable"

NOT_REACHED = "could not be reached"
"""How reasons begin of hosts that ssh did not get to."""
CLOCK = "clock-differs"
_CLOCK_SECONDS = 60
_MANY = 1000


class HostFinding(NamedTuple):
    """One thing on one host; `node` is "" where it concerns the host or several nodes.

    `severity` is warning where it keeps no release from running, else error. `need` and `subject` are those of its
    `Need`, or "".
    """

    host: str
    code: str
    message: str
    node: str = ""
    severity: str = "error"
    need: str = ""
    subject: str = ""


def clock_finding(host: str, answer: Mapping[str, Any]) -> tuple[HostFinding, ...]:
    """A clock of a host that differs much from the one here, by when its answer came."""
    clock, received = answer.get("clock"), answer.get("received")
    if not isinstance(clock, int | float) or not isinstance(received, int | float):
        return ()
    seconds = clock - received
    if abs(seconds) < _CLOCK_SECONDS:
        return ()
    way = "ahead of" if seconds > 0 else "behind"
    message = f"its clock is {abs(seconds) / 60:.0f} min {way} the one here: times of its journal and logs are wrong"
    return (HostFinding(host, CLOCK, message, severity="warning"),)  # no timer depends on a clock


def diagnostics_of(findings: Iterable[HostFinding], blueprint: Blueprint) -> list[Diagnostic]:
    """Each finding at the line that names the file, else at the table of its node, or of its host."""
    hosts = {host.name: host for host in blueprint.hosts}
    tables = {service.name: service.table for host in blueprint.hosts for service in host.services}
    diagnostics = []
    for finding in list(findings)[:_MANY]:
        path: Path = (tables[finding.node], finding.node) if finding.node in tables else ("hosts", finding.host)
        host, need, advice = hosts.get(finding.host), _need_of(finding, hosts), ""
        if host is not None and finding.code == USER_MISSING:
            advice = f"make it there: {user_command(host)}"
        elif host is not None and need is not None and need.kind in _FILES:
            path = need.origin.paths[0] if need.origin.kind == "given" else path
            advice = _help(finding, host, need)
        elif host is not None and finding.code == UNREACHABLE:
            advice = reaching_help(host)
        make = warning if finding.severity == "warning" else error
        diagnostics.append(make(finding.code, f"{finding.host}: {finding.message}", Label(path), help=advice))
    return diagnostics


_FILES = ("keystore", "password-file", "file", "secret", "models-directory")
"""Needs that people put on a host themselves."""


def _need_of(finding: HostFinding, hosts: Mapping[str, HostBlueprint]) -> Need | None:
    """What a finding is about."""
    needs = hosts[finding.host].needs if finding.host in hosts else ()
    same = [need for need in needs if (need.kind, need.subject) == (finding.need, finding.subject)]
    return next((need for need in same if finding.node in need.nodes), same[0] if same else None)


def _help(finding: HostFinding, host: HostBlueprint, need: Need) -> str:
    """What to type on the host."""
    owner, command = owner_of(host, need), command_of(host, need)
    if finding.code == "file-unreadable" and owner:
        return f"give it to its reader there: sudo chown -R {readable_word(owner)} {readable_word(need.subject)}"
    if finding.code == "file-open-to-all":
        return f"take the right from others there: sudo chmod -R o= {readable_word(need.subject)}"
    if finding.code == "keystore-holds-account":
        return f"put the key file there{_for(owner)}, from the directory where it lies: {command}"
    if finding.code == "models-dir-writable":
        return f"make it there: {command}"
    if finding.code in ("file-missing", "password-file-not-empty"):
        return f"write it there: {command}"
    return ""


def reaching_help(host: HostBlueprint) -> str:
    """How a person finds out why a host cannot be reached."""
    port = f" -p {host.ssh_port}" if host.ssh_port != 22 else ""
    place = readable_word(f"{host.ssh_user}@{host.address}")
    settings = "FLEETC_SSH_KEY names the key, FLEETC_CONNECT_TIMEOUT how many seconds fleetc waits for an answer"
    return f"try it from here: ssh{port} {place}; {settings}"


def _for(owner: str) -> str:
    return f" as a file of {owner}" if owner else ""
