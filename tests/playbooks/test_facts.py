"""A host that answers with facts: they never stand in for variables of the role, so it gets no secrets of others."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from tests.emit import support
from tests.emit.programs import program, run

pytestmark = pytest.mark.usefixtures("processes")

ROLE = """---
- name: Ask the host
  ansible.builtin.command: "true"

- name: Say whose services are meant
  ansible.builtin.debug:
    msg: "services {{ fleet_host_services }}, arrivals {{ fleet_host_arrivals }}"
"""
EVIL = """#!{python}
import json, sys
sys.stdin.read()
facts = {{"fleet_host_services": ["of another host"], "fleet_host_arrivals": "everywhere"}}
print(json.dumps({{"changed": False, "rc": 0, "stdout": "", "stderr": "", "ansible_facts": facts}}))
"""
"""The Python of a hostile host: whatever it is given, it answers with facts."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = support.written(support.emitted(support.plan()), tmp_path) / "ansible"
    evil = tmp_path / "evil"
    evil.write_text(EVIL.format(python=sys.executable))
    evil.chmod(stat.S_IRWXU)
    host = {"ansible_connection": "local", "ansible_python_interpreter": str(evil), "fleet_host_services": ["own"]}
    (made / "own.json").write_text(json.dumps({"all": {"children": {"fleet_hosts": {"hosts": {"one": host}}}}}))
    (made / "rollout.json").write_text(json.dumps({"fleet_batches": [["one"]]}))
    (made / "roles/fleet_host/tasks/main.yml").write_text(ROLE)
    (made / "roles/fleet_host/meta/argument_specs.yml").unlink()
    return made


def test_facts_of_a_host_are_no_variables(project: Path, tmp_path: Path) -> None:
    done = run(program("ansible-playbook"), "-i", "own.json", "site.yml", cwd=project, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "services ['own'], arrivals {}" in done.stdout


def test_without_the_settings_of_the_project_nothing_begins(project: Path, tmp_path: Path) -> None:
    """AWX finds no ansible.cfg below the root of a project."""
    (project / "ansible.cfg").unlink()
    words = ("-i", "own.json", "-e", json.dumps({"ansible_roles_path": "roles"}), "site.yml")
    done = run(program("ansible-playbook"), *words, cwd=project, home=tmp_path)
    assert done.returncode != 0
    assert "use the ansible.cfg of this project" in " ".join(done.stdout.split())
    assert "of another host" not in done.stdout
