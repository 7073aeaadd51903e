"""Who reaches the ports of slots, and which ports the kernel keeps for TURN.

In: a digest of rules, or ports. Out: nothing; the kernel has them then.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..places import FIREWALL_UNIT, NFT, RESERVED, STACK_FILES, STACK_MARKERS, SYSCTL, UNITS
from ..steps import FIREWALL
from ..system import link, must, read, remove, run, write
from .parts import STARTING, mark, marker_of

TABLE = "fleetc_avatar"

FIREWALL_UNIT_TEXT = (
    """# Written by fleetc: change the spec, not this file.
[Unit]
Description=Who reaches the ports of the avatar slots of this host
DefaultDependencies=no
Wants=network-pre.target
After=local-fs.target
Before=network-pre.target docker.service shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=%s --file /opt/fleetc/current/avatar/nftables.conf

[Install]
WantedBy=multi-user.target
"""
    % NFT
)


def reserve(ports: str) -> None:
    """Have the kernel give these ports to nobody but TURN: they lie among those that it hands out by itself.

    The setting is one list: what others put there stays, and of ours only the range is taken out that is written down
    as reserved by an earlier release. `ports` is such as 49160-49200, or "" for none.
    """
    now = [one for one in (read(RESERVED) or b"").decode().strip().split(",") if one]
    before = marker_of("reserved")
    wanted = [one for one in now if one != before and one != ports] + ([ports] if ports else [])
    text = ",".join(wanted)
    if ports and (set(wanted) != set(now) or not os.path.exists(SYSCTL)):
        write(SYSCTL, ("net.ipv4.ip_local_reserved_ports=%s\n" % text).encode())
    if set(wanted) != set(now):
        with open(RESERVED, "w") as file:
            file.write(text + "\n")
    if not ports:  # the file would hold ports of others only, and bring them back at boot after they gave them up
        remove(SYSCTL)
    if before != ports or not os.path.exists(STACK_MARKERS + "/reserved"):
        mark("reserved", ports)


def bring_firewall(digest: str, told: Callable[[str, str], None]) -> None:
    """Have the packet filter guard the ports of slots, now and at boot."""
    loaded = run(NFT, "list", "table", "inet", TABLE).status == 0  # somebody may have flushed it
    if loaded and firewall_stays() and marker_of("firewall") == digest:
        return
    told("start", FIREWALL)
    rules = STACK_FILES + "/nftables.conf"
    must(run(NFT, "--check", "--file", rules), "the rules of the packet filter do not parse")
    mark("firewall", STARTING)
    write("%s/%s" % (UNITS, FIREWALL_UNIT), FIREWALL_UNIT_TEXT.encode())
    link("../" + FIREWALL_UNIT, "%s/multi-user.target.wants/%s" % (UNITS, FIREWALL_UNIT))
    must(run("systemctl", "daemon-reload"), "systemd does not read its units")
    must(run("systemctl", "restart", FIREWALL_UNIT), "the rules of the packet filter are not loaded")
    mark("firewall", digest)


def firewall_stays() -> bool:
    """Whether the unit is there that loads the rules at boot."""
    wants = "%s/multi-user.target.wants/%s" % (UNITS, FIREWALL_UNIT)
    return read("%s/%s" % (UNITS, FIREWALL_UNIT)) == FIREWALL_UNIT_TEXT.encode() and os.path.lexists(wants)
