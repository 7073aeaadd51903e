"""Nodes that leave for another host, and come back by themselves if nobody says that they stay away.

In: requests of the rollout for the host that nodes leave, and for the one where they arrive. Out: answers.

Nothing may run twice, and no host can ask the other one. So the new host is given a lease before the old one stops
anything, counted by its own clock: its switch begins only if it is sure to have gone back within the lease. The old
host begins to count the same seconds later, and starts its nodes again only after them. Only the two clocks have to run
equally fast. A controller that sleeps in between, or words that arrive late, change nothing.

Once the new host is well, the old host hears first that its nodes stay away, and only then the new host may keep them.
One message always is the last, and its loss must cost either a node that runs nowhere or one that runs twice. So if the
controller dies between these two, within about a second, the new host goes back and the nodes run nowhere until the
next rollout. In all other moments a node comes back by itself. A new host that loses its power in its switch, whose
rollout dies too, and that boots after the lease, runs its nodes until its unit for the boot has taken them back.
"""

from __future__ import annotations

import os
import time

from .claims import need_claim, need_own_release
from .draining import drain
from .installing import install_program
from .nodes import is_here, retire
from .places import RECORD, STATE, SWITCH, Json, RefusedError
from .releases import runtime_here, wanted_of
from .switch import STOPPING_SECONDS, arm, disarm, keep_away, new_switch
from .switch_file import HEALTHY, SWITCHING, enter, give_room, is_leaving, keep_room, open_switch
from .system import boot_id, locked, note, read_state, remove, sync_directory, write_json


def window_of(seconds: Json) -> int:
    """How long a switch that nobody confirms takes at most until nodes that came with it are stopped again."""
    waits = seconds["deadline"] + seconds["stable"] + seconds["confirm"] + 2 * seconds.get("drain", 0)
    return int(2 * STOPPING_SECONDS + waits)


def do_expect(request: Json) -> Json:
    """Begin the lease of a host where nodes arrive with a release on its disk. The old host counts `seconds`."""
    seconds = wanted_of(request["release"])["seconds"]
    whole = window_of(seconds) + STOPPING_SECONDS + seconds.get("drain", 0)  # the old host drains and stops meanwhile
    return {"seconds": whole, "lease": {"boot": boot_id(), "until": time.monotonic() + whole}, "changed": False}


def need_lease(request: Json) -> None:
    """Refuse a switch that might not have gone back before nodes that arrive with it start on their old host."""
    lease = request.get("lease")
    if not lease:
        return
    left = lease["until"] - time.monotonic() if lease["boot"] == boot_id() else 0
    if left < window_of(wanted_of(request["release"])["seconds"]):
        message = "it took too long to stop on other hosts what comes here, so it may soon start there again; try again"
        raise RefusedError("too-late", message)


def do_retire(request: Json) -> Json:
    """Stop nodes that move to another host. They start here again after the lease unless `left` follows."""
    need_own_release(request, request)
    with locked(30):
        need_claim(request)
        switch = open_switch()
        if switch is not None and not is_leaving(switch):
            raise RefusedError("switch-open", "a switch of this host has not ended, so no node can leave it yet")
        install_program()
        record = read_state(RECORD) or {}
        if switch is None:
            switch = new_switch(os.urandom(4).hex(), record.get("release", ""), request, request["seconds"])
            keep_room()
        enter(switch, SWITCHING, boot=boot_id(), lease_here=request["lease"])
        arm(switch, request["lease"])
        keep_away(sorted({*record.get("left", []), *request["nodes"]}))
        patience = request["seconds"].get("drain", 0)  # the wish of the rollout, which may be new
        drain(request["nodes"], patience, lambda do, node: note("step", do=do, node=node))
        for node in request["nodes"]:
            if is_here(node, runtime_here(node)):  # it may have left before
                note("step", do="retire", node=node)
                retire(node, runtime_here(node))
        enter(switch, HEALTHY)
    return {"changed": True, "stopped": request["nodes"]}


def do_left(request: Json) -> Json:
    """Keep nodes away for good: they run on their new host, or nobody knows whether they do."""
    with locked(30):
        need_claim(request)
        switch, away = open_switch(), (read_state(RECORD) or {}).get("left", [])
        waits = switch if switch is not None and "lease_here" in switch else None
        if not set(request["nodes"]) <= set(away) or (waits and not is_leaving(waits)):
            raise RefusedError("not-left", "%s may run here again by itself" % ", ".join(request["nodes"]))
        if waits is None:  # a switch to a release without them keeps them away, and so does its way back
            return {"changed": False}
        waits["left"] = sorted({*waits["left"], *request["nodes"]})
        write_json(SWITCH, waits)
        if set(away) <= set(waits["left"]):
            remove(SWITCH)
            sync_directory(STATE)
            give_room()
            disarm(waits)
            note("left", switch=waits["id"], nodes=request["nodes"])
    return {"changed": True}
