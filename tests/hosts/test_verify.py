"""`fleetc verify` on real hosts: what was just rolled out is as reviewed, and then exactly what was changed is found.

The node and the chain are stand-ins; systemd, Docker, sshd, Ansible and the command are real. The tests run in their
order on one fleet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.farm.farm import Farm
from tests.hosts.test_deploy import ACCOUNTS, CANARY, Rollout, chain_beside, lent

pytestmark = pytest.mark.usefixtures("processes")

PORT = 8546


class Verified(Rollout):
    """The fleet of the deploy tests, with a chain on which everything is as it should be."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "FARM_RPC_URL": f"http://{self.farm.address}:{PORT}/{CANARY}"}

    def provide(self) -> None:
        super().provide()
        names = "\n".join(f"{host.address} {name}.example.net" for name, host in self.hosts.items())
        for host in self.hosts.values():
            host.run("sh", "-c", f"cp /etc/hosts /etc/hosts.before; echo '{names}' >> /etc/hosts")

    def clear(self) -> None:
        super().clear()
        for host in self.hosts.values():
            host.run("mv", "/etc/hosts.before", "/etc/hosts")
            host.run("rm", "-rf", "/etc/systemd/system/livepeer-orch-b.service.d")

    def verify(self) -> tuple[int, Any]:
        """The exit code, and what JSON has."""
        done = self.fleetc("verify", str(self.directory), "--no-public", "--format", "json")
        assert CANARY not in done.stdout + done.stderr and "Traceback" not in done.stderr, done.stderr
        return done.returncode, json.loads(done.stdout)

    def is_as_reviewed(self) -> None:
        code, said = self.verify()
        assert (code, said["diagnostics"]) == (0, [])


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    with chain_beside(farm, PORT, {ACCOUNTS[1]: "https://one.example.net:8935"}):
        yield from lent(Verified(farm, tmp_path_factory.mktemp("fleet")))


def test_what_was_just_rolled_out_is_as_reviewed(fleet: Verified) -> None:
    fleet.is_as_reviewed()


class Drift(NamedTuple):
    """What somebody does on a host by the shell, how it is undone, and the one finding: its code, node and words."""

    host: str
    do: str
    undo: str
    code: str
    node: str
    words: str


_UNITS = "/etc/systemd/system"
_OF_B = f"{_UNITS}/livepeer-orch-b.service.d"
_SLEEP = "python3 -c 'import time; time.sleep(600)'"
_EDGE = (
    "DOCKER_CONFIG=/root/.docker docker compose -p livepeer-edge -f /opt/fleetc/current/edge/compose.yaml"
    " up -d --force-recreate"
)
_PROXIES = '{"proxies": {"default": {"httpsProxy": "http://127.0.0.1:1"}}}'


def _drop_in(text: str, *, node: str = "orch-b") -> str:
    """Add settings to the unit of a node, and start it again."""
    place = f"{_UNITS}/livepeer-{node}.service.d"
    written = f"mkdir -p {place}; printf '[Service]\\n{text}\\n' > {place}/by-hand.conf"
    return f"{written}; systemctl daemon-reload; systemctl restart livepeer-{node}"


def _no_drop_in(node: str = "orch-b") -> str:
    gone = f"rm -r {_UNITS}/livepeer-{node}.service.d"
    return f"{gone}; systemctl daemon-reload; systemctl restart livepeer-{node}"


def _edited(path: str, line: str) -> tuple[str, str]:
    """Add a line to a file, and put the file back as it was."""
    return f"cp -p {path} /root/kept; echo '{line}' >> {path}", f"cp -p /root/kept {path}"


_UNIT = f"{_UNITS}/livepeer-gate.service"
_RELOAD = "systemctl daemon-reload"
_OTHER = f"{_UNITS}/other-node.service"
_PASSWORD = "/etc/livepeer/password"
_EARNER, _PAYER = ACCOUNTS[1], ACCOUNTS[0]
_ADDED = r"sed -n '/^ExecStart=/,/[^\\]$/{s/[^\\]$/& -maxAttempts=7/;p}'"

_WRONG = (f"cp -p {_PASSWORD} /root/kept; printf wrong >> {_PASSWORD}", f"cp -p /root/kept {_PASSWORD}")
DRIFTS = {
    "a line in a unit, which systemd has not read": Drift(
        "two", _edited(_UNIT, "# by hand")[0], f"{_edited(_UNIT, '')[1]}; {_RELOAD}",
        "changed-on-host", "gate", "livepeer-gate.service, and systemd has not read its unit again",
    ),
    "a variable in an addition": Drift(
        "two", _drop_in("Environment=LP_MAXATTEMPTS=3"), _no_drop_in(),
        "changed-on-host", "orch-b", "its process also reads LP_MAXATTEMPTS",
    ),
    "an argument in an addition": Drift(
        "two",
        f"mkdir -p {_OF_B}; (echo [Service]; echo ExecStart=; {_ADDED} {_UNITS}/livepeer-orch-b.service)"
        f" > {_OF_B}/by-hand.conf; {_RELOAD}; systemctl restart livepeer-orch-b",
        _no_drop_in(), "changed-on-host", "orch-b", "other arguments: -maxAttempts",
    ),
    "a unit out of the boot": Drift(
        "one", "systemctl disable livepeer-orch-a",
        "systemctl enable /opt/fleetc/current/orch-a/livepeer-orch-a.service", "changed-on-host", "orch-a", "",
    ),
    "a container that stands still": Drift(
        "three", "docker stop livepeer-edge", "docker start livepeer-edge", "node-not-running", "edge", "does not run",
    ),
    "a unit that stands still": Drift(
        "two", "systemctl stop livepeer-gate", "systemctl start livepeer-gate", "node-not-running", "gate", "not run",
    ),
    "a secret on the disk": Drift(
        "three", *_edited("/opt/fleetc/current/edge/secrets/secrets.env", 'LP_ETHURL="http://127.0.0.1:1"'),
        "changed-on-host", "edge", "edge: its secrets were changed on the host",
    ),
    "a wrong password": Drift(
        "one", *_WRONG, "password-opens-key", "orch-a", f"the password from {_PASSWORD} does not open",
    ),
    "a second node in a unit": Drift(
        "one", f"systemd-run --unit=other-node {_SLEEP} -ethAcctAddr={_EARNER} -reward=true",
        "systemctl stop other-node", "second-node", "", "of other-node.service uses the account of the wallet earner"
        " and calls reward",
    ),
    "a second node in no unit": Drift(
        "two", f"setsid nohup {_SLEEP} -ethAcctAddr {_PAYER} > /dev/null 2>&1 & echo $! > /root/pid",
        "kill $(cat /root/pid)", "second-node", "", "uses the account of the wallet payer, and",
    ),
    "a unit with the account": Drift(
        "two", f"printf '[Service]\\nExecStart=/bin/livepeer -ethAcctAddr {_EARNER} -reward\\n[Install]\\n"
        f"WantedBy=multi-user.target\\n' > {_OTHER}; systemctl enable other-node",
        f"systemctl disable other-node; rm {_OTHER}; {_RELOAD}", "second-node", "",
        "the unit other-node.service, which starts at the next boot, uses",
    ),
    "a second container": Drift(
        "three",
        f"docker run -d --name mine --network host IMAGE -gateway -ethAcctAddr={_PAYER}"
        " -httpAddr=127.0.0.1:7001 -cliAddr=127.0.0.1:7002 -rtmpAddr=127.0.0.1:7003 -dataDir=/tmp/mine",
        "docker rm -f mine", "second-node", "", "the container mine uses the account of the wallet payer",
    ),
    "proxies of systemd": Drift(
        "one", "systemctl set-environment HTTPS_PROXY=http://127.0.0.1:1 no_proxy=x; systemctl restart livepeer-orch-a",
        "systemctl unset-environment HTTPS_PROXY no_proxy; systemctl restart livepeer-orch-a",
        "other-setting", "orch-a", "also reads HTTPS_PROXY and no_proxy from its environment",
    ),
    "a proxy of Docker": Drift(
        "three", f"mkdir -p /root/.docker; echo '{_PROXIES}' > /root/.docker/config.json; {_EDGE}",
        f"rm /root/.docker/config.json; {_EDGE}",
        "other-setting", "edge", "also reads HTTPS_PROXY and https_proxy from its environment",
    ),
    "a restart policy of a container": Drift(
        "three", "docker update --restart no livepeer-edge", "docker update --restart always livepeer-edge",
        "other-restart-policy", "edge", "Docker restarts it by the policy no instead of always",
    ),
    "a restart policy of all units": Drift(
        "one",
        f"mkdir -p {_UNITS}/service.d; printf '[Service]\\nRestart=no\\n' > {_UNITS}/service.d/x.conf; {_RELOAD}",
        f"rm -r {_UNITS}/service.d; {_RELOAD}",
        "other-restart-policy", "orch-a", "systemd restarts it by the policy no instead of always",
    ),
}  # fmt: skip


def test_one_drift_is_one_finding_with_its_true_name(fleet: Verified) -> None:
    wrong: dict[str, object] = {}
    for name, drift in DRIFTS.items():
        host = fleet.hosts[drift.host]
        done = host.run("sh", "-c", drift.do.replace("IMAGE", fleet.farm.images[0]))
        found = fleet.verify()[1]["verify"]["findings"]
        undone = host.run("sh", "-c", drift.undo)
        as_it_is = [(one["code"], one["node"]) for one in found if drift.words in one["message"]]
        if len(found) != 1 or as_it_is != [(drift.code, drift.node)] or done.returncode or undone.returncode:
            wrong[name] = (found, done.stdout, done.stderr, undone.stderr)
    assert not wrong, json.dumps(wrong, indent=1)
    fleet.is_as_reviewed()
