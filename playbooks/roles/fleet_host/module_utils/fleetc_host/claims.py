"""Whose this host is: its name in its fleet, and the rollout that may change it.

In: a request. Out: nothing, or RefusedError where the host is not for it.

A rollout claims each host that it is going to change, until it ends: two never mix. Whether the owner of a claim still
lives only the machine can tell on which it rolls out, so a claim has no end of its own; whoever knows that its owner is
dead names it in `dead`.
"""

from __future__ import annotations

import os
import time

from .places import CLAIM, JOURNAL, RECORD, Json, RefusedError
from .switch_file import open_switch, times_of
from .system import locked, note, read_json, read_state, write_json


def need_claim(request: Json) -> None:
    """Refuse a request of a rollout while another one has claimed this host, and one that was pushed aside."""
    found, own = read_json(CLAIM), request.get("owner", {}).get("id", "")
    holder = (found or {}).get("owner", {})
    if found is not None and holder.get("id", "") not in (own, *request.get("dead", [])):
        message = "the rollout %s of %s has claimed this host" % (holder.get("id"), holder.get("who"))
        if isinstance(found.get("at"), (int, float)):
            message += " since %d min" % minutes_since(found["at"])
        way = "wait for its end, or if it is dead: fleetc deploy --take-over %s" % holder.get("id")
        message += "; %s; %s" % (doing_here(), way)
        raise RefusedError("host-claimed", message, owner=holder)
    if request.get("claimed") and (found is None or holder.get("id", "") != own):
        raise RefusedError("claim-lost", "another rollout has taken this host over meanwhile")


def doing_here() -> str:
    """What the rollout that claimed this host does here, so that a person can tell whether it is dead."""
    switch = open_switch()
    if switch is None:
        try:
            return "nothing was changed here for %d min" % minutes_since(os.stat(JOURNAL).st_mtime)
        except OSError:
            return "nothing was changed here"
    times = times_of(switch)
    left = ", and the host goes back by itself within %d s" % max(0, times["returns"]) if "returns" in times else ""
    return "a switch here is %s%s" % (switch["phase"], left)


def minutes_since(moment: float) -> int:
    """Whole minutes since a moment of the clock, none if that is set back."""
    return max(0, round((time.time() - moment) / 60))


def claim(request: Json) -> None:
    """Keep other rollouts away from this host. Stock ansible-playbook has no id, so it claims nothing."""
    if not request.get("owner", {}).get("id"):
        return
    with locked(30):
        need_claim(request)
        found, own = read_json(CLAIM), request.get("owner", {})
        if found is None or found.get("owner") != own:
            write_json(CLAIM, {"owner": own, "seal": request["plan"]["seal"], "at": time.time()})
            note("claimed", owner=own.get("id", ""), who=own.get("who", ""))


def learn_name(wanted: Json) -> None:
    """Write down which host of which fleet this machine is. The caller holds the lock."""
    record, name = read_state(RECORD) or {}, {key: wanted[key] for key in ("fleet", "host")}
    if not record.items() >= name.items():
        write_json(RECORD, {**record, **name})


def need_own_release(wanted: Json, request: Json) -> None:
    """Refuse a release for another host: a wrong address, or the wrong name in a pull."""
    record = read_state(RECORD) or {}
    before = (record.get("fleet") or wanted["fleet"], record.get("host") or wanted["host"])
    if before != (wanted["fleet"], wanted["host"]) and not request.get("renamed"):
        message = (
            "this machine is the host %s of the fleet %s, and the release is for %s of %s: correct the address, or if "
            "it has a new name: fleetc deploy --renamed %s"
            % (before[1], before[0], wanted["host"], wanted["fleet"], wanted["host"])
        )
        raise RefusedError("other-host", message)
