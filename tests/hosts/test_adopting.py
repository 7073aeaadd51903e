"""A node in a unit that somebody wrote, on a real host: read without a change, and what its plan says is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.farm import Farm
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

SECRET = "hunter2-swordfish"
UNIT = f"""\
[Service]
EnvironmentFile=/etc/lp.env
Environment=LP_V=5
ExecStart=/usr/local/bin/livepeer -transcoder -orchAddr=orch.example.net:8935 \\
  -cliAddr=127.0.0.1:7935 -dataDir=/var/lib/lp -orchSecret {SECRET}
[Install]
WantedBy=multi-user.target
"""


def test_unit_of_a_host_becomes_a_spec_and_its_plan_is_true(farm: Farm, tmp_path: Path) -> None:
    host = farm.hosts["h1"]
    spec = tmp_path / "fleet.toml"

    def fleetc(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ, "FLEETC_SSH_KEY": str(farm.ssh_private_key), "FLEETC_SSH_KNOWN_HOSTS": str(farm.known_hosts),
            "GPU_SECRET": SECRET,
        }  # fmt: skip
        return farm.controller([sys.executable, "-m", "fleetc", *words], env=environment, cwd=ROOT, timeout=300)

    host.write("/etc/lp.env", b"LP_MAXSESSIONS=7\n", 0o600)
    host.write("/etc/systemd/system/lp.service", UNIT.encode())
    host.run("systemctl", "enable", "lp.service")
    host.run("systemctl", "restart", "lp.service")
    try:
        before = host.run("systemctl", "show", "--property=MainPID,ActiveState", "lp.service").stdout
        assert "ActiveState=active" in before
        here = f"gpu={host.address}:{farm.ssh_port}"
        done = fleetc("adopt", "--from", here, "--only", "lp", "--yes", "-o", str(spec))
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        text = spec.read_text()
        assert SECRET not in said + text
        for line in ("[transcoders.lp]", "max_sessions = 7", "verbosity = 5", 'secret = { env = "GPU_SECRET" }'):
            assert line in text, text
        assert "adopt-unit-changed" not in said
        plan = fleetc("adopt", "--in-place", "gpu", str(spec), "--yes").stdout
        assert re.search("settings: [0-9]+ compared, 0 differ", plan), plan
        assert "systemd moves no process from lp.service to livepeer-lp.service" in plan
        assert "and the rollout changes nothing (ports-free)" in plan
        assert "ports-free" in fleetc("preflight", str(tmp_path)).stderr
        assert host.run("systemctl", "show", "--property=MainPID,ActiveState", "lp.service").stdout == before

        (stop,) = re.findall("before that rollout, on gpu: (.*)", plan)
        host.run("sh", "-c", stop)
        assert "ports-free" not in fleetc("preflight", str(tmp_path)).stderr
        assert (
            host.run("systemctl", "show", "--property=UnitFileState", "lp.service").stdout.strip().endswith("disabled")
        )
    finally:
        host.run("systemctl", "disable", "--now", "lp.service")
        host.run("rm", "-rf", "/etc/lp.env", "/etc/systemd/system/lp.service", "/var/lib/lp")
        host.run("systemctl", "daemon-reload")
