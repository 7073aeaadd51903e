"""What a host runs, and what a release wants, both in the form that `steps` reads.

In: nothing, or what a release wants. Out: a state, as data.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor

from .judging import judged_here
from .places import CURRENT, MARKERS, NEWEST_PLAN, QUARANTINE, RECORD, RELEASES, Json
from .processes import processes_of_containers, processes_of_units
from .releases import digest_in, release_at, runtime_here, service_in, started_from, wanted_of
from .secret_files import digest_of_secrets, secrets_at
from .stack.checkout import commit_of, commit_wanted, is_managed
from .stack.looking import look_at_stack, secrets_it_had
from .stack.parts import units_of
from .steps import HOST, STACK, is_of_stack, settings_of
from .switch_file import nodes_leaving, switch_for_people
from .system import hexdigest, names_in, read, read_json, read_state
from .taking import has_secrets, state_of_taken, taken_here

WORDS_LIMIT = 280
"""Characters of what is said of one difference: fleetc takes longer texts for senseless."""


def look() -> Json:
    """What the host runs: its release, and each node with what differs from what it was started from."""
    nodes = names_in(MARKERS)
    in_units = [node for node in nodes if runtime_here(node) == "systemd"]
    units = processes_of_units(in_units)
    containers = processes_of_containers(node for node in nodes if node not in in_units)
    asked = {node: units if node in in_units else containers for node in nodes}
    with ThreadPoolExecutor(max_workers=16) as pool:
        processes = list(pool.map(lambda node: process_of_node(node, node in in_units, asked[node]), nodes))
    processes += [leaving_node(node) for node in nodes_leaving() if node not in nodes]
    processes += state_of_taken()
    processes += look_at_stack()
    for process in processes:
        for kind in {"drift", "unlinked", "was_set", "ill", "unanswered"} & process.keys():
            process[kind] = [text[:WORDS_LIMIT] for text in process[kind]]
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


def leaving_node(node: str) -> Json:
    """A node that may start here again by itself, as a process that does not run: for a rollout, it is still here."""
    release = (read_state(RECORD) or {}).get("release", "")
    exclusive = (service_in(release, node) or {}).get("exclusive", [])
    runtime = wanted_of(release)["runtime"]
    return {"node": node, "digest": "", "runtime": runtime, "running": False, "drift": [], "exclusive": exclusive}


def process_of_node(node: str, in_unit: bool, asked: dict[str, Json] | None) -> Json:
    """One node as a process of a state; `asked` is what systemd or Docker says, None if it does not answer."""
    runtime = "systemd" if in_unit else "docker"
    marker = started_from(node)
    digest = marker[0] if len(marker) > 1 and re.fullmatch("[0-9a-f]{64}", marker[0]) else ""
    facts = {} if asked is None else asked.get(node, {})
    running = None if asked is None else bool(facts.get("running"))
    process: Json = {"node": node, "digest": digest, "runtime": runtime, "running": running, "drift": []}
    service = service_in(release_at("%s/%s" % (CURRENT, node)), node) or {}
    if digest:
        process.update(settings_of(service))
    if digest and running:
        process.update(judged_here(node, runtime, marker, facts))
    return {**process, "exclusive": list(service.get("exclusive", []))}


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
        inside = node + "/secrets/"
        own = {path[len(inside) :]: content for path, content in files.items() if path.startswith(inside)}
        if process.get("taken"):
            process["other_secrets"] = node not in taken or not has_secrets(taken[node], own)
            continue
        process["other_secrets"] = bool(process["digest"]) and started_from(node)[1] != digest_of_secrets(own)
    return now


def wanted_state(wanted: Json) -> Json:
    """What a release wants, in the form in which a state of a host is told."""
    processes = [
        {"node": service["name"], "digest": service["digest"], "runtime": wanted["runtime"], **settings_of(service)}
        for service in wanted["services"]
    ]
    told = {"release": wanted["digest"], "live": wanted.get("live", "never"), "out": wanted.get("out", {})}
    told["restart"] = wanted.get("restart", [])
    return {**told, "processes": processes + units_of(wanted.get("stack"))}


def add_source_drift(now: Json, stack: Json | None) -> None:
    """Say of the host's own services if the checkout is not at the release that is wanted: it moves with them."""
    if not stack or not is_managed(stack) or not os.path.isdir(stack["checkout"]):
        return
    head = commit_of(stack, "HEAD")
    for process in now["processes"]:
        if process["node"] == HOST and not process["drift"] and head and head != commit_wanted(stack):
            process["drift"] = ["its checkout is not at %s" % stack["ref"]]
