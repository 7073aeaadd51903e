"""Carries out one request: the whole of what a rollout asks of a host.

In: one request, as JSON. Out: one answer, as JSON.
"""

from __future__ import annotations

import contextlib
import os
import re
import time

from .claims import claim, learn_name, need_claim, need_own_release
from .finding import do_find
from .installing import install_program
from .leaving import do_expect, do_left, do_retire, need_lease
from .logs import newest_log
from .looking import add_source_drift, look, wanted_state, with_other_secrets
from .places import CLAIM, FORMAT, NEWEST_PLAN, QUARANTINE, RECORD, RELEASES, STATE, SWITCH, WORKER, Json, RefusedError
from .preflight.checks import do_preflight, need_nothing
from .programs import install_programs, make_incoming, need_program, programs_in, programs_to_carry, runner_of
from .releases import kept_release, wanted_here, wanted_of, whole
from .secret_files import masked, secret_files, secrets_at
from .stack.checkout import fetch_source
from .stack.needs import need_stack
from .staging import (
    end_before,
    keep_images,
    learn_settings,
    make_places,
    need_programs,
    prune,
    ran_until,
    stage,
    staged,
)
from .steps import STACK, STAYS, steps
from .switch import STOPPING_SECONDS, arm, begin_switch, disarm, start_apart, told_of, wait_for_end
from .switch_file import (
    HEALTHY,
    OPEN,
    REVERTING,
    enter,
    give_room,
    is_confirmed,
    is_leaving,
    open_switch,
    phase_for_people,
    times_of,
)
from .system import boot_id, locked, note, read, read_json, read_state, remove, sync_directory, write, write_json
from .taking import do_take, forget_taken
from .verifying import do_verify

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""A name of a node: it is part of paths, of names of units and of containers."""


def need_names(request: Json) -> None:
    """Refuse names of nodes that would lead to another place than that of a node."""
    services = (request.get("wanted") or {}).get("services", [])
    for name in (*request.get("nodes", []), *(service["name"] for service in services)):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            message = "%r is not the name of a node: take letters, digits, - and _, and begin with a letter or a digit"
            raise RefusedError("node-name", message % (name,))


def asked_for(request: Json) -> tuple[Json, dict[str, bytes]]:
    """What a request wants of the host, and the secrets with it: its own release, or one that the host keeps."""
    release = named_release(request)
    if request.get("restart"):
        wanted = {**wanted_here(release), "restart": request["restart"], "stack": None}
        return wanted, secrets_at("%s/%s" % (RELEASES, release))
    if release:
        return wanted_of(release), secrets_at("%s/%s" % (RELEASES, release))
    return request["wanted"], secret_files(request["wanted"], request.get("values", {}))


def named_release(request: Json) -> str:
    """The release on the disk that a request is about: one to go back to, or the one that runs, to restart; else ""."""
    if not request.get("restart"):
        return kept_release(request["back_to"]) if request.get("back_to") else ""
    release = str((read_state(RECORD) or {}).get("release", ""))
    here = [service["name"] for service in wanted_here(release)["services"]]
    for node in request["restart"]:
        if node not in here:
            message = "%s is not in the release of this host, which has %s; deploy it first"
            raise RefusedError("node-not-here", message % (node, ", ".join(here) or "no node"))
    return release


def do_observe(request: Json) -> Json:
    """What the host runs, and with `wanted` the steps to it and what will run then. Changes nothing."""
    now = look()
    answer: Json = {"state": now, "changed": False, "clock": time.time()}
    if "wanted" in request:
        wanted, files = asked_for(request)
        add_source_drift(now, wanted.get("stack"))
        answer["steps"] = steps(with_other_secrets(now, files), wanted_state(wanted))
        answer["wants"] = [
            {"node": service["name"], "exclusive": service.get("exclusive", [])} for service in wanted["services"]
        ]
    return answer


def do_log(request: Json) -> Json:
    """The newest part of the log of the one node in `nodes`. Changes nothing."""
    (node,) = request["nodes"]
    return newest_log(node, int(request["seconds"]), int(request["bytes"]))


def do_end(request: Json) -> Json:
    """Let other rollouts at this host: this one has ended. The answer has the switch that it leaves open, if any."""
    own = request.get("owner", {}).get("id", "")
    try:
        with locked(1):
            if let_go(own):
                prune(request["keep"])
    except RefusedError as refusal:
        if refusal.code != "host-busy":
            raise
        let_go(own)  # its own switch goes on, so nobody else can claim the host meanwhile
    switch = open_switch()
    return {**(ended(switch) if switch else {}), "changed": False}


def let_go(own: str) -> bool:
    """Remove the claim of a rollout; whether it had one."""
    if (read_json(CLAIM) or {}).get("owner", {}).get("id", "") != own or not os.path.exists(CLAIM):
        return False
    remove(CLAIM)
    note("released", owner=own)
    return True


def do_begin(request: Json) -> Json:
    """What there is to do on the host in a rollout. It keeps the plan as the newest one, and refuses an older one."""
    if not request.get("check"):
        need_claim(request)
    if request.get("restart"):  # which changes nothing that a plan was made for
        need_own_release(request["wanted"], request)
    else:
        do_record(request)
    wanted = request["wanted"]
    found = read_json(QUARANTINE)
    if found is not None and not request.get("clear"):
        raise RefusedError(
            "host-quarantined", "%s; look at it, then deploy with --clear %s" % (found.get("why", ""), wanted["host"])
        )
    answer = do_observe(request)
    wanted = asked_for(request)[0]
    need_stack(wanted)
    for one in answer["steps"]:
        if one["do"] == "halt":
            raise RefusedError("live-impossible", "%s: %s" % (one["node"], one["reason"]))
    begun = answer["state"]["switch"] is not None
    answer["needed"] = begun or any(one["do"] not in STAYS for one in answer["steps"])
    if answer["needed"]:
        for program in programs_in(wanted):
            if not program.get("sha256"):  # the others come with the release, and are asked then
                need_program(program, runner_of(wanted["owner"]))
        ran_before = request.get("back_to") or request.get("restart")
        if "needs" in request and not request.get("claimed") and not ran_before:
            answer["findings"] = need_nothing(request)
    need_answers(answer["state"]["processes"])
    if answer["needed"]:
        answer["carry"] = programs_to_carry(wanted)
        if not request.get("check"):
            claim(request)
            if answer["carry"]:
                make_incoming()
    elif not request.get("check"):
        with locked(30):
            need_claim(request)
            remove(CLAIM)  # of a rollout that died here: this one changes nothing
            learn_name(request["wanted"])
            learn_settings(wanted)
            end_quarantine()
            prune(int(wanted.get("keep", 3)))  # which may be fewer than before
    return answer


def end_quarantine() -> None:
    """Let releases come here again: somebody has looked at the host. The caller holds the lock."""
    found = read_json(QUARANTINE)
    if found is not None:
        remove(QUARANTINE)
        note("cleared", why=found.get("why", ""))


def need_answers(processes: list[Json]) -> None:
    """Refuse a host of which nobody can tell what it runs: what is unknown is neither kept nor changed."""
    unknown = [process for process in processes if process["running"] is None]
    if unknown:
        in_docker = any(process["runtime"] == "docker" for process in unknown)
        message = "%s does not say whether %s runs; see on the host what %s says, and deploy again once it answers" % (
            "Docker" if in_docker else "nft",
            ", ".join(process["node"] for process in unknown),
            "systemctl status docker" if in_docker else "nft list tables",
        )
        raise RefusedError("runtime-silent", message)


def do_record(request: Json) -> Json:
    """Keep the plan of a rollout as the newest one that this host was given; refuse an older one."""
    plan = request["plan"]
    need_own_release(request["wanted"], request)
    given = (read(NEWEST_PLAN) or b"").decode(errors="replace")
    match = re.fullmatch(r"([0-9TZ:-]{20}) ([0-9a-f]{64}|-)\n?", given)
    newest = match[1] if match else ""
    if plan["seal"] != "-" and given and not match:
        raise RefusedError("plan-record-damaged", "%s makes no sense; look at it, then remove it" % NEWEST_PLAN)
    own = given.strip() == "%s %s" % (plan["created"], plan["seal"])
    if plan["seal"] != "-" and not own and newest >= plan["created"]:
        message = "a newer plan was rolled out here, made at %s; make a new plan and have it approved" % newest
        raise RefusedError("plan-superseded", message)
    if not request.get("check"):
        line = "%s %s\n" % (max(plan["created"], newest), plan["seal"])
        if given != line:
            write(NEWEST_PLAN, line.encode())
    return {"changed": False, "needed": False}


def do_stage(request: Json) -> Json:
    """Bring a release and its secrets to the disk, whole. What runs is not touched, but for what broke off before."""
    wanted = request["wanted"]
    need_own_release(wanted, request)
    with locked(30):
        need_claim(request)
        switch = open_switch()
        if switch is not None and not is_leaving(switch):
            end_before(switch, request)
        install_program()
        learn_name(wanted)
        kept = named_release(request)
        if kept:
            return ready(whole(kept))
        make_places(wanted)
        files = secret_files(wanted, request.get("values", {}))
        install_programs(wanted)
        need_programs(wanted)
        keep_images(wanted, files)
        fetch_source(wanted.get("stack"), wanted["host"])
        release = staged(wanted, files) or stage(wanted, files, request)
        need_stack(wanted, "%s/%s/%s" % (RELEASES, release, STACK))
        note("staged", release=release)
        return ready(release)


def ready(release: str) -> Json:
    """The answer about a release on the disk: its name, and the id of the switch to it, which is still to begin."""
    return {"release": release, "switch": os.urandom(4).hex(), "changed": True}


def do_activate(request: Json) -> Json:
    """Switch to a release on the disk and wait until it is healthy; the host goes back by itself where it is not.

    The answer comes after SLICE_SECONDS at the latest. The same request again goes on waiting for the same switch.
    """
    if (read_state(SWITCH) or {}).get("id") == request["id"]:
        need_claim(request)
        return ended(wait_for_end(request["id"]))
    with locked(30):
        need_claim(request)
        before = open_switch()
        if before is not None and not is_leaving(before):
            raise RefusedError("switch-open", "another switch has not ended; ask for it again")
        need_lease(request)
        found = read_json(QUARANTINE)
        if found is not None and not request.get("clear"):
            raise RefusedError("host-quarantined", found.get("why", ""))
        switch = begin_switch(request["release"], request)
        if before is not None:  # its nodes stay away, but for those that this release has
            disarm(before)
        end_quarantine()
    return ended(wait_for_end(switch["id"]))


def ended(switch: Json) -> Json:
    """What is said of a switch: how it ended, or what it waits for."""
    facts = {key: switch[key] for key in ("id", "from", "to", "reasons", "words", "restarted", "live")}
    facts["phase"] = phase_for_people(switch)
    here = "since" in switch and switch["boot"] == boot_id()  # that clock counts from the boot, and nobody sets it
    seconds = round(time.monotonic() - switch["since"], 1) if here else 0
    return {"changed": True, "switch": {**facts, **times_of(switch)}, "seconds": seconds}


def do_confirm(request: Json) -> Json:
    """End a healthy switch for good, and forget the releases that nobody keeps."""
    with locked(30):
        need_claim(request)
        switch = read_state(SWITCH)
        record = read_state(RECORD) or {}
        mine = switch is not None and switch["id"] == request["id"]
        if record.get("confirmed_switch") == request["id"]:
            if switch is not None and mine:
                forget_switch(switch)
            return {"changed": False}
        if switch is None or not mine or switch["phase"] != HEALTHY:
            known = ended(switch) if switch is not None and mine else {"switch": {"phase": "gone"}}
            message = "the release cannot be confirmed: its switch is %s" % known["switch"]["phase"]
            raise RefusedError("not-confirmed", message, **(known if mine else {}))
        ran = ran_until(switch["to"], record)
        write_json(RECORD, {**record, "confirmed": switch["to"], "confirmed_switch": switch["id"], "ran": ran})
        forget_switch(switch)
    return {"changed": True}


def forget_switch(switch: Json) -> None:
    """Remove what is left of a switch that the record says is confirmed. What of it fails takes nothing back."""
    with contextlib.suppress(OSError):
        remove(SWITCH)
        sync_directory(STATE)
        give_room()
    disarm(switch)
    with contextlib.suppress(OSError):
        forget_taken()
    with contextlib.suppress(OSError):
        remove(CLAIM)  # nothing more is changed here by this rollout
        note("confirmed", switch=switch["id"], release=switch["to"])
    with contextlib.suppress(OSError, RefusedError):
        prune(int(wanted_of(switch["to"]).get("keep", 3)))


def do_revert(request: Json) -> Json:
    """Take back a switch that is not confirmed, and wait for the end as in do_activate."""
    switch = read_state(SWITCH)
    if switch is not None and switch["id"] == request["id"] and switch["phase"] == REVERTING:
        return ended(wait_for_end(request["id"]))  # asked for before, or by its own timer
    with locked(30):
        switch = read_state(SWITCH)
        if switch is None or switch["id"] != request["id"] or is_confirmed(switch):
            raise RefusedError("switch-gone", "the switch %s has ended" % request["id"])
        if switch["phase"] in OPEN:
            give_room()
            enter(
                switch, REVERTING, reasons=[*switch["reasons"], request.get("why", "another host of its batch failed")]
            )
            arm(switch, STOPPING_SECONDS + switch["seconds"]["deadline"] + switch["seconds"]["stable"])
            start_apart("%s-%s-back" % (WORKER, switch["id"]), (), "carry-out")
    return ended(wait_for_end(request["id"]))


REQUESTS = {
    "observe": do_observe,
    "record": do_record,
    "begin": do_begin,
    "stage": do_stage,
    "activate": do_activate,
    "confirm": do_confirm,
    "revert": do_revert,
    "expect": do_expect,
    "retire": do_retire,
    "left": do_left,
    "end": do_end,
    "preflight": do_preflight,
    "log": do_log,
    "verify": do_verify,
    "find": do_find,
    "take": do_take,
}


def answer(request: Json) -> Json:
    """Carry out one request. What goes wrong is an answer too: a code, and a message for people."""
    os.umask(0o022)
    try:
        if request.get("format") != FORMAT:
            raise RefusedError(
                "other-format", "the request has format %r, and this program reads %d" % (request.get("format"), FORMAT)
            )
        need_names(request)
        return {"format": FORMAT, "ok": True, **REQUESTS[request["do"]](request)}
    except RefusedError as refusal:
        told = {"code": refusal.code, "message": str(refusal), **refusal.facts}
        return {"format": FORMAT, "ok": False, "changed": False, **told}
    except Exception as failure:  # nobody who asks is shown a traceback
        secrets = (str(value) for values in (request.get("values") or {}).values() for value in values.values())
        message = masked(told_of(failure), secrets)
        return {"format": FORMAT, "ok": False, "code": "host-failed", "message": message, "changed": False}
