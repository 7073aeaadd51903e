"""What would keep a release from running on a host, as the host says before anything changes.

In: answers of hosts. Out: findings, and diagnostics in the form of those of a spec. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import Blueprint
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning

UNREACHABLE = "host-unreachable"
CLOCK = "clock-differs"
_CLOCK_SECONDS = 60
_MANY = 1000


class Finding(NamedTuple):
    """One thing on one host; `node` is "" where it concerns the host or several nodes.

    `severity` is warning where it keeps no release from running, else error.
    """

    host: str
    code: str
    message: str
    node: str = ""
    severity: str = "error"


def clock_finding(host: str, answer: Mapping[str, Any]) -> tuple[Finding, ...]:
    """A clock of a host that differs much from the one here, by when its answer came."""
    clock, received = answer.get("clock"), answer.get("received")
    if not isinstance(clock, int | float) or not isinstance(received, int | float):
        return ()
    seconds = clock - received
    if abs(seconds) < _CLOCK_SECONDS:
        return ()
    way = "ahead of" if seconds > 0 else "behind"
    message = f"its clock is {abs(seconds) / 60:.0f} min {way} the one here: times of its journal and logs are wrong"
    return (Finding(host, CLOCK, message, severity="warning"),)  # no timer depends on a clock


def diagnostics_of(findings: Iterable[Finding], blueprint: Blueprint) -> list[Diagnostic]:
    """Each finding at the table of its node, or of its host."""
    tables = {service.name: service.table for host in blueprint.hosts for service in host.services}
    found = []
    for one in list(findings)[:_MANY]:
        path: Path = (tables[one.node], one.node) if one.node in tables else ("hosts", one.host)
        make = warning if one.severity == "warning" else error
        found.append(make(one.code, f"{one.host}: {one.message}", Label(path)))
    return found
