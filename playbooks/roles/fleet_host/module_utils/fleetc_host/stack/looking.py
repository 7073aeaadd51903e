"""What there is of a stack on the host, how it differs from what it was brought to, and whether it is well.

In: nothing. Out: units as processes of a state, with a verdict on each.
"""

from __future__ import annotations

import contextlib
import os

from ..places import NFT, PROFILE, RELEASES, STACK_FILES, STACK_MARKERS, Json, RefusedError
from ..releases import changed_files, release_at
from ..steps import FIREWALL, HOST, SLOT, STACK
from ..system import names_in, read, read_json, run
from .checkout import commit_of, is_managed
from .firewall import TABLE, firewall_stays
from .health import judged_stack
from .made import drift_of_slot
from .parts import HOST_PROJECT, containers_of, digests_in, made_at, unit_of_slot, unit_of_stack, units_of_host


def look_at_stack() -> list[Json]:
    """The units that this host has, by their markers, and whether each runs; None of `running` means nobody knows.

    One that sleeps counts as running: it has containers.
    """
    names = names_in(STACK_MARKERS)
    if not names:
        return []  # asking for tables would load the packet filter into a kernel that has none yet
    containers: list[Json] | None = None
    with contextlib.suppress(RefusedError):
        containers = containers_of()
    projects = None if containers is None else {one["project"] for one in containers}
    tables = run(NFT, "list", "tables")
    found: list[Json] = []
    made_again: dict[str, list[str]] = {}
    for name in names:
        if name == "firewall":
            runs = "table inet " + TABLE in tables.out.splitlines() if tables.status == 0 else None
            found.append({**unit_of_stack(FIREWALL, digests_in(name, 1)[0]), "running": runs})
        elif name == "host":
            host, _, turn, _ = digests_in(name, 4)
            runs = None if projects is None else HOST_PROJECT in projects
            found += [{**unit, "running": runs} for unit in units_of_host(host, turn)]
        elif name.startswith("slot-"):
            slot, _, project = name.partition(".")
            environment, arguments, _, turn, _ = digests_in(name, 5)
            runs = None if projects is None else project in projects
            unit = unit_of_slot(slot, project, (environment, arguments), turn)
            found.append({**unit, "running": runs})
            own = [one for one in containers or () if one["project"] == project]
            made_again[unit["node"]] = drift_of_slot(made_at(name), own)
    release = release_at(STACK_FILES)
    wanted = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) if release else None) or {}
    stack = wanted.get("stack")
    drift = {**made_again, **(drift_of_stack(release, stack) if stack else {})}
    judged = judged_stack(stack, containers) if stack and containers is not None else {}
    for unit in found:
        if unit["digest"]:
            unit.update(judged.get(unit["node"], {}) if unit["running"] else {}, drift=drift.get(unit["node"], []))
    return [{"drift": [], **unit} for unit in found]


def drift_of_stack(release: str, stack: Json) -> dict[str, list[str]]:
    """How a host differs from the release of its stack, in words by unit. Another bring puts it right."""
    of_host = []
    changed = changed_files(release, STACK)
    if changed:
        of_host.append("files of its release were changed: %s" % ", ".join(changed))
    for name in (".env", ".env.turn"):
        if not os.path.lexists("%s/%s" % (stack["checkout"], name)):
            of_host.append("%s of the checkout is gone" % name)
    if stack.get("commit") and is_managed(stack) and commit_of(stack, "HEAD") != stack["commit"]:
        of_host.append("its checkout is not at %s" % (stack.get("ref") or stack["commit"][:12]))
    if read(PROFILE) != read(STACK_FILES + "/profile.sh"):
        of_host.append("%s was changed" % PROFILE)
    return {HOST: of_host, FIREWALL: [] if firewall_stays() else ["its unit was changed"]}


def secrets_it_had(process: Json) -> dict[str, str]:
    """The digests of secret files that a unit was started with, by the name of the file; none if that is not known."""
    node = process["node"]
    if not process["digest"] or node == FIREWALL:
        return {}
    if node.startswith(SLOT):
        _, _, host, _, turn = digests_in("%s.%s" % (node[len(STACK) + 1 :], process["project"]), 5)
        return {"host": host, "turn": turn}
    _, host, _, turn = digests_in("host", 4)
    return {"host": host} if node == HOST else {"turn": turn}
