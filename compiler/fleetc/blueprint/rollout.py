"""What a rollout needs of hosts: prerequisites, health checks of nodes, and live settings.

In: nothing. Out: parts of a `Blueprint`.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.places.origin import Origin


class Health(NamedTuple):
    """The health check of a node, on its own host; "" where it is not asked.

    `ports` are the TCP ports on which the process itself listens; `healthz` and `status` are addresses such as
    "http://127.0.0.1:7935". `version` is the release without its "v". `answers` is the health check of another
    program: address, path, expected status. If `drains`, it can refuse new sessions and report their number.
    """

    ports: tuple[int, ...] = ()
    healthz: str = ""
    status: str = ""
    version: str = ""
    drains: bool = False
    answers: tuple[str, str, int] | None = None


class LiveValue(NamedTuple):
    """A setting that the process takes while it runs.

    `name` is its flag, and of a price for one account or one kind of work also that. `value` is the node's answer, ""
    without a limit; unless `known_back`, it cannot be read back or set. `flags` are those of its arguments; `file` is
    the JSON file that holds it, or "".
    """

    name: str
    value: str
    known_back: bool
    flags: tuple[str, ...]
    file: str = ""


class Program(NamedTuple):
    """The program of a node on a systemd host. With a `sha256`, that of its download, fleetc installs it.

    It comes from `url`, or from `file` on the machine that deploys; `member` is its path there in an archive. `version`
    is the release that it must print, without "v".
    """

    path: str
    version: str
    origin: Origin
    sha256: str = ""
    url: str = ""
    file: str = ""
    member: str = ""


class Need(NamedTuple):
    """A prerequisite on a host, for its nodes to start or to run.

    `kind` names the check that the program on the host makes of it, with `facts`. `subject` is its path, its address or
    its name. `words` are the text for people, to provide before the first rollout; "" where they provide nothing.
    """

    kind: str
    subject: str
    origin: Origin
    words: str
    nodes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


class RolloutTimes(NamedTuple):
    """The waits of a host in a rollout, in seconds (0 for sessions by default), and how many releases it keeps."""

    stable: int = 30
    deadline: int = 180
    confirm: int = 300
    drain: int = 0
    keep: int = 3
