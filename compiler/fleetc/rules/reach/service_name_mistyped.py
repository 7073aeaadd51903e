"""The name in a service address is that of its host, but for one letter.

Why: gateways call the address as it is written and registered. If one letter is wrong, nobody reaches the orchestrator,
and the node notices only at its start. Both names may exist, so this is a warning.

Example:

    [hosts.gpu]
    public = "orch.example.net"

    [orchestrators.orch]
    service = "orhc.example.net:8935"

Instead:

    [hosts.gpu]
    public = "orch.example.net"

    [orchestrators.orch]
    service = "orch.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the names that orchestrators write with that of their own host; names of other hosts are no mistake."""
    known = {str(host.public).lower() for host in fleet.hosts.values() if host.public is not None}
    for name, settings in sorted(fleet.orchestrators.items()):
        public = fleet.hosts[settings.host].public
        if settings.service is None or public is None:
            continue
        written, own = settings.service.host.lower(), str(public).lower()
        if written not in known and _one_letter_apart(written, own):
            yield warning(
                "service-name-mistyped",
                f"the service address of orchestrator {name} and its host {settings.host} differ in one letter",
                Label(("orchestrators", name, "service"), settings.service.host),
                [Label(("hosts", settings.host, "public"), "the name of the host")],
                "correct the one that is wrong, or silence this if both names lead there",
            )


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether a letter is added, missing, another one, or changed places with the next. Digits count things apart."""
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    if len(a) < len(b):
        a, b = b, a
    if not a[:1].isalpha() or (len(a) == len(b) and not b[:1].isalpha()):
        return False
    if len(a) > len(b):
        return a[1:] == b
    return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
