"""How Ansible reaches hosts, by the variables of their groups."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fleetc.adopt import glance
from fleetc.adopt.adoption import Adopted, adopt
from fleetc.toml.document import Source

HOSTS = ("h1", "h2")
NODE = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/s -dataDir /srv/w\n"
LAYERS = {
    "hosts.ini": """\
h3 ansible_host=192.0.2.3

[b]
h1 ansible_host=192.0.2.1 ansible_port=2201  # its own port
h2 ansible_host=192.0.2.2
[a]
h1
[c:children]
a
[a:vars]
ansible_user=of_a
[b:vars]
ansible_user=of_b
ansible_become=yes
ansible_port=2202
[c:vars]
ansible_user=of_c
[all:vars]
ansible_user=of_all
ansible_become=no
""",
}
YAML = {
    "inventory.yml": """\
all:
  vars: {ansible_user: of_all, ansible_port: 2200}
  hosts: {h2: {ansible_host: 192.0.2.2}}
  children:
    a:
      vars: {ansible_user: of_a}
      children: {b: }
    b:
      vars: {ansible_user: of_b}
      hosts: {h1: {ansible_host: 192.0.2.1, ansible_port: 2201}}
""",
}
OF_FILES = {"group_vars/all.yml": "ansible_user: of_all_file\nansible_become: true\nlp_x: 7\n"}


def adopted(files: dict[str, str]) -> Adopted:
    return adopt([*(Source(f"{host}.sh", NODE) for host in HOSTS), *(Source(n, t) for n, t in files.items())])


def reached(found: Adopted) -> dict[str, dict[str, object]]:
    """How the spec reaches each host, with the fields that it leaves out."""
    assert found.checked is not None and found.checked.fleet is not None
    return {
        name: {"user": host.ssh_user, "port": host.ssh_port, "become": host.become}
        for name, host in found.checked.fleet.hosts.items()
        if name in HOSTS
    }


@pytest.mark.parametrize(
    "files",
    [
        LAYERS,
        YAML,
        {**LAYERS, **OF_FILES},
        {**YAML, **OF_FILES, "group_vars/b.yml": "ansible_user: of_b_file\n"},
        {**LAYERS, **OF_FILES, "group_vars/c/one.yml": "ansible_user: of_c_f", "host_vars/h2.yml": "ansible_port: 7"},
        {**LAYERS, "group_vars/b.yml": "ansible_user: of_b_file\n", "group_vars/a.yml": "ansible_user: of_a_file\n"},
    ],
)  # fmt: skip
@pytest.mark.usefixtures("processes")
def test_variables_have_the_precedence_of_ansible(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    program = Path(sys.executable).parent / "ansible-inventory"
    done = subprocess.run(
        [program, "-i", next(iter(files)), "--list"], cwd=tmp_path, capture_output=True, check=True, timeout=60
    )
    variables = json.loads(done.stdout)["_meta"]["hostvars"]
    known = {
        host: {
            "user": str(variables[host].get("ansible_user", "root")),
            "port": int(variables[host].get("ansible_port", 22)),
            "become": str(variables[host].get("ansible_become", False)).lower() in ("true", "yes"),
        }
        for host in HOSTS
    }
    assert reached(adopted(files)) == known
    assert known["h1"]["user"] not in ("root", "of_all")


def test_variables_beside_another_inventory_are_of_its_hosts_alone() -> None:
    files = {
        "prod/hosts.ini": "h1 ansible_host=192.0.2.1\n", "prod/group_vars/all.yml": "ansible_user: prod\n",
        "test/hosts.ini": "h2 ansible_host=192.0.2.2\n", "group_vars/all.yml": "ansible_port: 2200\n",
    }  # fmt: skip
    of_host = reached(adopted(files))
    assert {name: (host["user"], host["port"]) for name, host in of_host.items()} == {
        "h1": ("prod", 2200), "h2": ("root", 2200),
    }  # fmt: skip


@pytest.mark.parametrize("value", ['"{{ who }}"', "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6231"])
def test_value_that_only_ansible_knows_is_said(value: str) -> None:
    files = {**LAYERS, "group_vars/all.yml": f"ansible_user: {value}\n"}
    (said,) = (one for one in adopted(files).diagnostics if one.code == "adopt-value-unknown")
    assert (said.message, said.help) == (
        "no source says ansible_user: only Ansible knows what stands here",
        "write ssh_user of its hosts into their tables",
    )
    files["host_vars/h1.yml"] = files["host_vars/h2.yml"] = files["host_vars/h3.yml"] = "ansible_user: lp\n"
    assert not [one for one in adopted(files).diagnostics if one.code == "adopt-value-unknown"]


def test_order_that_is_not_read_is_said() -> None:
    files = {**LAYERS, "group_vars/b.yml": "ansible_group_priority: 10\n"}
    said = [one.message for one in adopted(files).diagnostics if one.code == "adopt-value-unknown"]
    assert said == ["ansible_group_priority is not read: groups of one depth are taken by their names"]


def test_file_of_variables_is_accounted_for() -> None:
    found = adopted(
        {**LAYERS, "group_vars/all.yml": "ansible_user: lp\nansible_python_interpreter: /x\nlp_version: v0.8.6\n"}
    )
    assert [(one.shown, one.words) for one in found.entries if one.span.source == "group_vars/all.yml"] == [
        ("ansible_user", "how Ansible reaches the hosts of a group"),
        ("ansible_python_interpreter", "a spec does not say it: set it for whoever deploys"),
        ("lp_version", "offered as node_release"),
    ]
    assert not [*glance.passed_over(found)]
    alone = adopted({"group_vars/all.yml": "ansible_user: lp\n"})
    assert [*glance.passed_over(alone)] == ["passed over group_vars/all.yml: no node reads it"]
