"""Which processes take their change while they run: what the program on the host would do, asked of the program itself.

In: two sides and the processes whose files differ. Out: those that nothing restarts. Called by
`review/impact/restarts.py`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from fleetc.emit.host_program import HOST_STEPS, steps_in
from fleetc.review.data import NodeRef
from fleetc.review.sides import Side

_NO_HOST: dict[str, Any] = {"fleet_host_live": "never", "fleet_host_services": []}


def changed_live(old: Side, new: Side, changed: Collection[NodeRef], names: Mapping[str, str]) -> frozenset[NodeRef]:
    """Those of `changed` that stay as they are but for settings. `names` are new names of hosts.

    It only asks this fleetc's program, so for two recorded trees a process restarts.
    """
    if new.whole is None or not changed:
        return frozenset()
    steps = steps_in(new.files[f"ansible/{HOST_STEPS}"])
    before = {renamed: name for name, renamed in names.items()}
    nodes = set()
    for host in {target.host for target in changed}:
        was, will = _state(old, before.get(host, host)), _state(new, host)
        nodes |= {NodeRef(host, step["node"]) for step in steps(was, will) if step["do"] == "live"}
    return frozenset(nodes & set(changed))


def _state(side: Side, host: str) -> dict[str, Any]:
    """What a host runs or shall run, as far as nodes are concerned, in the form in which the program has it."""
    try:
        variables = json.loads(side.files.get(f"ansible/host_vars/{host}.json", b"{}")) or _NO_HOST
        processes = [
            {
                "node": _text(service["name"]),
                "digest": service["digest"],
                "runtime": variables["fleet_host_runtime"],
                "running": None,
                "secrets": service["secrets"],
                "rest": service["rest"],
                "live": [_text(setting) for setting in service["live"]],
                "silent": [_text(setting) for setting in service["silent"]],
            }
            for service in variables["fleet_host_services"]
        ]
        return {"release": "", "live": variables["fleet_host_live"], "processes": processes}
    except (ValueError, KeyError, TypeError, AttributeError):  # somebody edited the record of the old side
        return {"release": "", "processes": []}


def _text(value: Any) -> str:
    return str(value["__ansible_unsafe"] if isinstance(value, dict) else value)
