"""The emitted Ansible project, read back by Ansible: strings of a spec arrive as they are and are never evaluated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleetc.blueprint.blueprint import Blueprint, SecretVariable
from fleetc.disk.reading import read_playbooks
from fleetc.planner.states import release_in
from tests.emit import support
from tests.emit.programs import program, run
from tests.support import ROOT

PAYLOAD = "{{ lookup('pipe', 'touch injected') }}"


def strings_of(value: Any) -> list[str]:
    """Every string below a value that is not marked unsafe."""
    if isinstance(value, dict):
        if set(value) == {"__ansible_unsafe"}:
            return []
        return [text for item in value.values() for text in strings_of(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


def odd_plan() -> Blueprint:
    secrets = tuple(SecretVariable(f"S{i:02}", "host_file", v, support.HERE) for i, v in enumerate(support.ODD_VALUES))
    service = support.service("gw-eu", secrets=secrets, mounts=())
    return support.plan(support.host("edge-1", service, address=PAYLOAD, ssh_user=PAYLOAD, public=PAYLOAD))


def test_every_string_of_the_spec_is_marked() -> None:
    tree = support.emitted(odd_plan())
    variables = json.loads(support.text(tree, "ansible/host_vars/edge-1.json"))
    bare = strings_of(variables)
    assert {text for text in bare if len(text) != 64} == {"docker", "host_file", "try"}
    assert all(set(text) <= set("0123456789abcdef") for text in bare if len(text) == 64)


@pytest.mark.usefixtures("processes")
def test_ansible_gives_every_odd_reference_back_and_runs_none(tmp_path: Path) -> None:
    listing = program("ansible-inventory")
    project = support.written(support.emitted(odd_plan()), tmp_path) / "ansible"
    done = run(listing, "--list", cwd=project, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    variables = json.loads(done.stdout)["_meta"]["hostvars"]["edge-1"]
    secrets = variables["fleet_host_services"][0]["secrets"]
    assert [secret["reference"]["__ansible_unsafe"] for secret in secrets] == list(support.ODD_VALUES)

    play = [
        {
            "name": "Read",
            "hosts": "all",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_user": "", "ansible_host": "localhost"},
            "tasks": [
                {
                    "name": "Write",
                    "ansible.builtin.copy": {
                        "content": "{{ [fleet_host_services, hostvars[inventory_hostname].ansible_host] | to_json }}",
                        "dest": str(tmp_path / "arrived.json"),
                        "mode": "0600",
                    },
                }
            ],
        }
    ]
    (project / "read.yml").write_text(yaml.safe_dump(play))
    done = run(program("ansible-playbook"), "read.yml", cwd=project, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    services, address = json.loads((tmp_path / "arrived.json").read_text())
    assert [secret["reference"] for secret in services[0]["secrets"]] == list(support.ODD_VALUES)
    assert address == PAYLOAD
    assert not list(tmp_path.rglob("injected"))


def test_groups_hold_hosts_by_runtime_and_region_and_meet_no_host_name() -> None:
    tree = support.emitted(support.plan())
    groups = json.loads(support.text(tree, "ansible/inventory.json"))["all"]["children"]
    assert {name: sorted(group["hosts"]) for name, group in groups.items()} == {
        "fleet_hosts": ["edge-1", "gpu-1", "spare-1"],
        "runtime_docker": ["edge-1", "spare-1"],
        "runtime_systemd": ["gpu-1"],
        "region_eu_west": ["edge-1", "gpu-1"],
    }
    assert all("_" in name for name in groups)


def test_connection_comes_from_the_host_and_services_from_the_release() -> None:
    tree = support.emitted(support.plan())
    variables = json.loads(support.text(tree, "ansible/host_vars/gpu-1.json"))
    assert variables["ansible_host"] == {"__ansible_unsafe": "2001:db8::1"}
    assert (variables["ansible_port"], variables["ansible_become"]) == (22, True)
    assert variables["fleet_host_owner"] == {"__ansible_unsafe": "livepeer"}
    assert release_in(tree, "gpu-1") == support.release_in(tree, "gpu-1").host
    assert json.loads(support.text(tree, "ansible/host_vars/spare-1.json"))["fleet_host_services"] == []


def test_batches_stand_in_the_order_of_the_rollout() -> None:
    batches = (("gpu-1",), ("edge-1", "spare-1"))
    tree = support.emitted(replace(support.plan(), batches=batches))
    assert json.loads(support.text(tree, "ansible/rollout.json")) == {"fleet_batches": [list(b) for b in batches]}


def test_playbooks_are_copied_unchanged() -> None:
    folder = ROOT / "playbooks"
    files = {path for path in folder.rglob("*.*") if path.is_file() and path.suffix != ".pyc"} - {folder / "README.md"}
    tree = support.emitted(support.plan()).as_mapping()
    for path in files:
        assert tree[f"ansible/{path.relative_to(folder)}"].content == path.read_bytes()
    assert len(files) == len(read_playbooks())
