"""What a rollout promises, in the words of the guide, for a world with faults.

In: an exploration, or its world. Out: nothing, or Broken.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.rolling import Goal, Stated
from fleetc.rollout.journal.history import history_of
from tests.explore.fleet import SECRET, compiled, wanted_of
from tests.explore.machine import UNITS, Machine, Node, World

if TYPE_CHECKING:
    from tests.explore.explorer import Explorer

STATE = "/var/lib/fleetc"


class Broken(BaseException):
    """A promise that is not kept. No program catches it."""


def need(holds: object, words: str) -> None:
    if not holds:
        raise Broken(words)


def ran_before(explorer: Explorer) -> None:
    """What was rolled out earlier."""
    for text in filter(None, (explorer.scenario.earlier, explorer.scenario.before)):
        outcome = explorer.roll_out(text, Goal())
        need(outcome and outcome.exit_code == 0, f"the first rollout fails: {told(outcome)}")
        explorer.world.sleep(100)


def kept(explorer: Explorer) -> None:
    """A rollout with its faults, then quiet, then the next rollout; each promise where it is due."""
    scenario, world = explorer.scenario, explorer.world
    explorer.active = True
    outcome = explorer.roll_out(scenario.after, explorer.goal)
    explorer.step(lambda: table_is_true(explorer, outcome))
    explorer.step(world.settle)  # hosts go back, with faults on the way
    explorer.active = False
    if not explorer.is_new():
        return
    whole(world, explorer.past.touched)
    somewhere(explorer, outcome)
    no_secret(world)
    heals(explorer)


def told(outcome: Outcome | None) -> str:
    return "it died" if outcome is None else "; ".join(f"{one.host} {one.result} {one.reason}" for one in outcome.hosts)


def homes(world: World) -> list[tuple[Machine, str, Node]]:
    return [(machine, name, node) for machine in world.machines.values() for name, node in machine.nodes.items()]


def once(world: World) -> None:
    """A node never runs twice, nor does a caller of rewards; and each reads wholly one release."""
    runs = Counter(name for _, name, _ in homes(world))
    need(all(count == 1 for count in runs.values()), f"a node runs twice: {dict(runs)}")
    callers = [name for _, name, node in homes(world) if "-reward=true" in node.argv]
    need(len(callers) < 2, f"two call reward: {callers}")
    for _, name, node in homes(world):
        places = {path.rpartition(f"/{name}/")[0] for path in node.read}
        need(len(places) == 1, f"{name} reads more than one release: {sorted(node.read)}")
        need(SECRET.encode() in node.environment and node.argv, f"{name} reads files that are not whole")


def record(machine: Machine, name: str) -> Any:
    file = machine.disk.at(f"{STATE}/{name}")
    try:
        return None if file is None else json.loads(file.content)
    except ValueError:
        raise Broken(f"{name} of {machine.name} is not whole: {file.content!r}") from None


def whole(world: World, touched: Collection[str]) -> None:
    """On a quiet host no switch is open, and each node runs what its link leads to, which is one release."""
    for machine in world.machines.values():
        need(machine.is_on and machine.state == "running", f"{machine.name} does not come back")
        switch = record(machine, "switch.json") or {}
        confirmed = (record(machine, "state.json") or {}).get("confirmed_switch") == switch.get("id")
        away = set((record(machine, "state.json") or {}).get("left", ())) - set(switch.get("left", ()))
        untouched = switch.get("phase") == "armed" or ("lease_here" in switch and not away)
        ended = switch.get("phase") in (None, "reverted") or untouched or confirmed or touched
        need(ended, f"{machine.name} is left in a switch that is {switch.get('phase')}")
        found = record(machine, "quarantine.json")
        need(not found or touched, f"{machine.name} is in quarantine: {found}")
        facts = record(machine, "state.json") or {}
        release = facts.get("release", "")
        need(facts.get("confirmed", release) == release, f"{machine.name} has confirmed what it does not run")
        for name, node in machine.nodes.items():
            link = machine.disk.at(f"/opt/fleetc/current/{name}", follow=False)
            need(
                link == f"../releases/{release}/{name}", f"{name} of {machine.name} has the link {link}, not {release}"
            )
            unit = machine.disk.at(f"{UNITS}/livepeer-{name}.service")
            if unit is not None:
                runs_as(name, node, Node(0, 0, unit.content.decode(), node.environment, ()))


def runs_as(name: str, node: Node, wanted: Node) -> None:
    """Whether a node has the settings of its unit, from its start or since."""
    differ = sorted(set(node.settings.items()) ^ set(wanted.settings.items()))
    need(not differ, f"{name} runs with other settings than its release: {differ}")


def somewhere(explorer: Explorer, outcome: Outcome | None) -> None:
    """A node that ran before and is wanted still runs somewhere, once the world is quiet."""
    scenario, world = explorer.scenario, explorer.world
    known = history_of(explorer.ann.entries()).hosts
    for machine, name, _ in homes(world):
        told_of = known[machine.name].nodes if machine.name in known else {}
        need(explorer.past.other or name in told_of, f"the journal does not know that {machine.name} runs {name}")
    if not scenario.before:
        return
    stay = nodes_of(scenario.before).keys() & nodes_of(scenario.after).keys()
    runs = {name for _, name, _ in homes(world)}
    gone = sorted(stay - runs - explorer.past.touched)
    if outcome is None or explorer.past.other.endswith(told(None)):  # leaving.py says which moment costs such a node
        allowed = "left" in explorer.past.heard and "confirm" not in explorer.past.heard
    else:
        tables = told(outcome) + explorer.past.other
        allowed = all(f"{node} is stopped on" in tables for node in gone)
    need(not gone or allowed, f"runs nowhere: {gone}, and the table says: {told(outcome)}")


def nodes_of(text: str) -> dict[str, str]:
    """The nodes of a fleet, and their hosts."""
    tree, blueprint = compiled(text)
    return {one["name"]: host.name for host in blueprint.hosts for one in wanted_of(tree, host.name)["services"]}


def no_secret(world: World) -> None:
    """A secret is nowhere but in the files of releases that are for secrets, for root alone."""
    for machine in world.machines.values():
        for path, file in machine.disk.files():
            if SECRET.encode() in file.content:
                need(
                    "/secrets/" in path and file.mode == 0o600,
                    f"a secret is in {path} of {machine.name}, mode {file.mode:o}",
                )


def table_is_true(explorer: Explorer, outcome: Outcome | None) -> None:
    """A host that the table calls new has all nodes of the release, healthy; one that went back or is old has none."""
    if not explorer.past.path:
        need(outcome and outcome.exit_code == explorer.scenario.expected, f"without a fault: {told(outcome)}")
    if outcome is None:
        return
    results = [one.result for one in outcome.hosts]
    failed = ""
    for entry in explorer.ann.entries():
        need(entry.what != "batch" or not failed, f"a batch begins after one that failed: {failed}")
        if entry.what == "begin":
            failed = ""
        elif entry.what == "host" and entry.facts["result"] in ("reverted", "quarantined", "unknown", "unwell"):
            failed = entry.facts["host"]
    answers = explorer.past.harmless and not explorer.past.late  # after the lease, `left` is refused
    need(not answers or "unknown" not in results, f"a host that answers is unknown: {told(outcome)}")
    claimed = [name for name, machine in explorer.world.machines.items() if record(machine, "claim.json")]
    need(not answers or not claimed, f"claimed by nobody who lives: {claimed}")
    if explorer.past.touched or explorer.past.other or explorer.past.disturbed or not explorer.scenario.is_deploy:
        return
    for one in outcome.hosts:
        if one.result == "new":
            has_release(explorer.world, explorer.scenario.after, one.host, "which is new")


def has_release(world: World, text: str, host: str, when: str) -> None:
    """Whether each node of a host runs, healthy and as its spec has it."""
    tree, _ = compiled(text)
    for service in wanted_of(tree, host)["services"]:
        name = service["name"]
        node = world.machines[host].nodes.get(name)
        if node is None or node.is_ill:
            raise Broken(f"{name} does not run well on {host}, {when}")
        unit = tree.as_mapping()[f"hosts/{host}/{name}/livepeer-{name}.service"].content.decode()
        runs_as(name, node, Node(0, 0, unit, b"", ()))


def heals(explorer: Explorer) -> None:
    """The next rollout ends well: every node runs its release where it belongs, no claim and no switch is left."""
    world, text = explorer.world, explorer.scenario.healing
    quarantined = [name for name, machine in world.machines.items() if record(machine, "quarantine.json")]
    claims = [claim["owner"]["id"] for machine in world.machines.values() if (claim := record(machine, "claim.json"))]
    dead = tuple(owner for owner in claims if owner.startswith("bob"))  # people state that another controller died
    outcome = explorer.roll_out(text, Goal(), Stated(clear=tuple(quarantined), dead_runs=dead))
    need(outcome and outcome.exit_code == 0, f"the next rollout: {told(outcome)}")
    for host in nodes_of(text).values():
        has_release(world, text, host, "after the next rollout")
    strangers = {name for _, name, _ in homes(world)} - nodes_of(text).keys()
    need(not strangers, f"still there after the next rollout: {strangers}")
    for machine in world.machines.values():
        facts = record(machine, "state.json") or {}
        need(facts.get("confirmed", "") == facts.get("release", ""), f"{machine.name} has not confirmed what it runs")
        need(not record(machine, "claim.json"), f"{machine.name} stays claimed after the next rollout")
        need(not record(machine, "quarantine.json"), f"{machine.name} stays in quarantine after the next rollout")
    whole(world, explorer.past.touched)
