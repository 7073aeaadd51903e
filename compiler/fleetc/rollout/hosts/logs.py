"""Reads the newest part of a node's log on its host, and changes nothing there.

In: a compiled tree, a host and a node, bounds, the tool's settings. Out: the bytes of the log. The answer is data: it
is decompressed only to the requested bound.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from fleetc.disk.files import FilesError
from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.gate import as_mapping, reason_of
from fleetc.rollout.hosts.runner import ask_playbook, private_project, reaching
from fleetc.settings import Settings

LOG_PLAYBOOK = "log.yml"
TASK = "Read the newest part of the log"
LIMIT, LONGEST = 64 * 1024 * 1024, 366 * 86400
"""The most bytes, and the most seconds, that the program on a host reads of a log."""

_MASKED = 2
"""How much longer a log may become by masking: a short address or secret is longer as ***."""


class HostLog(NamedTuple):
    """The end of a node's log; `cut`: more of the requested time was left out."""

    data: bytes
    cut: bool


class LogRequest(NamedTuple):
    """The part of a log: seconds back, and at most so many bytes."""

    host: str
    node: str
    seconds: int
    limit: int

    @property
    def name(self) -> str:
        """As the user names it."""
        return f"{self.host}/{self.node}"


def fetch(tree: Tree, request: LogRequest, settings: Settings, on_event: Callable[[Event], None]) -> HostLog:
    """Read the log. No secret is needed for it, and none is read. Raises FilesError where the host does not give it."""
    wanted = {"nodes": [request.node], "seconds": request.seconds, "bytes": request.limit}
    options = replace(reaching(settings, (request.host,)), variables={"fleet_host_log": wanted})
    with private_project(tree) as project:
        run = ask_playbook(project, LOG_PLAYBOOK, options, on_event, TASK)
    answer = as_mapping(run.answers.get(request.host, {}).get(TASK))
    if answer.get("format") != 1 or answer.get("ok") is not True:
        raise _not_fetched(request, reason_of(request.host, run) or "Ansible did not ask it")
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(str(answer["log"]), validate=True), _MASKED * request.limit)
        if not unpacking.eof:
            raise ValueError("longer than it may be, or cut off")
    except (KeyError, ValueError, zlib.error):
        raise _not_fetched(request, "its answer makes no sense") from None
    return HostLog(data, answer.get("cut") is True)


def _not_fetched(request: LogRequest, reason: str) -> FilesError:
    message = f"host {request.host} does not give the log of {request.node}: {reason}"
    advice = "look at the host; a node that was never rolled out there has no log"
    return FilesError("log-not-fetched", message, path=request.name, advice=advice)
