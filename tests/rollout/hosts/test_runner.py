"""The environment of a run: what ssh is told comes out of two rounds of splitting as it went in."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from fleetc.rollout.hosts.events import Notes
from fleetc.rollout.hosts.runner import RunOptions, _environment

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
