"""Brings all nodes of a host to a release.

In: a release on the disk and what it wants. Out: nothing; the host runs that then, or RefusedError.
"""

from __future__ import annotations

from collections.abc import Callable

from .draining import drain
from .links import link_secrets, link_unit
from .live import keep_live, set_live
from .looking import look_with_secrets, wanted_state
from .nodes import begin_start, start, stop
from .places import CURRENT, MARKERS, RECORD, Json, RefusedError
from .releases import runtime_here
from .secret_files import secrets_digest
from .stack.bringing import bring_stack
from .steps import STACK, is_of_stack, steps
from .system import link, must, names_in, read_state, remove, run, write, write_json
from .taking import finish_taken, keep_unit, leave, taken_here


def bring(release: str, wanted: Json, told: Callable[[str, str], None], patience: float = 0) -> None:
    """Bring all nodes and the avatar stack of the host to a release on the disk. `told` hears of each step before it.

    Only what differs is stopped and started; all links lead to the release afterwards. May be repeated. What nodes can
    take while they run is set before anything stops: a node that refuses it may end the switch. Until its link has
    moved, its marker says that it is being started, so whoever finds a switch that broke off restarts it. What stops
    may take `patience` seconds to finish its sessions.
    """
    runtime = wanted["runtime"]
    if runtime == "systemd":  # a unit that only has to be read again is no reason to restart its node
        run("systemctl", "daemon-reload")
    services = {service["name"]: service for service in wanted["services"]}
    plan = [one for one in steps(look_with_secrets(release), wanted_state(wanted)) if not is_of_stack(one)]
    for one in plan:
        if one["do"] == "halt":
            raise RefusedError("live-impossible", "%s: %s" % (one["node"], one["reason"]))
    alive = set_live([services[one["node"]] for one in plan if one["do"] == "live"], release, wanted, told)
    begun = [one["node"] for one in plan if one["do"] in ("start", "restart", "live") and one["node"] not in alive]
    gone = [one["node"] for one in plan if one["do"] == "retire"]
    taken = {node: one["process"] for node, one in taken_here().items() if node in services and node not in begun}
    drain([*gone, *begun], patience, told)
    for node in gone:
        told("retire", node)
        leave(node, runtime_here(node))
    for node in begun:
        told("stop", node)
        begin_start(node, runtime)
        stop(node, runtime)
    for node in taken:
        told("take", node)
        begin_start(node, runtime)
    told("move", "")
    for name in names_in(CURRENT):
        if name not in services and name != STACK:  # the stack moves its own link, once it has left what is gone
            remove("%s/%s" % (CURRENT, name))
    for node in services:
        link("../releases/%s/%s" % (release, node), "%s/%s" % (CURRENT, node))
        link_secrets(node)
        if runtime == "systemd":
            keep_unit(node)
            link_unit(node)
    if runtime == "systemd" and services:
        must(run("systemctl", "daemon-reload"), "systemd does not read its units")
    write_json(RECORD, {**(read_state(RECORD) or {}), "release": release})
    begun += keep_live([services[node] for node in services if node in alive], alive, wanted, told)
    for node in taken:
        if not finish_taken(services[node], taken[node]):  # it ended meanwhile, and maybe its old unit started another
            stop(node, runtime)
            begun.append(node)
    for node in begun:
        told("start", node)
        start(services[node], runtime)
    for node in {**dict.fromkeys(begun), **alive, **taken}:
        marker = "%s %s %s" % (services[node]["digest"], secrets_digest("%s/%s" % (CURRENT, node)), runtime)
        write("%s/%s" % (MARKERS, node), marker.encode(), 0o600)
    if not wanted.get("restart"):
        bring_stack(release, wanted.get("stack"), told, gently=patience > 0)
