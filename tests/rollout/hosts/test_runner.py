"""What a run is given, and what is said of one that gets nowhere. Ansible and its runner are real."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fleetc.rollout.hosts.events import BROKE_OFF, Event, Notes, RunResult
from fleetc.rollout.hosts.gate import OBSERVE, outcomes, reason_of
from fleetc.rollout.hosts.runner import Project, RunOptions, _environment, run_playbook
from tests.support import ROOT

NAMES = ["known_hosts", "known hosts", 'kn"own', "kno'wn", "known%h", "back\\slash", "two  spaces #1"]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", NAMES)
def test_known_hosts_file_of_any_name_reaches_ssh(name: str, tmp_path: Path) -> None:
    if shutil.which("ssh") is None:
        pytest.skip("no ssh on this machine")
    hosts = tmp_path / name
    extra = _environment(tmp_path, tmp_path, RunOptions(ssh_known_hosts=hosts))["ANSIBLE_SSH_EXTRA_ARGS"]
    words = shlex.split(extra)  # as Ansible splits it
    assert words[::2] == ["-o"] * (len(words) // 2)
    shown = subprocess.run(["ssh", "-G", *words, "host.example"], capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("userknownhostsfile ")]
    assert line.removeprefix("userknownhostsfile ").replace("%%", "%") == str(hosts)


def test_values_stay_until_ansible_has_read_them(tmp_path: Path) -> None:
    """A warning that Ansible prints while it starts comes before it reads its variables."""
    values = tmp_path / "values.json"
    values.touch()
    notes = Notes(lambda _: None, (), values)
    notes.take({"event": "verbose", "stdout": "[WARNING]: something"})
    assert values.exists()
    notes.take({"event": "playbook_on_start", "event_data": {}})
    assert not values.exists()


def observed(directory: Path, heard: Any = lambda _: None, **variables: object) -> RunResult:
    """A run of observe.yml on this machine, as another user."""
    project, work = directory / "project", directory / "work"
    shutil.copytree(ROOT / "playbooks", project)
    (work / "cp").mkdir(parents=True)
    host = {"ansible_connection": "local", "ansible_become": True, "ansible_become_user": "nobody", **variables}
    (project / "inventory.json").write_text(
        json.dumps({"all": {"children": {"fleet_hosts": {"hosts": {"one": host}}}}})
    )
    (project / "rollout.json").write_text(json.dumps({"fleet_batches": [["one"]]}))
    return run_playbook(Project(project, work, True), "observe.yml", RunOptions(), {}, heard, (OBSERVE,))


SUDO = {
    "echo 'sh: 1: sudo: not found' >&2; exit 127": "it has no sudo, so install that",
    "echo 'sudo: a password is required' >&2; exit 1": "use sudo without a password",
    "echo 'bob is not in the sudoers file.' >&2; exit 1": "use sudo without a password",
}


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(("does", "says"), SUDO.items())
def test_host_without_sudo_says_what_to_do(does: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "sudo").write_text(f"#!/bin/sh\n{does}\n")
    (tmp_path / "sudo").chmod(0o755)
    why = reason_of("one", observed(tmp_path, ansible_become_exe=str(tmp_path / "sudo")))
    assert why.startswith("fleetc has to be root there: ") and why.endswith(", or log in as root") and says in why


@pytest.mark.usefixtures("processes")
def test_host_without_python_or_without_root(tmp_path: Path) -> None:
    none = observed(tmp_path / "none", ansible_become=False, ansible_python_interpreter="/nowhere/python3")
    assert reason_of("one", none) == "it has no Python; install python3, 3.9 or newer"
    python = shutil.which("python3", path="/usr/bin")
    if os.geteuid() == 0 and shutil.which("su") and python:
        other = {"ansible_become_method": "su", "ansible_become_flags": "-s /bin/sh"}
        plain = observed(tmp_path / "plain", **other, ansible_python_interpreter=python)
        assert reason_of("one", plain).startswith("fleetc has to be root there: write become = true at its host")
    (tmp_path / "python3").write_text("#!/bin/sh\necho 'out of memory' >&2; exit 1\n")
    (tmp_path / "python3").chmod(0o755)
    ill = observed(tmp_path / "ill", ansible_become=False, ansible_python_interpreter=str(tmp_path / "python3"))
    assert reason_of("one", ill) == "fleetc's program did not answer there: out of memory"


@pytest.mark.usefixtures("processes")
def test_ansible_that_is_killed_in_the_middle_is_told_as_that(tmp_path: Path) -> None:
    tmp_path = tmp_path / "killed"

    def kill(event: Event) -> None:
        if event.kind == "start":
            found = subprocess.run(["pgrep", "-f", f"ansible-playbook.*{tmp_path}"], capture_output=True, check=True)
            for pid in found.stdout.split():
                os.kill(int(pid), signal.SIGKILL)

    done = observed(tmp_path, kill, ansible_become=False)
    assert done.last_words == (BROKE_OFF,)
    assert outcomes(["one"], done)[0][1:3] == ("unknown", BROKE_OFF)
