"""One port, or a range of them, on which something of the fleet listens: who reaches it, and what they can do there.

Made by `analysis/listeners.py`, which lists all of a host. The firewall, pages of hosts, tasks, rules, reviews and
`fleetc verify` read these values and decide nothing of it again.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.language.quantities import reach_of
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin

MONITORING: Path = ("monitoring",)
"""The owner of what a monitoring project, or an exporter beside the nodes, listens on."""

HOST, CALLERS, PEERS, CHOSEN, EVERYONE = "host", "callers", "peers", "chosen", "everyone"
"""Who a port is meant for: programs of its host, the allowlist of an avatar stack, other hosts of the fleet, people
and programs that only whoever runs the host knows, or everyone."""

MOVE, SPEND, CONTROL, WORK, READ = "move funds", "spend", "control", "have work done", "read"
"""What whoever reaches a port can do there, the gravest first."""

GRAVE = (MOVE, SPEND, CONTROL)


class Listening(NamedTuple):
    """Ports from `port` to `last`, nearly always one. `owner` is the table of what listens there, or MONITORING.

    `guard` is what a caller has to show, "" if nothing. `closed` says whether the firewall of the tree keeps out those
    whom a port is not meant for; `peers` are the addresses of PEERS.
    """

    port: int
    last: int
    protocol: str
    address: str
    owner: Path
    purpose: str
    meant_for: str
    power: str
    origin: Origin
    guard: str = ""
    tls: bool = False
    closed: bool = False
    peers: tuple[str, ...] = ()

    @property
    def reach(self) -> str:
        """Who reaches it: HOST on loopback, else whom the firewall lets through, else EVERYONE who reaches the host."""
        if reach_of(self.address) == "loopback":
            return HOST
        return self.meant_for if self.closed else EVERYONE

    @property
    def name(self) -> str:
        """What listens there, by its name."""
        return str(self.owner[-1])

    @property
    def ports(self) -> str:
        """The port as people write it, or the range."""
        return str(self.port) if self.port == self.last else f"{self.port}-{self.last}"

    @property
    def open_to_strangers(self) -> bool:
        """Whether anybody who reaches the host can do there what the port is for, and is asked for nothing."""
        return self.reach == EVERYONE and not self.guard


class Startable(NamedTuple):
    """What the stack's own files can publish, listed or not: TCP ports of slots, and the networks of its public design.

    `beside` are those of these ports that services beside the stack have by the spec, with their purpose: open to all.
    """

    ports: tuple[str, ...]
    networks: str
    beside: tuple[tuple[int, str, Origin], ...]
    origin: Origin
