"""What every compiled example must pass: Ansible's own checks, systemd's, Compose's, and the schema of the spec."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.disk import files
from fleetc.pipeline import Compiled
from tests.support import EXAMPLES, INVENTORIES, ROOT, compiled_example

pytestmark = pytest.mark.usefixtures("processes")

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every example, written to a directory of its own."""
    place = tmp_path_factory.mktemp("examples")
    for name in EXAMPLES:
        tree = compiled_example(name).tree
        assert tree is not None
        files.write_tree(tree, place / name)
    return place


@pytest.fixture(scope="module", params=EXAMPLES)
def example(request: pytest.FixtureRequest, trees: Path) -> tuple[Compiled, Path]:
    """An example, compiled, and where it is written."""
    return compiled_example(request.param), trees / request.param


def run(command: Sequence[str | Path], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, "PATH": path, **environment},
        capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip


def services(result: Compiled, runtime: str) -> list[tuple[HostBlueprint, Service]]:
    assert result.blueprint is not None
    return [(h, s) for h in result.blueprint.hosts if h.runtime == runtime for s in h.services]


@pytest.mark.outer
def test_ansible_playbook_syntax(example: tuple[Compiled, Path]) -> None:
    watched = (example[1] / "monitoring" / "compose.yaml").is_file()
    for playbook in ("site.yml", *(["monitoring.yml"] if watched else [])):
        done = run(["ansible-playbook", "--syntax-check", "-i", "inventory.json", playbook], example[1] / "ansible")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "WARNING" not in done.stderr


@pytest.mark.outer
def test_ansible_lint(trees: Path, tmp_path: Path) -> None:
    """The playbooks of all examples at once. The roles are the same in each, and linted in `tests/playbooks/`."""
    roles = [f"--exclude={name}/ansible/roles" for name in EXAMPLES]
    done = run(
        ["ansible-lint", "--offline", "-f", "pep8", "--strict", *roles, *(f"{n}/ansible/site.yml" for n in EXAMPLES)],
        trees,
        ANSIBLE_HOME=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path),
        NO_COLOR="1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == ""
    assert f"in {len(EXAMPLES)} files processed" in done.stderr
    assert "met the validation criteria was 'production'" in done.stderr


@pytest.mark.outer
def test_systemd_has_nothing_to_say_about_any_unit(example: tuple[Compiled, Path], tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    found = services(example[0], "systemd")
    root = tmp_path / "root"
    library = root / "lib/systemd/system"
    library.mkdir(parents=True)
    for kind in ("*.target", "*.slice"):
        for unit in Path("/lib/systemd/system").glob(kind):
            shutil.copy(unit, library, follow_symlinks=True)
    for _, service in found:
        assert service.program is not None
        stub = root / service.program.path.lstrip("/")
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text("#!/bin/sh\n")
        stub.chmod(0o755)
    units = root / "etc/systemd/system"
    units.mkdir(parents=True)
    for host, service in found:
        name = f"{service.unit}.service"
        shutil.copy(example[1] / "hosts" / host.name / service.name / name, units)
        done = run(["systemd-analyze", "verify", f"--root={root}", "--man=no", name], tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), name


def test_compose_accepts_every_file_and_gives_the_arguments_back(example: tuple[Compiled, Path]) -> None:
    for host, service in services(example[0], "docker"):
        directory = example[1] / "hosts" / host.name / service.name
        compose: list[str | Path] = [BIN / "docker-compose", "-f", "compose.yaml", "config", "--no-env-resolution"]
        quiet = run([*compose, "-q"], directory)
        assert (quiet.returncode, quiet.stderr) == (0, ""), service.name
        parsed = json.loads(run([*compose, "--format", "json"], directory).stdout)
        # Compose writes its own output so that it can be read again: a dollar sign stands doubled there.
        command = [word.replace("$$", "$") for word in parsed["services"][service.name]["command"]]
        assert command == [argument.text for argument in service.arguments]


@pytest.mark.outer
@pytest.mark.parametrize("name", EXAMPLES)
def test_folder_of_an_example_is_the_inventory_that_was_compiled(name: str, tmp_path: Path) -> None:
    """With the ansible.cfg of this repository: Ansible would take every file of the folder for a list of hosts."""
    folder = f"inventories/{name}"
    by_folder, by_file = (
        run(["ansible-inventory", "-i", source, "--list"], ROOT, ANSIBLE_HOME=str(tmp_path))
        for source in (folder, f"{folder}/rendered/ansible/inventory.json")
    )
    assert (by_folder.returncode, by_folder.stderr) == (0, "")
    assert json.loads(by_folder.stdout) == json.loads(by_file.stdout)
    blueprint = compiled_example(name).blueprint
    assert blueprint is not None
    variables = json.loads(by_folder.stdout)["_meta"]["hostvars"]
    assert {host: found["ansible_host"]["__ansible_unsafe"] for host, found in variables.items()} == {
        host.name: host.address for host in blueprint.hosts
    }


@pytest.mark.parametrize("folder", ["inventories", "inventories/demo/rendered/hosts"])
def test_folder_without_an_inventory_is_refused(folder: str, tmp_path: Path) -> None:
    done = run(["ansible-inventory", "-i", folder, "--list"], ROOT, ANSIBLE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Completely failed to parse inventory source {ROOT / folder}" in done.stderr


def test_a_compiled_tree_has_settings_of_its_own(trees: Path, tmp_path: Path) -> None:
    place = trees / "demo/ansible"
    shown = run(["ansible-playbook", "--version"], place, ANSIBLE_HOME=str(tmp_path)).stdout
    assert f"config file = {place}/ansible.cfg" in shown


def test_schema_accepts_every_spec(tmp_path: Path) -> None:
    schema, specs = ROOT / "inventories" / "spec.schema.json", [INVENTORIES / name / "fleet.toml" for name in EXAMPLES]
    done = run(["check-jsonschema", "--schemafile", schema, *specs], tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    tombi = run(["tombi", "lint", "--offline", *specs], ROOT, XDG_CACHE_HOME=str(tmp_path))
    assert tombi.returncode == 0, tombi.stdout + tombi.stderr
    assert "Warning" not in tombi.stdout + tombi.stderr


@pytest.mark.parametrize("tool", ["check-jsonschema", "tombi"])
def test_schema_refuses_a_misspelt_key(tool: str, tmp_path: Path) -> None:
    """The test above can fail: a key that does not exist is found by both programs."""
    schema = ROOT / "inventories" / "spec.schema.json"
    text = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8").replace("max_sessions", "max_sesions")
    spec = tmp_path / "fleet.toml"
    spec.write_text(text.replace("../spec.schema.json", schema.as_uri()), encoding="utf-8")
    command: list[str | Path] = (
        ["check-jsonschema", "--schemafile", schema, spec] if tool != "tombi" else ["tombi", "lint", "--offline", spec]
    )
    done = run(command, tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode != 0
    assert "max_sesions" in done.stdout + done.stderr


def test_committed_schema_is_fresh() -> None:
    from fleetc.language.editor import editor_schema

    committed = (ROOT / "inventories" / "spec.schema.json").read_text(encoding="utf-8")
    assert json.loads(committed) == json.loads(json.dumps(editor_schema())), "run make render"
