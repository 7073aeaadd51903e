"""site.yml takes hosts in the batches of the spec: whatever order an inventory has, and whatever a limit leaves out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.emit import support
from tests.emit.programs import program, run

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

ROLE = """---
- name: Tell the batch
  ansible.builtin.debug:
    msg: "batch {{ ansible_play_batch | join(' ') }}"
  run_once: true

- name: Write down that the host has its release
  ansible.builtin.set_fact:
    fleet_host_ended: {failed: false}
  when: inventory_hostname not in fleet_host_stays | default([])
"""
"""What the role of a rollout comes down to, without a host."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The playbooks with four hosts; the inventory has them by name, as one of AWX does."""
    made = support.written(support.emitted(support.plan()), tmp_path) / "ansible"
    hosts = {name: {"ansible_connection": "local"} for name in "abcd"}
    (made / "by-name.json").write_text(json.dumps({"all": {"children": {"fleet_hosts": {"hosts": hosts}}}}))
    (made / "rollout.json").write_text(json.dumps({"fleet_batches": [["c"], ["a", "d"], ["b"]]}))
    (made / "roles/fleet_host/tasks/main.yml").write_text(ROLE)
    (made / "roles/fleet_host/meta/argument_specs.yml").unlink()
    return made


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ((), ["c", "a d", "b"]),
        (("--limit", "b,d,c"), ["c", "d", "b"]),
        (("--limit", "a,b"), ["a", "b"]),
        (("-e", '{"fleet_batches": [["d", "b"]]}', "--limit", "b,d"), ["d b"]),
    ],
)
def test_batches_are_those_of_the_spec(
    project: Path, tmp_path: Path, options: tuple[str, ...], batches: list[str]
) -> None:
    done = run(program("ansible-playbook"), "-i", "by-name.json", "site.yml", *options, cwd=project, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r'"batch ([a-d ]+)"', done.stdout) == batches


def test_no_batch_begins_after_a_host_without_its_release(project: Path, tmp_path: Path) -> None:
    words = ("-i", "by-name.json", "site.yml", "-e", '{"fleet_host_stays": ["d"]}')
    done = run(program("ansible-playbook"), *words, cwd=project, home=tmp_path)
    assert done.returncode != 0
    assert re.findall(r'"batch ([a-d ]+)"', done.stdout) == ["c", "a d"]
    assert "these hosts do not run their release: d" in re.sub(r"\s+", " ", done.stdout)
