"""A node in a unit that somebody wrote, on a real host: read without a change, and what its plan says is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.farm.farm import Farm, Host
from tests.hosts.test_deploy import SKIPPED
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

SECRET = "hunter2-swordfish"
FLEETC = ("/opt/fleetc", "/etc/fleetc", "/var/lib/fleetc")
UNIT = f"""\
[Service]
EnvironmentFile=/etc/lp.env
Environment=LP_V=5
ExecStart=/usr/local/bin/livepeer -transcoder -orchAddr=orch.example.net:8935 \\
  -cliAddr=127.0.0.1:7935 -dataDir=/var/lib/lp -orchSecret {SECRET}
[Install]
WantedBy=multi-user.target
"""


def fleetc(farm: Farm, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "FLEETC_SSH_KEY": str(farm.ssh_private_key), "FLEETC_SSH_KNOWN_HOSTS": str(farm.known_hosts),
        "GPU_SECRET": SECRET,
    }  # fmt: skip
    return farm.controller([sys.executable, "-m", "fleetc", *words], env=environment, cwd=ROOT, timeout=300)


@contextmanager
def running(host: Host, unit: str, *more: str) -> Iterator[Callable[[], str]]:
    """The unit runs on a host, which has nothing of it afterwards; what systemd says of its process."""
    host.write("/etc/lp.env", b"LP_MAXSESSIONS=7\n", 0o600)
    host.write(f"/etc/systemd/system/{unit}", UNIT.encode())
    host.run("systemctl", "enable", unit)
    host.run("systemctl", "restart", unit)
    try:
        yield lambda: host.run("systemctl", "show", "--property=MainPID,ActiveState,NRestarts", unit).stdout
    finally:
        host.run("systemctl", "disable", "--now", unit)
        host.run("rm", "-rf", "/etc/lp.env", f"/etc/systemd/system/{unit}", "/var/lib/lp", *more)
        host.run("systemctl", "daemon-reload")


def test_unit_of_a_host_becomes_a_spec_and_its_plan_is_true(farm: Farm, tmp_path: Path) -> None:
    host = farm.hosts["h1"]
    spec = tmp_path / "fleet.toml"

    with running(host, "lp.service") as facts:
        before = facts()
        assert "ActiveState=active" in before
        here = f"gpu={host.address}:{farm.ssh_port}"
        answers = ("--set", "fleet.node_release=v0.9.1")
        done = fleetc(farm, "adopt", "--from", here, "--only", "lp", "--yes", "-o", str(spec), *answers)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        text = spec.read_text()
        assert SECRET not in said + text
        for line in ("[transcoders.lp]", "max_sessions = 7", "verbosity = 5", 'secret = { env = "GPU_SECRET" }'):
            assert line in text, text
        assert "adopt-unit-changed" not in said
        assert fleetc(farm, "compile", str(spec)).returncode == 0
        plan = fleetc(farm, "deploy", str(spec), "--check", *SKIPPED).stdout
        assert re.search("settings: [0-9]+ compared, 0 differ", plan), plan
        assert "systemd moves no process from lp.service to livepeer-lp.service" in plan
        assert "and the rollout changes nothing (ports-free)" in plan
        assert facts() == before

        (stop,) = re.findall("before that rollout, on gpu: (.*)", plan)
        host.run("sh", "-c", stop)
        again = fleetc(farm, "deploy", str(spec), "--check", *SKIPPED)
        assert "ports-free" not in again.stdout + again.stderr and "takes the place of" not in again.stdout
        assert (
            host.run("systemctl", "show", "--property=UnitFileState", "lp.service").stdout.strip().endswith("disabled")
        )


def test_process_goes_on_from_its_own_unit_to_that_of_the_first_rollout(farm: Farm, tmp_path: Path) -> None:
    host, unit = farm.hosts["h1"], "livepeer-lp.service"
    spec = tmp_path / "fleet.toml"

    with running(host, unit, *FLEETC) as facts:
        before = facts()
        assert "ActiveState=active" in before
        here = f"gpu={host.address}:{farm.ssh_port}"
        done = fleetc(farm, "adopt", "--from", here, "--yes", "-o", str(spec), "--set", "fleet.node_release=v0.9.1")
        assert done.returncode == 0, done.stderr
        spec.write_text(spec.read_text() + '\n[rollout]\nstable = "1s"\ndeadline = "12s"\nconfirm = "20s"\n')
        assert fleetc(farm, "compile", str(spec)).returncode == 0
        plan = fleetc(farm, "deploy", str(spec), "--check", *SKIPPED)
        assert "restarts it once; fleetc deploy --keep-running keeps it running" in plan.stdout, plan
        rolled = fleetc(farm, "deploy", str(spec), "--keep-running", *SKIPPED)
        assert "keeps it running, unless LP_ORCHSECRET turns out to be another one" in rolled.stdout, rolled
        assert rolled.returncode == 0, rolled.stdout + rolled.stderr
        assert facts() == before
        assert host.run("readlink", f"/etc/systemd/system/{unit}").stdout.strip().startswith("/opt/fleetc/")
        verified = fleetc(farm, "verify", str(spec))
        assert verified.returncode == 0, verified.stdout + verified.stderr
        host.run("systemctl", "restart", unit)  # from now on it is a node like any other
        verified = fleetc(farm, "verify", str(spec))
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert facts() != before
