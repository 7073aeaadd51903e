"""The playbook that starts what watches the fleet: which files come to which host, and what Compose is asked there."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from fleetc.disk import files
from tests.emit.programs import program, run
from tests.support import compiled_example

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

FILES = {
    "stage-1": {"stage-1.compose.yaml", "stage-1.yml"},
    "stage-2": {
        *("compose.yaml", "prometheus.yml", "alerts.yml", "alertmanager.yml", "dashboard.json"),
        *("grafana/dashboards/fleetc.yml", "grafana/datasources/fleetc.yml"),
    },
}
"""What comes to each host of the example."""
DOCKER = """#!/bin/sh
[ "$2" = version ] && exec echo 2.24.0
echo "$PWD $*" >> "$LOG"
case "$*" in *--force-recreate*) echo " Container fleetc-monitoring-grafana-1  Started" >&2 ;; esac
"""
"""Stands in for Docker: writes down what it is asked, and says that it started something where it is told to."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree of an example, with a stand-in for Docker on the PATH."""
    compiled = compiled_example("avatar-stage").tree
    assert compiled is not None
    files.write_tree(compiled, tmp_path / "tree")
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER.replace("$LOG", str(tmp_path / "asked")))
    docker.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{docker.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "tree"


def started(tree: Path) -> tuple[dict[str, str], set[str]]:
    """Run the playbook on this machine: the last line of each host, and what Docker was asked."""
    asked = tree.parent / "asked"
    asked.unlink(missing_ok=True)
    more = {"ansible_connection": "local", "ansible_become": False}
    more |= {"fleet_monitoring_directory": f"{tree.parent}/on-{{{{ inventory_hostname }}}}"}
    words = ("monitoring.yml", "-e", json.dumps(more))
    done = run(program("ansible-playbook"), *words, cwd=tree / "ansible", home=tree.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    recap = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("stage-") and "ok=" in line}
    return recap, set(asked.read_text().splitlines())


def up(tree: Path, host: str, file: str, *more: str) -> str:
    words = ("compose", "--file", file, "up", "--detach", "--remove-orphans", "--wait", "--wait-timeout", "180")
    return " ".join((f"{tree.parent}/on-{host}", *words, *more))


def test_each_host_gets_its_own_files_and_starts_again_only_where_one_changed(tree: Path) -> None:
    _, asked = started(tree)
    for host, names in FILES.items():
        there = {path.relative_to(tree.parent / f"on-{host}"): path for path in (tree.parent / f"on-{host}").rglob("*")}
        assert {str(name) for name, path in there.items() if path.is_file()} == names
        modes = {stat.S_IMODE(path.stat().st_mode) for path in there.values() if path.is_file()}
        assert modes == {0o644}, "the users of the containers read them"
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o755 for path in there.values() if path.is_dir())
    again = "--force-recreate"
    assert asked == {up(tree, "stage-1", "stage-1.compose.yaml", again), up(tree, "stage-2", "compose.yaml", again)}

    recap, asked = started(tree)
    assert all("changed=0" in line for line in recap.values())
    assert asked == {up(tree, "stage-1", "stage-1.compose.yaml"), up(tree, "stage-2", "compose.yaml")}

    alerts = tree / "monitoring" / "alerts.yml"
    alerts.write_text(alerts.read_text() + "# changed\n")
    recap, asked = started(tree)
    assert "changed=0" in recap["stage-1"] and "changed=2" in recap["stage-2"]
    assert asked == {up(tree, "stage-1", "stage-1.compose.yaml"), up(tree, "stage-2", "compose.yaml", again)}


def test_host_without_compose_is_told_before_anything_is_written(tree: Path) -> None:
    docker = tree.parent / "bin" / "docker"
    docker.write_text("#!/bin/sh\necho \"docker: 'compose' is not a docker command.\" >&2\nexit 1\n")
    more = json.dumps({"ansible_connection": "local", "fleet_monitoring_directory": str(tree.parent / "on")})
    done = run(program("ansible-playbook"), "monitoring.yml", "-e", more, cwd=tree / "ansible", home=tree.parent)
    assert done.returncode != 0 and "is not a docker command" in done.stdout
    assert not (tree.parent / "on").exists()
