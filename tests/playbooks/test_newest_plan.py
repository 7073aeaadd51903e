"""The record of the newest plan on a host, with real Ansible on this machine: who is refused, and what is written down.

Each host of the inventory is one case with a record of its own, so that one run has them all.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from fleetc.disk.reading import read_playbooks
from fleetc.emit import manifest
from fleetc.emit.draft import text_of
from fleetc.emit.traced import Line
from fleetc.emit.tree import MANIFEST, Artifact, Tree, tree_of
from fleetc.rollout.hosts.observe import NEWEST, newest_plan
from fleetc.rollout.hosts.runner import RunOptions, RunResult, run_playbook
from fleetc.rollout.plan.data import NewestPlan

pytestmark = pytest.mark.usefixtures("processes")

A, B = "a" * 64, "b" * 64
OLD, NOW, LATER = "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"
FAR = "2999-01-01T00:00:00Z"


class Case(NamedTuple):
    """What a host has written down before and after the plan of NOW with seal A; None is no file."""

    before: str | None
    after: str | None
    refused: bool = False
    planned: bool = True


CASES: dict[str, Case] = {
    "first": Case(None, f"{NOW} {A}\n"),
    "again": Case(f"{NOW} {A}\n", f"{NOW} {A}\n"),
    "after-an-older-one": Case(f"{OLD} {B}\n", f"{NOW} {A}\n"),
    "after-an-older-rollout": Case(f"{OLD} -\n", f"{NOW} {A}\n"),
    "superseded": Case(f"{LATER} {B}\n", f"{LATER} {B}\n", refused=True),
    "in-the-same-second": Case(f"{NOW} {B}\n", f"{NOW} {B}\n", refused=True),
    "superseded-by-a-rollout": Case(f"{LATER} -\n", f"{LATER} -\n", refused=True),
    "without-a-plan": Case(f"{OLD} {B}\n", None, planned=False),
    "without-a-plan-at-first": Case(None, None, planned=False),
    "without-a-plan-and-a-clock-behind": Case(f"{FAR} {B}\n", f"{FAR} -\n", planned=False),
    "a-template": Case("{{ lookup('ansible.builtin.pipe', 'touch TRAP') }}\n", f"{NOW} {A}\n"),
}
"""Without a plan, the time is that of the run."""


class World(NamedTuple):
    """The tree with the project, the records by case, and a file that appears when a host's text is obeyed."""

    tree: Tree
    records: Path
    trap: Path

    def run(self, playbook: str, *hosts: str, check: bool = False) -> RunResult:
        options = RunOptions(limit=hosts, check=check, forks=4)
        return run_playbook(self.tree, playbook, options, {}, lambda _: None, [NEWEST])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    place = tmp_path_factory.mktemp("world")
    files = {f"ansible/{path}": content for path, content in read_playbooks().items()}
    records_of, trap = place / "records", place / "trap"
    records_of.mkdir()
    hosts = {}
    for name, case in CASES.items():
        record = records_of / name / "newest-plan"
        hosts[name] = {"fleet_plan_record": str(record), "fleet_observe_plan": str(record)}
        if case.planned:
            hosts[name] |= {"fleet_plan_created": NOW, "fleet_plan_seal": A}
        if case.before is not None:
            record.parent.mkdir()
            record.write_text(case.before.replace("TRAP", str(trap)))
    everywhere = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    everywhere |= {"ansible_pipelining": "true"}  # as ansible.cfg has it for ssh
    inventory = {"all": {"children": {"fleet_hosts": {"hosts": hosts, "vars": everywhere}}}}
    files["ansible/inventory.json"] = json.dumps(inventory).encode()
    artifacts = [Artifact(path, content) for path, content in files.items()]
    entries: list[Line] = [(manifest.entry(a.path, f"{a.mode:04o}", (), a.sha256), ()) for a in artifacts]
    listed = Artifact(MANIFEST, text_of(manifest.written({}, entries)).encode())
    return World(tree_of([*artifacts, listed]), records_of, trap)


def records(world: World) -> dict[str, str | None]:
    found = {name: world.records / name / "newest-plan" for name in CASES}
    return {name: file.read_text() if file.exists() else None for name, file in found.items()}


def test_records_before_and_after(world: World) -> None:
    before = records(world)
    tried = world.run("record.yml", "first", "superseded", "without-a-plan", check=True)
    assert {event.host for event in tried.failures} == {"superseded"}
    assert records(world) == before, "a dry run wrote something down"
    done = world.run("record.yml")
    assert {event.host for event in done.failures} == {name for name, case in CASES.items() if case.refused}
    assert all("a newer plan was rolled out here, made at" in event.message for event in done.failures)
    after = records(world)
    for name, case in CASES.items():
        if case.after is None:
            assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ -\n", after[name] or ""), name
        else:
            assert after[name] == case.after, name
    assert not world.trap.exists()
    assert not [line for line in done.changed if "Write down" in line], "a rollout that changes nothing says so"


def test_what_hosts_say_of_it(world: World) -> None:
    """After the test above, and a host without a record; a text that is no record is not taken for none."""
    (world.records / "first" / "newest-plan").unlink(missing_ok=True)
    template = "{{ 7 * 7 }}\n"
    (world.records / "a-template" / "newest-plan").write_text(template)
    answers = world.run("observe.yml", "first", "again", "superseded-by-a-rollout", "a-template").answers
    assert newest_plan(answers["first"][NEWEST]) is None
    assert newest_plan(answers["again"][NEWEST]) == NewestPlan(NOW, A)
    assert newest_plan(answers["superseded-by-a-rollout"][NEWEST]) == NewestPlan(LATER, "-")
    with pytest.raises(ValueError, match="no record"):
        newest_plan(answers["a-template"][NEWEST])
