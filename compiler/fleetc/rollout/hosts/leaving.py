"""Hosts that left the spec while they may still run nodes of the fleet.

In: the journal's hosts, the blueprint, a tree. Out: a tree whose Ansible project has them too, with nothing to run.
Only this run's private copy of the tree is changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.ansible import FLEET_GROUP, seconds_of
from fleetc.emit.tree import Artifact, Tree, tree_of
from fleetc.rollout.journal.history import Given
from fleetc.text.encoders import ansible_unsafe

_INVENTORY = "ansible/inventory.json"


def with_left(tree: Tree, blueprint: Blueprint, left: Mapping[str, Given]) -> Tree:
    """A tree that brings these hosts to a release without nodes."""
    if not left:
        return tree
    artifacts = tree.as_mapping()
    inventory = json.loads(artifacts[_INVENTORY].content)
    inventory["all"]["children"][FLEET_GROUP]["hosts"] |= {name: {} for name in left}
    changed = [Artifact(_INVENTORY, json.dumps(inventory).encode())]
    for name, given in left.items():
        content = json.dumps(_variables(given, blueprint)).encode()
        changed.append(Artifact(f"ansible/host_vars/{name}.json", content))
    kept = [artifact for path, artifact in artifacts.items() if path != _INVENTORY]
    return tree_of([*kept, *changed])


def _variables(given: Given, blueprint: Blueprint) -> dict[str, Any]:
    times, place = blueprint.times, given.place
    return {
        "ansible_host": ansible_unsafe(place.address),
        "ansible_port": place.port,
        "ansible_user": ansible_unsafe(place.user),
        "ansible_become": place.become,
        "fleet_host_fleet": ansible_unsafe(blueprint.fleet),
        "fleet_host_owner": ansible_unsafe("root"),
        "fleet_host_runtime": "systemd",
        "fleet_host_seconds": seconds_of(times),
        "fleet_host_keep": times.keep,
        "fleet_host_live": blueprint.live,
        "fleet_host_needs": [],
        "fleet_host_services": [],
    }
