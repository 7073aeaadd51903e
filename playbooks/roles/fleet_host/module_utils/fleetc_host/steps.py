"""The steps from what a host runs to what a release wants.

In: two states, as data. Out: the steps between, in order. fleetc calls `steps` too, to say in a plan what a rollout
will do, so this module stands alone and reads nothing but its arguments.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


NAMED = 5
"""How many settings one reason names."""

STAYS = ("keep", "ill", "unknown")
"""Steps that change nothing."""

STACK = "avatar"
"""The directory of the avatar stack, beside those of nodes."""


def steps(now: Json | None, wanted: Json) -> list[Json]:
    """What a rollout does on a host, in order: each step has do, node, digest and reason.

    `now` is what the host runs, None where nobody knows; `wanted` what it shall run, nodes in the order in which they
    start. Both have the digest of a release and processes: node, digest, runtime, and what is known of running,
    project, turn, secrets, what differs from that release (drift, unlinked, was_set, ill, unanswered), and of settings
    that can be changed live: rest, live and silent. `wanted` also says how such a change is made, and in `out` until
    when and why nodes are out of service. `do` is copy, keep, ensure, retire, start, restart, live, or halt: nothing
    may be done. It is ill or unknown where no step helps a node that is not well, or does not answer. Where `wanted`
    names nodes in `restart`, these restart, and nothing else changes.
    """
    if wanted.get("restart"):
        named = [process for process in wanted["processes"] if process["node"] in wanted["restart"]]
        return [step("restart", process["node"], process["digest"], "a person asked for it") for process in named]
    units = [process for process in wanted["processes"] if is_of_stack(process)]
    nodes = [process for process in wanted["processes"] if not is_of_stack(process)]
    if now is None:
        return [
            step("ensure", "", wanted["release"]),
            *(step("ensure", p["node"], p["digest"]) for p in (*nodes, *units)),
        ]
    found = [step("keep" if now["release"] == wanted["release"] else "copy", "", wanted["release"])]
    there = [process for process in now["processes"] if not is_of_stack(process)]
    out = wanted.get("out", {})
    found += steps_to_retire(there, nodes, out)
    for process in nodes:
        same = (p for p in there if (p["node"], p["runtime"]) == (process["node"], process["runtime"]))
        found.append(step_to_start(process, next(same, None), wanted.get("live", "never")))
    return found + steps_of_stack([process for process in now["processes"] if is_of_stack(process)], units, out)


def step(do: str, node: str, digest: str, reason: str = "") -> Json:
    """One step."""
    return {"do": do, "node": node, "digest": digest, "reason": reason}


def why_gone(node: str, out: dict[str, str]) -> str:
    """Why a node, or the stack, stops here."""
    return "it is out of service %s" % out[node] if node in out else "it has no place here any more"


def steps_to_retire(there: list[Json], wanted: list[Json], out: dict[str, str]) -> list[Json]:
    """Units first, then containers, each by name. What changes its runtime stops as the one and starts as the other."""
    runtimes = {process["node"]: process["runtime"] for process in wanted}
    found = []
    for runtime in ("systemd", "docker"):
        for process in there:
            name, kept = process["node"], runtimes.get(process["node"])
            if process.get("taken"):
                continue  # no release has reached it, so it is nobody's to end
            if process["runtime"] == runtime and kept != runtime:
                reason = "it moves from %s to %s" % (runtime, kept) if kept else why_gone(name, out)
                found.append(step("retire", name, "", reason))
    return found


def step_to_start(wanted: Json, there: Json | None, live: str = "never") -> Json:
    """What it takes to run `wanted` where `there` is what the host has of it; `live` is try, only or never."""
    node, digest = wanted["node"], wanted["digest"]
    if there is None:
        return step("start", node, digest, "it is new here")
    if there["running"] is False:
        return step("start", node, digest, "it does not run")
    if not there["digest"]:
        return step("restart", node, digest, "its last start was not completed")
    if there["digest"] != digest:
        changed = None if live == "never" else changed_settings(wanted, there)
        if changed is None:
            return step("restart", node, digest, "its files change")
        hindrance = why_not_live(wanted, changed)
        if not hindrance:
            return step("live", node, digest, "it takes %s while it runs" % told(changed))
        if live == "only":
            return step("halt", node, "", "%s, and rollout.live is only" % hindrance)
        return step("restart", node, digest, "its files change (%s), and %s" % (told(changed), hindrance))
    if there.get("drift"):
        return step("restart", node, digest, there["drift"][0])
    if there.get("other_secrets"):
        return step("restart", node, digest, "its secrets change")
    was, will = there.get("secrets"), wanted.get("secrets")
    if was is not None and will is not None and was != will:
        return step("ensure", node, digest, "its secrets are read elsewhere")
    undone = "restart" if live == "never" else "live"
    for do, kind in ((undone, "was_set"), ("ensure", "unlinked"), ("ill", "ill"), ("unknown", "unanswered")):
        if there.get(kind):
            return step(do, node, digest, told(there[kind]))
    return step("keep", node, digest)


def changed_settings(wanted: Json, there: Json) -> list[str] | None:
    """The settings that a node takes while it runs, such as maxSessions=8, if nothing else changes; None otherwise.

    A setting that is there and not wanted any more cannot be taken back from a node that runs.
    """
    same = there.get("rest") and there["rest"] == wanted.get("rest")
    was, will = there.get("secrets"), wanted.get("secrets")
    elsewhere = was is not None and will is not None and was != will
    if not same or there.get("drift") or there.get("other_secrets") or elsewhere:
        return None
    had = dict(named(setting) for setting in (*there.get("live", ()), *there.get("silent", ())))
    gets = dict(named(setting) for setting in (*wanted.get("live", ()), *wanted.get("silent", ())))
    if not had.keys() <= gets.keys():
        return None
    return ["%s=%s" % (name, value) for name, value in gets.items() if had.get(name) != value]


def why_not_live(wanted: Json, changed: list[str]) -> str:
    """Why settings have to wait for a restart all the same; "" where they do not."""
    silent = [named(setting)[0] for setting in changed if setting in wanted.get("silent", ())]
    if silent:
        return "it does not say which %s it has" % " and ".join(silent)
    if wanted["runtime"] == "docker":
        return "a container keeps the values that it was made with"
    return ""


def told(changed: list[str]) -> str:
    """Settings for people, the first of many."""
    more = ["%d more" % (len(changed) - NAMED)] if len(changed) > NAMED else []
    return ", ".join([*changed[:NAMED], *more]) or "its new files"


def named(setting: str) -> tuple[str, str]:
    """Name and value of a setting such as maxSessions=8; no value has such a sign in it."""
    name, _, value = setting.rpartition("=")
    return name, value


def settings_of(service: Json | None) -> Json:
    """The settings of a node that can be changed live, and the digest of all that cannot, as far as they are known."""
    return {key: (service or {})[key] for key in ("rest", "live", "silent") if key in (service or {})}


FIREWALL, HOST, TURN, SLOT = (STACK + "/" + name for name in ("firewall", "host", "turn", "slot-"))


def is_of_stack(process: Json) -> bool:
    """Whether a process is a unit of an avatar stack."""
    return bool(process["node"].startswith(STACK + "/"))


def steps_of_stack(there: list[Json], wanted: list[Json], out: dict[str, str]) -> list[Json]:
    """The steps for an avatar stack.

    Slots that are gone or moved stop first, so that their ports are free; then come the packet filter, the services of
    the host, and each slot by its number. A stack without slots is taken down whole.
    """
    has = {(process["node"], process.get("project", "")): process for process in there}
    kept = {(unit["node"], unit.get("project", "")) for unit in wanted}
    gone = [process for key, process in sorted(has.items()) if key not in kept]
    found = [
        step("retire", process["node"], "", why_slot_is_gone(process, wanted, out))
        for process in gone
        if process["node"].startswith(SLOT)
    ]
    firewall = [unit for unit in wanted if unit["node"] == FIREWALL]
    found += [step_of_unit(unit, has) for unit in firewall]
    for node in (TURN, HOST, FIREWALL):
        if any(process["node"] == node for process in gone):
            found.append(step("retire", node, "", why_gone(STACK, out)))
    rest = [unit for unit in wanted if unit not in firewall]
    rest.sort(key=lambda unit: (unit["node"].startswith(SLOT), unit["node"]))
    return found + [step_of_unit(unit, has) for unit in rest]


def why_slot_is_gone(process: Json, wanted: list[Json], out: dict[str, str]) -> str:
    """Where the project of a slot goes, or who gets its ports."""
    if STACK in out:
        return why_gone(STACK, out)
    project = process.get("project", "")
    moved = [unit["node"] for unit in wanted if unit.get("project") == project]
    taken = [unit.get("project", "") for unit in wanted if unit["node"] == process["node"]]
    if moved:
        return "%s moves to %s" % (project, moved[0])
    return "%s gives way to %s" % (project, taken[0]) if taken else "%s has no place here any more" % project


def step_of_unit(unit: Json, has: dict[tuple[str, str], Json]) -> Json:
    """One unit, where `has` is what the host has. One that sleeps counts as running: it is left asleep."""
    there, host = has.get((unit["node"], unit.get("project", ""))), has.get((HOST, ""))
    if unit["node"] == TURN and there is None and host is not None and not host["digest"]:
        return step("restart", TURN, unit["digest"], "its last start was not completed")
    found = step_to_start(unit, there)
    if found["do"] in (*STAYS, "ensure") and there is not None and there.get("turn", "") != unit.get("turn", ""):
        reason = "the settings of TURN change, which signaling and recorder read"
        return step("restart", unit["node"], unit["digest"], reason)
    return found
