"""What a rollout asks of hosts: what must be there, how a node is known to be well, what it takes while it runs.

In: nothing. Out: parts of a `Blueprint`.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.places.origin import Origin


class Health(NamedTuple):
    """What a node of the fleet must answer on its own host to count as well; "" where it is not asked.

    `ports` are the TCP ports on which the process itself listens; `healthz` and `status` are addresses such as
    "http://127.0.0.1:7935". `version` is the release without its "v". `prices` are those that /status must report, in
    wei per pixel as fractions such as "3/2", by account or "default"; `max_price` is the same for what a gateway pays.
    `answers` is where another program says that it is well: an address, a path, and the status that means so.
    One that `drains` can be asked to take no more sessions, and how many it has.
    """

    ports: tuple[int, ...] = ()
    healthz: str = ""
    status: str = ""
    version: str = ""
    prices: tuple[tuple[str, str], ...] = ()
    max_price: str = ""
    drains: bool = False
    answers: tuple[str, str, int] | None = None


class LiveValue(NamedTuple):
    """A setting that the process takes while it runs.

    `name` is its flag, and of a price for one account or one kind of work also that. `value` is what the node says when
    it is asked, "" where it has no limit; one that is not `known_back` cannot be asked for, or not be set. `flags` are
    those of its arguments, and `file` the JSON file that has it beside others, "" without one.
    """

    name: str
    value: str
    known_back: bool
    flags: tuple[str, ...]
    file: str = ""


class Program(NamedTuple):
    """The program of a node on a systemd host. fleetc installs one that has a `sha256`: that of what it comes from.

    It comes from `url`, or from `file` on the machine that deploys; `member` is its path there in an archive. `version`
    is what it must say of itself, the release without its "v".
    """

    path: str
    version: str
    origin: Origin
    sha256: str = ""
    url: str = ""
    file: str = ""
    member: str = ""


class Need(NamedTuple):
    """Something that must be on a host, or hold there, for its nodes to start, or once they run.

    `kind` names the check that the program on the host makes of it, with `facts`. `subject` is its path, its address or
    its name. `words` say to people what to provide before the first rollout; "" where they provide nothing.
    """

    kind: str
    subject: str
    origin: Origin
    words: str
    nodes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


class RolloutTimes(NamedTuple):
    """How long a host waits in a rollout, in seconds, and how many releases it keeps; it waits 0 seconds for sessions
    where nobody asked for it.
    """

    stable: int = 30
    deadline: int = 180
    confirm: int = 300
    drain: int = 0
    keep: int = 3
