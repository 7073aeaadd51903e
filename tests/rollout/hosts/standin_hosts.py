"""Hosts that are a file: what a rollout does to them, without Ansible, for tests that need many rollouts.

In: runs of playbooks, as the runner is asked for them. Out: the answers of the program on each host. The rules that the
tests are about are kept here too: a node that would run twice is an error at once. Real hosts are in `tests/hosts/`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fleetc.emit.release import host_digest
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, OBSERVE, STAGE
from fleetc.rollout.hosts.runner import Project, RunOptions

Json = dict[str, Any]


class Hosts:
    """All hosts of a fleet, in one file that outlives the rollout that changes them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ill: set[str] = set()
        """Hosts on which no release gets healthy."""
        self.silent: set[str] = set()
        """Hosts that ssh does not get to."""
        self.quarantined: set[str] = set()
        self.restarted: list[str] = []
        """Nodes that were restarted by name."""
        self.after: Callable[[str, Sequence[str]], None] = lambda playbook, hosts: None
        """What else happens after each run."""

    def read(self) -> dict[str, Json]:
        found: dict[str, Json] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def change(self, host: str, **facts: Any) -> None:
        """Change what a host is, as its program does, or somebody by hand."""
        world = self.read()
        world[host] = {**self.of(world, host), **facts}
        self.path.write_text(json.dumps(world))
        homes = [node for one in world.values() for node in one["nodes"]]
        assert len(homes) == len(set(homes)), f"a node runs twice: {sorted(homes)}"

    @staticmethod
    def of(world: Mapping[str, Json], host: str) -> Json:
        return world.get(host, {"release": "", "nodes": {}, "claim": None, "kept": {}, "drift": {}})

    def releases(self) -> dict[str, str]:
        return {host: one["release"] for host, one in self.read().items()}

    def run(self, project: Project, playbook: str, options: RunOptions, *_: object) -> RunResult:
        """What the runner says of a run of a playbook."""
        answers: dict[str, Json] = {host: {} for host in options.limit}
        failures: list[Event] = []
        given = options.variables
        for host in options.limit:
            if playbook == "end.yml":
                self.change(host, claim=None)
                continue
            task = OBSERVE if playbook == "observe.yml" else BEGIN
            if host in self.silent:
                failures.append(Event("unreachable", host, task, "Connection timed out"))
                continue
            answers[host][task] = self._begin(project, host, given, playbook)
            if not answers[host][task]["ok"]:
                failures.append(Event("failed", host, task, answers[host][task]["message"]))
        if playbook in ("site.yml", "rollback.yml") and not failures:
            self._switch(project, options, answers, failures)
        self.after(playbook, options.limit)
        return RunResult("successful", 0, {"ok": dict.fromkeys(answers, 1)}, tuple(failures), answers=answers)

    def _wanted(self, project: Project, host: str, given: Mapping[str, Any]) -> tuple[str, Json]:
        """The release that a host is to have, and its nodes, each with the digest of its files."""
        if host in given.get("fleet_host_restart", {}):
            here = self.of(self.read(), host)
            return here["release"], here["nodes"]
        back = given.get("fleet_host_back_to", {}).get(host)
        if back:
            return back, self.of(self.read(), host)["kept"][back]
        told = json.loads((project.path / f"host_vars/{host}.json").read_text())
        nodes = {_text(one["name"]): one["digest"] for one in told["fleet_host_services"]}
        return host_digest(nodes), nodes

    def _begin(self, project: Project, host: str, given: Mapping[str, Any], playbook: str) -> Json:
        here, (release, nodes) = self.of(self.read(), host), self._wanted(project, host, given)
        owner = given["fleet_host_run"]
        needed = here["release"] != release or here["nodes"] != nodes or bool(here["drift"])
        needed = needed or host in given.get("fleet_host_restart", {})
        if here["claim"] and here["claim"]["id"] not in (owner["id"], *given["fleet_host_dead"]):
            told = {"code": "host-claimed", "message": "another rollout has claimed this host", "owner": here["claim"]}
            return {"format": 1, "ok": False, "changed": False, **told}
        if host in self.quarantined and playbook != "observe.yml":
            told = {"code": "host-quarantined", "message": "it could not go back"}
            return {"format": 1, "ok": False, "changed": False, **told}
        if needed and playbook != "observe.yml":
            self.change(host, claim=owner)
        processes = [
            {"node": node, "digest": digest, "runtime": "systemd", "running": True, "exclusive": []}
            | {"drift": here["drift"].get(node, [])}
            for node, digest in here["nodes"].items()
        ]
        state = {"release": here["release"], "processes": processes, "switch": None, "newest": ""}
        state["host"] = host if here["release"] else ""
        wants = [{"node": node, "exclusive": []} for node in nodes]
        return {"format": 1, "ok": True, "needed": needed, "state": state, "steps": [], "wants": wants}

    def _switch(self, project: Project, options: RunOptions, answers: dict[str, Json], failures: list[Event]) -> None:
        for host in options.limit:
            answers[host][STAGE] = {"format": 1, "ok": True}
            for one in options.variables.get("fleet_host_arrivals", {}).get(host, ()):
                there = self.of(self.read(), one["host"])["nodes"]
                self.change(
                    one["host"], nodes={node: facts for node, facts in there.items() if node not in one["nodes"]}
                )
        well = not self.ill & set(options.limit)
        for host in options.limit:
            if not answers[host][BEGIN]["needed"]:
                continue
            here, (release, nodes) = self.of(self.read(), host), self._wanted(project, host, options.variables)
            switch: Json = {"id": "1", "phase": "healthy" if well else "reverted", "to": f"{release}.1", "reasons": []}
            switch["restarted"] = [node for node, digest in nodes.items() if here["nodes"].get(node) != digest]
            task = ACTIVATE if host in self.ill else END
            answers[host] |= {ACTIVATE: {"format": 1, "ok": True, "switch": {**switch, "phase": "healthy"}}}
            answers[host][task] = {"format": 1, "ok": True, "switch": switch, "seconds": 1}
            if not well:
                failures.append(Event("failed", host, task, "ill" if host in self.ill else "another one is ill"))
                continue
            kept = {**here["kept"], release: nodes}
            named = options.variables.get("fleet_host_restart", {}).get(host, ())
            self.restarted += named
            drift = here["drift"] if named else {}
            self.change(host, release=release, nodes=nodes, claim=None, kept=kept, drift=drift)


def _text(told: Any) -> str:
    return str(told["__ansible_unsafe"] if isinstance(told, dict) else told)
