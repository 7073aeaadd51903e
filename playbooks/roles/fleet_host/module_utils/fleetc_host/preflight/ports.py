"""Whether the ports of nodes are free, and who holds them where they are not.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import sys
from collections.abc import Iterator

from ..judging import LISTEN
from ..places import MARKERS, STACK_MARKERS, Json
from ..processes import processes_of_containers, processes_of_units
from ..releases import runtime_here
from ..system import names_in, read
from ..taking import taken_here
from .asked import Asked, Finding


def check_port(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a port is free, or held by a node of fleetc."""
    number, protocol = int(need["port"]), need["protocol"]
    holders = [one for one in listeners(protocol) if one[1] == number and meet(one[0], need["address"])]
    if not holders:
        return
    own = own_pids()
    for address, _, inode in holders:
        pid, name = holder_of(inode)
        if pid in own or (name == "docker-proxy" and names_in(STACK_MARKERS)):
            continue
        who = "%s (process %d)" % (name, pid) if pid else "a process that cannot be seen"
        message = "port %d (%s) at %s, for the %s, is held by %s, which is not a node of fleetc"
        yield "ports-free", message % (number, protocol, address, need["subject"], who)


def own_pids() -> list[int]:
    """The processes of nodes that fleetc started here, or is going to take over."""
    nodes = names_in(MARKERS)
    in_units = [node for node in nodes if runtime_here(node) == "systemd"]
    asked = {**processes_of_units(in_units), **(processes_of_containers(set(nodes) - set(in_units)) or {})}
    taken = [int(record["process"].split()[1]) for record in taken_here().values()]
    return taken + [facts["pid"] for facts in asked.values() if facts["pid"]]


def listeners(protocol: str) -> list[tuple[str, int, str]]:
    """Address, port and socket of all who wait for tcp connections or udp packets on this host."""
    found, state = [], LISTEN if protocol == "tcp" else "07"
    for table in (protocol, protocol + "6"):
        for line in (read("/proc/net/" + table) or b"").decode().splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[3] == state:
                address, _, port = words[1].partition(":")
                found.append((address_in(address), int(port, 16), words[9]))
    return found


def address_in(text: str) -> str:
    """An address as the kernel's tables have it, in words of 32 bits in the order of this machine."""
    raw = bytes.fromhex(text)
    turned = b"".join(
        raw[at : at + 4][::-1] if sys.byteorder == "little" else raw[at : at + 4] for at in range(0, len(raw), 4)
    )
    found = ipaddress.ip_address(turned)
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)


def meet(one: str, other: str) -> bool:
    """Whether two listeners at these addresses cannot have one port."""
    try:
        both = [ipaddress.ip_address(text) for text in (one, other)]
    except ValueError:
        return True  # a name: nobody knows which address it has when the node starts
    return both[0] == both[1] or any(address.is_unspecified for address in both)


def holder_of(inode: str) -> tuple[int, str]:
    """Process and program of a socket; (0, "") where nobody has it."""
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc/%s/fd" % pid):
                with contextlib.suppress(OSError):
                    if os.readlink("/proc/%s/fd/%s" % (pid, name)) == "socket:[%s]" % inode:
                        comm = (read("/proc/%s/comm" % pid) or b"").decode(errors="replace").strip()
                        return int(pid), re.sub(r"[^A-Za-z0-9._:/@+-]", "?", comm)
    return 0, ""
