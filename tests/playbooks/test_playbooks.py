"""The Ansible project that is emitted: what Ansible and its linter say, and what its roles promise."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleetc.disk.reading import read_playbooks
from fleetc.emit.tree import is_released
from fleetc.planner.states import release_in
from tests.emit import support
from tests.emit.programs import program, run
from tests.support import ROOT, compile_text

pytestmark = pytest.mark.usefixtures("processes")

PLAYBOOKS = (
    "site.yml", "observe.yml", "begin.yml", "rollback.yml", "end.yml", "preflight.yml", "log.yml", "find.yml",
    "take.yml",
)  # fmt: skip
EXTENSIONS = {"loop_control", "block", "rescue", "vars", "loop", "when", "register", "notify"}
KEYWORDS = EXTENSIONS | {
    "timeout",
    "until",
    "retries",
    "delay",
    "name",
    "run_once",
    "tags",
    "delegate_to",
    "no_log",
    "diff",
    "changed_when",
    "failed_when",
    "check_mode",
    "environment",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emitted `ansible` directory of a fleet with both runtimes."""
    return support.written(support.emitted(support.plan()), tmp_path_factory.mktemp("tree")) / "ansible"


def loaded(path: str) -> Any:
    return yaml.safe_load(read_playbooks()[path])


def tasks(role: str = "fleet_host") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every task of a role, those in blocks included, with the file it stands in."""
    for path in read_playbooks():
        if path.startswith(f"roles/{role}/tasks/"):
            waiting = list(loaded(path))
            while waiting:
                task = waiting.pop(0)
                waiting += [*task.get("block", []), *task.get("rescue", [])]
                yield path, task


def test_ansible_accepts_the_project(project: Path, tmp_path: Path) -> None:
    ansible = (program("ansible-playbook"), "--syntax-check", "-i", "inventory.json")
    done = run(*ansible, *PLAYBOOKS, cwd=project, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [word for name in PLAYBOOKS for word in ("playbook:", name)]


@pytest.mark.outer
def test_linter_finds_nothing(project: Path, tmp_path: Path) -> None:
    done = run(program("ansible-lint"), "--offline", "-f", "pep8", "--strict", *PLAYBOOKS, cwd=project, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    assert "met the validation criteria was 'production'" in done.stderr


@pytest.mark.outer
def test_linter_would_find_a_shell(project: Path, tmp_path: Path) -> None:
    play = '---\n- name: Try\n  hosts: all\n  tasks:\n    - name: Run\n      ansible.builtin.shell: "true"\n'
    (tmp_path / "bad.yml").write_text(play)
    done = run(program("ansible-lint"), "--offline", "--profile", "production", "bad.yml", cwd=tmp_path, home=tmp_path)
    assert done.returncode == 2


def test_role_hands_everything_to_its_program_and_uses_no_shell() -> None:
    modules = set()
    for path, task in tasks():
        (module, *others) = [key for key in task if key not in KEYWORDS]
        assert not others, (path, task["name"], others)
        modules.add(module)
    builtin = {f"ansible.builtin.{name}" for name in ("assert", "copy", "import_tasks", "set_fact")}
    assert modules == {"fleet_host"} | builtin


def test_tasks_of_one_host_are_few() -> None:
    """Those that run once count for no host; validating the arguments is one more. Three are for nodes that move."""
    main = [task for path, task in tasks() if path.endswith("/main.yml")]
    moving = [task for task in main if "moves" in task.get("tags", [])]
    assert len([task for task in main if not task.get("run_once") and task not in moving]) + 1 <= 6
    assert len(moving) == 3 and all("never" in task["tags"] for task in moving)


def test_values_of_secrets_go_to_hosts_in_a_parameter_that_is_not_logged() -> None:
    """And the archive likewise: it is long."""
    text = read_playbooks()["roles/fleet_host/library/fleet_host.py"].decode()
    for name in ("values", "archive"):
        assert re.search(rf'"{name}": {{.*"no_log": True}}', text), name
    for path, task in tasks():
        arguments = task.get("fleet_host", {})
        assert set(arguments) <= {"request", "values", "archive"}, path
        assert "values" not in str(arguments.get("request", "")), path


def test_role_describes_every_variable_that_it_has() -> None:
    options = loaded("roles/fleet_host/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = loaded("roles/fleet_host/defaults/main.yml")
    assert set(defaults) <= set(options)
    assert not {name for name, option in options.items() if option.get("required")} & set(defaults)
    assert all(name.startswith("fleet_host_") for name in (*defaults, *options))


def test_emitted_variables_are_those_that_the_role_describes(project: Path) -> None:
    declared = loaded("roles/fleet_host/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    required = {name for name, option in declared.items() if option.get("required")}
    files = sorted(project.glob("host_vars/*.json"))
    shared = json.loads((project / "inventory.json").read_text())["all"]["vars"]
    assert len(files) == 3
    for file in files:
        variables = json.loads(file.read_text())
        ours = {name for name in (*variables, *shared) if not name.startswith("ansible_")}
        assert required <= ours <= set(declared)
        options = declared["fleet_host_services"]["options"]
        for service in variables["fleet_host_services"]:
            assert set(options) - {"image", "program", "exclusive"} <= set(service) <= set(options)
            for secret in service["secrets"]:
                assert set(secret) | {"as_file"} == set(options["secrets"]["options"])


def test_emitted_variables_of_an_avatar_stack_are_those_that_the_role_describes() -> None:
    spec = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
    tree = compile_text(spec).tree
    assert tree is not None
    declared = loaded("roles/fleet_host/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = loaded("roles/fleet_host/defaults/main.yml")
    for host in ("gpu-1", "gpu-2"):
        variables = json.loads(tree.as_mapping()[f"ansible/host_vars/{host}.json"].content)
        ours = {name: value for name, value in variables.items() if name.startswith("fleet_host_stack_")}
        assert set(ours) == {name for name in defaults if name.startswith("fleet_host_stack_")}
        for name in ("fleet_host_stack_slots", "fleet_host_stack_secrets"):
            for item in ours[name]:
                assert set(item) == set(declared[name]["options"])


def test_settings_of_ansible_are_the_safe_ones() -> None:
    text = read_playbooks()["ansible.cfg"].decode()
    for line in ("host_key_checking = true", "any_unparsed_is_failed = true", "retry_files_enabled = false"):
        assert line in text.splitlines()


TOLD = """---
- name: Say what the host would get
  ansible.builtin.debug:
    msg: "GETS {{ inventory_hostname }} {{ fleet_host_wanted.digest }} {{ lookup('fleet_archive', fleet_host_source) }}"
  register: fleet_host_ended
"""


@pytest.mark.parametrize("out", ["", 'out = { until = 2099-01-31, reason = "it\'s {{ off }}" }\n'])
def test_stock_ansible_packs_and_names_the_release_without_the_page_of_the_host(tmp_path: Path, out: str) -> None:
    """Whatever the page says, the digest and the bytes that a host gets stay the same. What is out is part of it."""
    text = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
    compiled = compile_text(text.replace("[hosts.gpu-2]\n", f"[hosts.gpu-2]\n{out}"))
    tree = compiled.tree
    assert tree is not None, compiled.checked.diagnostics
    assert any(one.path.endswith("out-of-service.txt") for one in tree.artifacts) == bool(out)
    project = support.written(tree, tmp_path) / "ansible"
    (project / "roles/fleet_host/tasks/main.yml").write_text(TOLD)
    (project / "roles/fleet_host/meta/argument_specs.yml").unlink()
    answers = []
    for words in ("", "changed"):
        (tmp_path / "hosts/gpu-1/README.md").write_text(words)
        done = run(
            program("ansible-playbook"),
            *("-i", "inventory.json", "-c", "local", "site.yml"),
            cwd=project,
            home=tmp_path,
        )
        answers.append(dict(re.findall(r"GETS (\S+) (\S+ \S+)\"", done.stdout)))
    assert answers[0] == answers[1]
    for host in ("gpu-1", "gpu-2"):
        digest, archive = answers[0][host].split(" ")
        assert digest == support.release_in(tree, host).host == release_in(tree, host)
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(base64.b64decode(archive)))) as packed:
            assert set(packed.getnames()) == {
                a.path.removeprefix(f"hosts/{host}/")
                for a in tree.artifacts
                if is_released(a.path) and a.path.split("/")[1] == host
            }
