"""The Ansible project that is emitted: what Ansible and its linter say, and what its roles promise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleetc.disk.reading import read_playbooks
from tests.emit import support
from tests.emit.programs import program, run
from tests.support import ROOT, compile_text

pytestmark = pytest.mark.usefixtures("processes")

ROLES = ("fleet_avatar", "fleet_files", "fleet_observe", "fleet_plan", "fleet_secrets", "fleet_services")
PLAYBOOKS = ("site.yml", "observe.yml", "record.yml")
EXTENSIONS = {"loop_control", "block", "rescue", "vars", "loop", "when", "register", "notify"}
KEYWORDS = EXTENSIONS | {"name", "no_log", "diff", "changed_when", "failed_when", "check_mode", "environment"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emitted `ansible` directory of a fleet with both runtimes."""
    return support.written(support.emitted(support.plan()), tmp_path_factory.mktemp("tree")) / "ansible"


def loaded(path: str) -> Any:
    return yaml.safe_load(read_playbooks()[path])


def tasks() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every task of every role, those in blocks included, with the file it stands in."""
    for path in read_playbooks():
        if "/tasks/" in path:
            waiting = list(loaded(path))
            while waiting:
                task = waiting.pop(0)
                waiting += [*task.get("block", []), *task.get("rescue", [])]
                yield path, task


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_ansible_accepts_the_project(project: Path, tmp_path: Path, playbook: str) -> None:
    done = run(
        program("ansible-playbook"), "--syntax-check", "-i", "inventory.json", playbook, cwd=project, home=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_linter_finds_nothing(project: Path, tmp_path: Path) -> None:
    done = run(program("ansible-lint"), "--offline", "-f", "pep8", "--strict", *PLAYBOOKS, cwd=project, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    assert "met the validation criteria was 'production'" in done.stderr


def test_linter_would_find_a_shell(project: Path, tmp_path: Path) -> None:
    play = '---\n- name: Try\n  hosts: all\n  tasks:\n    - name: Run\n      ansible.builtin.shell: "true"\n'
    (tmp_path / "bad.yml").write_text(play)
    done = run(program("ansible-lint"), "--offline", "--profile", "production", "bad.yml", cwd=tmp_path, home=tmp_path)
    assert done.returncode == 2


def test_roles_use_builtin_modules_and_no_shell() -> None:
    modules = set()
    for path, task in tasks():
        (module, *others) = [key for key in task if key not in KEYWORDS] or ["block"]
        assert not others, (path, task["name"], others)
        modules.add(module)
        if module == "ansible.builtin.command":
            assert isinstance(task[module]["argv"], list | str), path
            assert task[module]["expand_argument_vars"] is False, path
    assert modules - {"block"}
    assert all(module.startswith("ansible.builtin.") for module in modules - {"block"})
    assert not modules & {f"ansible.builtin.{name}" for name in ("shell", "raw", "script")}


def test_tasks_that_handle_secret_values_are_not_logged() -> None:
    silent = {task["name"] for _, task in tasks() if task.get("no_log") is True}
    assert silent >= {
        "Read secrets that lie on the host",
        "Write the secrets into it",
        "Read its last log lines",
        "Read its secrets to mask them",
        "Read what the control plane has written there",
    }


@pytest.mark.parametrize("role", ROLES)
def test_role_describes_every_variable_that_it_has(role: str) -> None:
    specs = loaded(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]
    defaults = loaded(f"roles/{role}/defaults/main.yml")
    for entry in specs.values():
        assert set(defaults) <= set(entry["options"])
        required = {name for name, option in entry["options"].items() if option.get("required")}
        assert not required & set(defaults)
    assert all(name.startswith(f"{role}_") for name in (*defaults, *specs["main"]["options"]))


def test_emitted_variables_and_argument_specs_agree(project: Path) -> None:
    declared: dict[str, Any] = {}
    for role in ROLES:
        declared |= loaded(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    required = {name for name, option in declared.items() if option.get("required")}
    files = sorted(project.glob("host_vars/*.json"))
    assert len(files) == 3
    for file in files:
        variables = json.loads(file.read_text())
        ours = {name for name in variables if not name.startswith("ansible_")}
        assert required <= ours <= set(declared)
        for service in variables["fleet_services_list"]:
            assert set(service) == set(declared["fleet_services_list"]["options"])
            for secret in service["secrets"]:
                assert set(secret) == set(declared["fleet_secrets_services"]["options"]["secrets"]["options"])


def test_emitted_variables_of_an_avatar_stack_are_those_that_its_role_describes() -> None:
    spec = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
    tree = compile_text(spec).tree
    assert tree is not None
    declared = loaded("roles/fleet_avatar/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = loaded("roles/fleet_avatar/defaults/main.yml")
    for host in ("gpu-1", "gpu-2"):
        variables = json.loads(tree.as_mapping()[f"ansible/host_vars/{host}.json"].content)
        ours = {name: value for name, value in variables.items() if name.startswith("fleet_avatar_")}
        # What stays at its default says where things lie and comes from nowhere in the spec.
        elsewhere = ("environment", "vault", "source", "release", "markers")
        assert set(defaults) - set(ours) == {f"fleet_avatar_{n}" for n in elsewhere}
        assert set(ours) <= set(declared)
        for name in ("fleet_avatar_slots", "fleet_avatar_secrets"):
            for item in ours[name]:
                assert set(item) == set(declared[name]["options"])


def test_settings_of_ansible_are_the_safe_ones() -> None:
    text = read_playbooks()["ansible.cfg"].decode()
    for line in ("host_key_checking = true", "any_unparsed_is_failed = true", "retry_files_enabled = false"):
        assert line in text.splitlines()
