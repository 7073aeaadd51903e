"""One switch, from its intention to its end.

In: a release and a request, or nothing. Out: the switch as it stands.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial

from .bringing import bring
from .health import healthy, last_words
from .hindrances import hindrance
from .places import PROGRAM, QUARANTINE, RECORD, SWITCH, TIMER, WORKER, Json, RefusedError
from .releases import wanted_here, wanted_of
from .switch_file import (
    ARMED,
    ENDED,
    HEALTHY,
    OPEN,
    QUARANTINED,
    REVERTED,
    REVERTING,
    STUCK,
    SWITCHING,
    WATCHING,
    enter,
    give_room,
    is_leaving,
    keep_room,
    nodes_leaving,
    note_wait,
    open_switch,
    phase_for_people,
)
from .system import boot_id, is_shutting_down, locked, note, read_state, run, write_json

STARTING_SECONDS = 15
"""How long the process that carries out a switch may take to begin."""

SLICE_SECONDS = 8
"""How long one request waits for a switch: the rollout asks again, and its log has a line every ten seconds."""

DOING = {
    "drain": "finishes its sessions",
    "live": "is set while it runs",
    "move": "its link moves to the release",
    "retire": "stops for good",
    "start": "starts",
    "stop": "stops",
    "take": "is taken over",
}
"""Steps for people."""

AGAIN_SECONDS = 20
"""How long after a way back that broke off the next one begins."""

KEPT_UP = ("--property=Restart=on-abnormal", "--property=RestartSec=5")
"""What is killed begins again. What ends with an error does not: it has armed a timer where it can be tried again."""

STOPPING_SECONDS = 90
"""What stopping may take before the deadline of the start begins to count."""


def arm(switch: Json, seconds: float) -> None:
    """Have the host revert by itself after so many seconds. They are counted by the kernel, whatever the clock says."""
    before = dict(switch)
    switch["armed"] = switch.get("armed", 0) + 1
    switch["until"] = time.monotonic() + seconds
    start_timer("%s-%s-%d" % (TIMER, switch["id"], switch["armed"]), seconds)
    write_json(SWITCH, switch)
    disarm(before)  # only now: there is no moment without a timer that acts


def start_timer(unit: str, seconds: float, *again: str) -> None:
    """Have this program look after so many seconds whether somebody has to end a switch; that one `again`, if named."""
    options = ("--on-active=%d" % max(1, round(seconds)), "--timer-property=AccuracySec=100ms")
    start_apart(unit, options, "resume", *again, "--after", str(seconds))


def disarm(switch: Json) -> None:
    """Stop the timer of a switch; one that is missed finds out by itself that it is out of date."""
    if switch.get("armed"):
        run("systemctl", "stop", "%s-%s-%d.timer" % (TIMER, switch["id"], switch["armed"]))


def start_apart(unit: str, options: tuple[str, ...], *words: str) -> None:
    """Run this program apart from the session that asked for it: by systemd, or without it in a session of its own.

    systemd starts it again if somebody kills it.
    """
    command, options = [sys.executable or "python3", PROGRAM], (*options, *KEPT_UP)
    own = words[: words.index("--after")] if "--after" in words else words  # systemd waits by itself
    if run("systemd-run", "--quiet", "--collect", "--unit=" + unit, *options, *command, *own).status == 0:
        return
    with open(os.devnull, "r+b") as nowhere:
        subprocess.Popen([*command, *words], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def begin_switch(target: str, request: Json) -> Json:
    """Write down a switch to a release on the disk, arm the way back, and start who carries it out."""
    wanted = wanted_of(target)
    switch = {**new_switch(request["id"], target, request, wanted["seconds"]), "lease": request.get("lease")}
    switch["restart"] = request.get("restart", [])
    arrived = [service["name"] for service in wanted["services"]]
    again = {*nodes_leaving()} & {*arrived}  # their move failed, so they come back whatever becomes of this switch
    switch["left"] = [node for node in switch["left"] if node not in again]
    keep_room()
    enter(switch, ARMED)
    keep_away([node for node in switch["left"] if node not in arrived])
    seconds = switch["seconds"]
    end = seconds["deadline"] + seconds["stable"] + seconds["confirm"] + seconds.get("drain", 0)
    arm(switch, STOPPING_SECONDS + end)
    start_apart("%s-%s" % (WORKER, switch["id"]), (), "carry-out")
    return switch


def new_switch(identity: str, target: str, request: Json, seconds: Json) -> Json:
    """A switch from what the host runs, which nobody has begun."""
    record = read_state(RECORD) or {}
    return {
        "id": identity,
        "from": record.get("release", ""),
        "left": record.get("left", []),
        "to": target,
        "owner": request.get("owner", {}),
        "begun": time.time(),
        "since": time.monotonic(),
        "boot": boot_id(),
        "seconds": seconds,
        "restarted": [],
        "live": [],
        "reasons": [],
        "words": [],
    }


def keep_away(nodes: list[str]) -> None:
    """Write down which nodes moved away: no way back, no boot and no timer starts them here again."""
    record = read_state(RECORD) or {}
    if record.get("left", []) != nodes:
        write_json(RECORD, {**record, "left": nodes})


def carry_out(switch: Json) -> None:
    """Bring the host forward; back where that fails. The caller holds the lock."""
    seconds = switch["seconds"]
    try:
        enter(switch, SWITCHING)
        wanted = {**wanted_here(switch["to"]), "restart": switch.get("restart")}
        bring(switch["to"], wanted, telling(switch), patience=seconds.get("drain", 0))
        enter(switch, WATCHING)
        problems = healthy(wanted, seconds["deadline"], seconds["stable"], partial(note_wait, switch))
        if not problems:
            enter(switch, HEALTHY)
            left = seconds["confirm"] + seconds.get("drain", 0)  # others of its batch may wait for their sessions
            if switch.get("lease"):
                left = min(left, switch["lease"]["until"] - STOPPING_SECONDS - time.monotonic())
            arm(switch, left)
            return
    except Exception as failure:  # whatever it was, the host does not stay halfway
        problems = [told_of(failure)]
    back(switch, problems, words_of(switch))


def told_of(failure: Exception) -> str:
    """What a failure was, for people."""
    if isinstance(failure, RefusedError):
        return str(failure)
    if isinstance(failure, OSError):
        return "%s: %s" % (failure.filename or "the host", failure.strerror or type(failure).__name__)
    return "%s: %s" % (type(failure).__name__, str(failure)[:300])


def words_of(switch: Json) -> list[str]:
    """The last log lines of the nodes that a switch started; none where its release is gone."""
    try:
        wanted = wanted_of(switch["to"])
    except RefusedError:
        return []
    begun = [service for service in wanted["services"] if service["name"] in switch["restarted"]]
    return last_words({**wanted, "services": begun}, switch["begun"])


def telling(switch: Json) -> Callable[[str, str], None]:
    """Writes each step of a switch down before it is taken."""

    def told(do: str, node: str) -> None:
        if do == "start" and node not in switch["restarted"]:
            switch["restarted"].append(node)
            switch["live"] = [other for other in switch["live"] if other != node]
        if do == "live" and node not in switch["live"]:
            switch["live"].append(node)
        limit = switch["seconds"].get("drain", 0) if do == "drain" else 0
        switch["step"] = [do, node]
        switch["waits"] = {"words": [words_of_step(do, node)], "since": time.monotonic(), "limit": limit}
        write_json(SWITCH, switch)
        note("step", switch=switch["id"], do=do, node=node)

    return told


def words_of_step(do: str, node: str) -> str:
    """A step for people."""
    return "%s: %s" % (node or "all nodes", DOING.get(do, do))


def back(switch: Json, reasons: list[str], words: Iterable[str] = ()) -> None:
    """Bring the host back to where a switch began, and ask the same health. The caller holds the lock.

    Where that breaks off, as on a disk that takes no writes, the host soon tries it again. While the host is being shut
    down nothing can be started, so it goes back when it boots; the timer is for a host that only seemed to.
    """
    try:
        need_power()
        go_back(switch, reasons, words)
    except Exception as failure:
        try_again(switch, told_of(failure))
        raise


def try_again(switch: Json, why: str) -> None:
    """Arm a timer that tries this way back again, whatever of it can be written down."""
    start_timer("%s-%s-%s" % (TIMER, switch["id"], os.urandom(4).hex()), AGAIN_SECONDS, switch["id"])
    words = "%s; the host tries again every %d s" % (why, AGAIN_SECONDS)
    now, then = time.monotonic(), time.monotonic() + AGAIN_SECONDS
    switch.update(tries=switch.get("tries", 0) + 1, until=then, entered=then)  # until then nobody else begins
    switch["waits"] = {"words": [words], "since": now, "limit": 0}
    with contextlib.suppress(OSError):
        write_json(SWITCH, switch)


def need_power() -> None:
    """Refuse to judge a host that is being shut down: its switch stays open, and the unit at boot ends it."""
    if is_shutting_down():
        raise RefusedError("host-stops", "the host is being shut down; it goes back when it boots")


def go_back(switch: Json, reasons: list[str], words: Iterable[str]) -> None:
    """One attempt to bring the host back. Raises where that cannot be done now, which is no fault of the release."""
    seconds = switch["seconds"]
    give_room()
    enter(switch, REVERTING, reasons=[*switch["reasons"], *reasons][:20], words=[*switch["words"], *words])
    arm(switch, STOPPING_SECONDS + seconds["deadline"] + seconds["stable"])
    keep_away(switch.get("left", []))
    wanted, broken = wanted_of(""), None
    try:
        wanted = {**wanted_here(switch["from"]), "restart": switch.get("restart")}
        if wanted.get("live") == "only":  # a node that does not take its old settings back has to be restarted for them
            wanted["live"] = "try"
        bring(switch["from"], wanted, telling(switch))
        problems = healthy(wanted, seconds["deadline"], seconds["stable"], partial(note_wait, switch))
    except Exception as failure:
        problems, broken = [told_of(failure)], failure
    if problems:
        need_power()
        in_the_way = hindrance(wanted, broken)
        if in_the_way:
            raise RefusedError("not-now", in_the_way)
    if problems:
        why = "it could not go back to %s: %s" % (switch["from"][:12] or "nothing", "; ".join(problems)[:500])
        write_json(QUARANTINE, {"why": why, "switch": switch["id"], "at": time.time()})
        enter(switch, QUARANTINED, reasons=[*switch["reasons"], why])
    else:
        enter(switch, REVERTED)
    disarm(switch)  # only now: a process that is killed before this is followed by the timer


def resume(at_boot: bool, again: str = "") -> None:
    """End a switch that nobody else ends any more: its process died, the host was switched off, nobody confirmed it.

    `again` is a switch whose way back broke off: it is due, whichever end is written down.
    """
    with locked(3600):
        switch = open_switch()
        if switch is None:
            return
        here = switch.get("boot") == boot_id()
        if at_boot and is_leaving(switch):  # nodes may run elsewhere now, for as long as they could before
            switch["boot"] = boot_id()
            arm(switch, switch["lease_here"])
            return
        if not at_boot and here and switch["id"] != again and time.monotonic() < switch.get("until", 0):
            return  # a later timer of the same switch is armed
        died = "nobody confirmed the release in time" if here else "the host was switched off in the middle"
        if switch["phase"] != HEALTHY and here:
            died = "the switch broke off in the phase %s" % switch["phase"]
        if is_leaving(switch):
            died = "nobody said that the nodes which left may stay away"
        switch["boot"] = boot_id()
        back(switch, [] if switch["phase"] == REVERTING else [died])


def wait_for_end(identity: str) -> Json:
    """Wait until a switch is healthy, reverted or in quarantine, or SLICE_SECONDS are over.

    Go back where the process that carries it out died. If that breaks off, the host tries it again by itself.
    """
    end = time.monotonic() + SLICE_SECONDS
    tried = False
    while True:
        switch = read_state(SWITCH)
        if switch is None or switch["id"] != identity:
            raise RefusedError("switch-gone", "the switch %s was ended by somebody else" % identity)
        if phase_for_people(switch) in (*ENDED, STUCK) or time.monotonic() >= end:
            return switch
        entered: float = switch["entered"] if "entered" in switch else switch["since"]
        begins = switch["phase"] in (ARMED, REVERTING) and time.monotonic() - entered <= STARTING_SECONDS
        if not begins and not tried:
            try:
                with locked(0):
                    tried = True
                    end_dead(identity)
            except RefusedError:  # whoever carries it out holds the lock, or it cannot go back now
                pass
        time.sleep(0.2)


def end_dead(identity: str) -> None:
    """Go back from a switch whose process holds no lock any more. The caller holds the lock."""
    switch = read_state(SWITCH) or {}
    if switch.get("id") == identity and switch["phase"] in OPEN and switch["phase"] != HEALTHY:
        died = "the switch broke off in the phase %s" % switch["phase"]
        back(switch, [] if switch["phase"] == REVERTING else [died])


def main() -> None:
    """Called with a word by a timer, by systemd at boot, or by the request that began a switch."""
    words = sys.argv[1:]
    os.umask(0o022)
    if "--after" in words:
        time.sleep(float(words.pop()))
        words.pop()
    if words[:1] == ["resume"]:
        resume("--boot" in words, words[-1])
    elif words == ["carry-out"]:
        with locked(60):
            switch = open_switch()
            if switch is not None and switch["phase"] == REVERTING:
                back(switch, [])
            elif switch is not None and switch["phase"] == ARMED:
                carry_out(switch)
    else:
        sys.exit("fleetc_host.pyz resume [--boot | SWITCH] | carry-out")
