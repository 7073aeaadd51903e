"""What a host runs, and what a release wants, both in the form that `steps` reads.

In: nothing, or what a release wants. Out: a state, as data.
"""

from __future__ import annotations

import os
import re

from .places import CURRENT, MARKERS, NEWEST_PLAN, QUARANTINE, RECORD, RELEASES, UNITS, Json
from .processes import is_same_file, processes_of_containers, processes_of_units, set_since
from .programs import is_installed, program_path
from .releases import (
    changed_files,
    digest_in,
    digest_of_files,
    exclusive_of,
    release_at,
    runtime_here,
    service_in,
    unit_of,
)
from .secret_files import digest_of_secrets, secrets_at, secrets_digest, variables_in
from .stack.checkout import commit_of, commit_wanted, is_managed
from .stack.looking import look_at_stack, secrets_it_had
from .stack.parts import units_of
from .steps import HOST, STACK, is_of_stack, settings_of
from .switch_file import switch_for_people
from .system import hexdigest, names_in, read, read_json, read_state
from .taking import has_secrets, state_of_taken, taken_here

DRIFT_LIMIT = 280
"""Characters of what is said of one difference: fleetc takes longer texts for senseless."""


def look() -> Json:
    """What the host runs: its release, and each node with what differs from what it was started from."""
    nodes = names_in(MARKERS)
    in_units = [node for node in nodes if runtime_here(node) == "systemd"]
    units = processes_of_units(in_units)
    containers = processes_of_containers(node for node in nodes if node not in in_units)
    processes = []
    for node in nodes:
        runtime = "systemd" if node in in_units else "docker"
        marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()
        digest = marker[0] if len(marker) == 2 and re.fullmatch("[0-9a-f]{64}", marker[0]) else ""
        asked = units if runtime == "systemd" else containers
        facts = {} if asked is None else asked.get(node, {})
        running = None if asked is None else bool(facts.get("running"))
        drift = drift_of(node, runtime, marker, facts) if digest and running else []
        own = settings_of(service_in(release_at("%s/%s" % (CURRENT, node)), node)) if digest else {}
        shown = [words[:DRIFT_LIMIT] for words in drift]
        process = {"node": node, "digest": digest, "runtime": runtime, "running": running, "drift": shown}
        processes.append({**process, **own, "exclusive": exclusive_of(node)})
    processes += state_of_taken()
    processes += look_at_stack()
    record = read_state(RECORD) or {}
    return {
        "fleet": record.get("fleet", ""),
        "host": record.get("host", ""),
        "release": digest_in(record.get("release", "")),
        "processes": processes,
        "newest": (read(NEWEST_PLAN) or b"").decode(errors="replace").strip(),
        "switch": switch_for_people(),
        "quarantine": (read_json(QUARANTINE) or {}).get("why", ""),
    }


def drift_of(node: str, runtime: str, marker: list[str], facts: Json) -> list[str]:
    """How a running node differs from what it was started from, in words; nothing is unknown here but is left out."""
    release = release_at("%s/%s" % (CURRENT, node))
    if not release:
        return ["its link to a release is gone"]
    directory = "%s/%s/%s" % (RELEASES, release, node)
    if not os.path.isdir(directory):
        return ["its release was removed"]
    found = []
    if digest_of_files(directory) != marker[0]:
        found.append("files of its release were changed: %s" % (", ".join(changed_files(release, node)) or "a mode"))
    if secrets_digest(directory) != marker[1]:
        found.append("its secrets were changed on the host")
    service = service_in(release, node)
    if runtime == "systemd":
        name = unit_of(node) + ".service"
        if read("%s/%s" % (UNITS, name)) != read("%s/%s" % (directory, name)):
            found.append("its unit was changed")
        if facts.get("dropins"):
            found.append("its unit has additions: %s" % ", ".join(facts["dropins"]))
        if facts.get("stale"):
            found.append("systemd has not read its unit again")
    elif service is not None and service.get("image_id") and facts.get("image") != service["image_id"]:
        found.append("its container was made from another image")
    if service is not None:
        program = service.get("program") or {}
        if program.get("sha256") and not is_installed(program):
            found.append("its program was changed or removed on the host")
        found += drift_of_process(facts["pid"], service, directory, runtime)
    return found


def drift_of_process(pid: int, service: Json, directory: str, runtime: str) -> list[str]:
    """How the arguments and the environment of a process differ from those of its release."""
    arguments, environment = read("/proc/%d/cmdline" % pid), read("/proc/%d/environ" % pid)
    if not arguments or environment is None:
        return []  # it ended meanwhile: whether it runs is asked elsewhere
    found = []
    program = service.get("program") or {}
    if program.get("sha256") and not is_same_file("/proc/%d/exe" % pid, program_path(program)):
        found.append("its process runs another program")
    has_arguments = hexdigest(arguments.partition(b"\0")[2])
    since = set_since(service["name"], pid)
    if service.get("arguments") and service["arguments"] not in (has_arguments, since.get("arguments")):
        found.append("its process has other arguments%s" % other_arguments(arguments, directory))
    if since.get("taken"):
        return found  # its settings are those of its release, wherever the process has them from
    has = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0") if entry)
    wanted: dict[str, str] = {}
    for name in ("node.env", "secrets/secrets.env"):
        wanted.update(variables_in(read("%s/%s" % (directory, name)) or b"", runtime))
    other = sorted(name for name, value in wanted.items() if has.get(name.encode()) != value.encode())
    if other:
        found.append("its process has another %s in its environment" % ", ".join(other))
    return found


NAMED = 5
PLAIN = re.compile(r"[0-9./]{1,30}|true|false")
"""Values of arguments that are shown: numbers and switches, which are never a secret that somebody wrote there."""


def other_arguments(has: bytes, directory: str) -> str:
    """Which arguments of a process differ from those of its release, as the end of a sentence; "" where none does."""
    were = arguments_in((read(directory + "/launch.flags") or b"").decode(errors="replace").splitlines())
    are = arguments_in(has.decode(errors="replace").split("\0")[1:])
    other = sorted(name for name in {*were, *are} if were.get(name) != are.get(name))
    told = ["-%s%s" % (name, in_words(are.get(name), were.get(name))) for name in other[:NAMED]]
    more = " and %d more" % (len(other) - NAMED) if len(other) > NAMED else ""
    return ": %s%s" % (", ".join(told), more) if told else ""


def arguments_in(words: list[str]) -> dict[str, str]:
    """Arguments by the name of their flag. One without a value has "" here, whatever word follows."""
    pairs = (word.lstrip("-").partition("=") for word in words if word.startswith("-"))
    return {name[:60]: value for name, _, value in pairs}


def in_words(now: str | None, before: str | None) -> str:
    """How one argument differs."""
    if now is None:
        return " is missing"
    if before is None:
        return " is new"
    return " is %s instead of %s" % (now, before) if PLAIN.fullmatch(now) and PLAIN.fullmatch(before) else " differs"


def look_with_secrets(release: str) -> Json:
    """What the host runs, and which of it was started with other secrets than a release on the disk holds."""
    return with_other_secrets(look(), secrets_at("%s/%s" % (RELEASES, release)) if release else {})


def with_other_secrets(now: Json, files: dict[str, bytes]) -> Json:
    """A state in which each process says whether these secrets, by their path in a release, are not those it has."""
    taken = taken_here()
    for process in now["processes"]:
        node = process["node"]
        if is_of_stack(process):
            there = {name: hexdigest(files.get("%s/secrets/%s.env" % (STACK, name), b"")) for name in ("host", "turn")}
            process["other_secrets"] = any(there[name] != had for name, had in secrets_it_had(process).items())
            continue
        marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()
        inside = node + "/secrets/"
        own = {path[len(inside) :]: content for path, content in files.items() if path.startswith(inside)}
        if process.get("taken"):
            process["other_secrets"] = node not in taken or not has_secrets(taken[node], own)
            continue
        process["other_secrets"] = bool(process["digest"]) and marker[1:] != [digest_of_secrets(own)]
    return now


def wanted_state(wanted: Json) -> Json:
    """What a release wants, in the form in which a state of a host is told."""
    processes = [
        {"node": service["name"], "digest": service["digest"], "runtime": wanted["runtime"], **settings_of(service)}
        for service in wanted["services"]
    ]
    live = wanted.get("live", "never")
    return {"release": wanted["digest"], "live": live, "processes": processes + units_of(wanted.get("stack"))}


def add_source_drift(now: Json, stack: Json | None) -> None:
    """Say of the host's own services if the checkout is not at the release that is wanted: it moves with them."""
    if not stack or not is_managed(stack) or not os.path.isdir(stack["checkout"]):
        return
    head = commit_of(stack, "HEAD")
    for process in now["processes"]:
        if process["node"] == HOST and not process["drift"] and head and head != commit_wanted(stack):
            process["drift"] = ["its checkout is not at %s" % stack["ref"]]
