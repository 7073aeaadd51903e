"""Stops, starts and retires one node.

In: a node and its runtime. Out: nothing, or RefusedError where it does not do that.
"""

from __future__ import annotations

import os

from .links import links_of_unit
from .places import CURRENT, LIVE, MARKERS, SECRETS, UNITS, Json, RefusedError
from .processes import is_stopped, processes_of_containers
from .releases import unit_of
from .system import remove, run, sync_directory, write


def stop(node: str, runtime: str) -> None:
    """Stop a node, so that nobody starts it again before its link has moved: no unit runs, no container is left."""
    if runtime == "systemd":
        done = run("systemctl", "stop", unit_of(node) + ".service", seconds=150)
        if done.status and "not loaded" not in done.err:
            raise RefusedError("step-failed", "%s does not stop: %s" % (node, done.words))
        return
    for words in (("stop", "--time", "60", unit_of(node)), ("rm", "--force", unit_of(node))):
        done = run("docker", "container", *words, seconds=150)
        if done.status and "No such container" not in done.err:
            raise RefusedError("step-failed", "%s does not stop: %s" % (node, done.words))


def is_here(node: str, runtime: str) -> bool:
    """Whether anything of a node is here: what would start it, a record of its start, or its container."""
    unit = "%s/%s.service" % (UNITS, unit_of(node))
    if any(os.path.lexists(path) for path in (unit, "%s/%s" % (MARKERS, node), "%s/%s" % (CURRENT, node))):
        return True
    return runtime == "docker" and bool(processes_of_containers([node]))


def retire(node: str, runtime: str) -> None:
    """Stop a node and remove what would start it. Its data stays. Nothing is removed of one that still runs."""
    begin_start(node, runtime)  # whoever finds this broken off must know of what runtime the rest is
    stop(node, runtime)
    if not is_stopped(node, runtime):
        raise RefusedError("step-failed", "%s still runs here after it was stopped" % node)
    if runtime == "systemd":
        name = unit_of(node) + ".service"
        for path in links_of_unit(node):
            remove(path)
        run("systemctl", "daemon-reload")
        run("systemctl", "reset-failed", name)
    for place in (LIVE, CURRENT, SECRETS, MARKERS):  # the marker says of what runtime it was until nothing is left
        remove("%s/%s" % (place, node))
    for place in (UNITS, UNITS + "/multi-user.target.wants", MARKERS, CURRENT):  # it must not come back by a power cut
        if os.path.isdir(place):
            sync_directory(place)


def start(service: Json, runtime: str) -> None:
    """Start a node from the release that its link leads to."""
    node = service["name"]
    if runtime == "systemd":
        done = run("systemctl", "start", unit_of(node) + ".service", seconds=150)
    else:
        if service.get("image_id"):  # a tag may have moved since this release ran
            run("docker", "image", "tag", service["image_id"], service["image"])
        compose = "%s/%s/compose.yaml" % (CURRENT, node)
        words = ("up", "--detach", "--force-recreate", "--remove-orphans", "--quiet-pull")
        done = run("docker", "compose", "--project-name", unit_of(node), "--file", compose, *words, seconds=600)
    if done.status:
        raise RefusedError("step-failed", "%s does not start: %s" % (node, done.words))


def begin_start(node: str, runtime: str) -> None:
    """Write down that a node is being started: until that is over, nobody knows what it was started from."""
    os.makedirs(MARKERS, exist_ok=True)
    write("%s/%s" % (MARKERS, node), b"starting " + runtime.encode(), 0o600)
