"""Three machines share a rollout, each with a worker of ansible-runner, and one worker is killed in the middle."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.farm.sshd_host import needed
from tests.rollout.hosts.loopback import CANARIES, NAMES, SKIPPED, Loopback, texts_below

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SECRETS = [CANARIES[name].encode() for name in ("rpc", "vault", "host", "command", "password")]
NODES = {"one": "gate", "two": "orch-two", "three": "orch-three"}


class Shared(Loopback):
    """Three hosts that nothing ties to one another; the machine of the workers has the secrets, and only they do."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, 3)
        self.secrets = directory / "secrets.json"
        values = {
            "fleet_vault": {"kafka_password": {"__ansible_unsafe": CANARIES["vault"]}},
            "fleet_commands": {"pull-key": {"__ansible_unsafe": CANARIES["command"]}},
            "fleet_environment": {"LOOPBACK_RPC_URL": {"__ansible_unsafe": self.environment()["LOOPBACK_RPC_URL"]}},
        }
        self.secrets.write_text(json.dumps(values))
        self.secrets.chmod(0o600)

    def compile(self, price: str, canary: int = 0) -> None:
        """Every node gets this price."""
        elsewhere = 'orchestrators = ["https://elsewhere.example.net:8935"]'
        settings = f'[rollout]\ncanary = {canary}\nconfirm = "30s"\n'
        changes = {'discovery = "registry"': elsewhere, "[rollout]\n": settings}
        self.write_fleet(**changes, **{"1500 wei": f"{price} wei", "1200 wei": f"{price} wei"})

    def roll(self, part: int, shard: str = "") -> subprocess.Popen[bytes]:
        """One machine, with a journal of its own."""
        settings = {
            "FLEETC_VAULT_FILE": str(self.secrets),
            "FLEETC_JOURNAL": str(self.directory / f"journal-{part}"),
            "FLEETC_WORKER": "ansible-runner worker",
            "LOOPBACK_RPC_URL": "",
        }
        options = (*SKIPPED, "--shard", shard or f"{part}/3")
        with self.said_by(part).open("wb") as said:
            return subprocess.Popen(
                [sys.executable, "-I", "-m", "fleetc", "deploy", str(self.directory / "fleet"), *options],
                cwd=self.directory / "fleet", env={**self.environment(), **settings},
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip

    def said_by(self, part: int) -> Path:
        return self.directory / f"said-{part}"

    def all_parts(self) -> dict[int, int]:
        """The exit code of each machine, at the same time."""
        started = {part: self.roll(part) for part in (1, 2, 3)}
        return {part: process.wait(timeout=180) for part, process in started.items()}

    def price(self, host: str) -> str:
        """What the node of a host asks or pays, once it runs wholly by its release: all its arguments are of it."""
        link = self.hosts[host].files / "opt/fleetc/current" / NODES[host]
        for _ in range(300):
            with suppress(OSError):
                words = Path(f"/proc/{self.hosts[host].node()}/cmdline").read_bytes().decode().split("\0")[1:-1]
                flags = (link / "launch.flags").read_text().splitlines()
                if sorted(words) == sorted(flags):
                    return next(word.rpartition("=")[2] for word in words if "ricePerUnit=" in word)
            time.sleep(0.1)
        raise AssertionError(f"the node of {host} is of no release")


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The workers that one fleetc has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"ansible-runner\0worker" in command]


@pytest.fixture(scope="module")
def machines(disk: Path) -> Iterator[Shared]:
    if missing := needed():
        pytest.skip(missing)
    made = Shared(disk)
    yield made
    made.close()


@pytest.fixture
def shared(machines: Shared) -> Shared:
    """Hosts and journals that know of nothing."""
    machines.forget()
    for journal in machines.directory.glob("journal-*"):
        shutil.rmtree(journal)
    return machines


@pytest.mark.slow
def test_killed_worker_leaves_its_host_old_or_new_and_the_others_go_on(shared: Shared) -> None:
    shared.compile("1300")
    assert shared.all_parts() == {1: 0, 2: 0, 3: 0}, [shared.said_by(part).read_text() for part in (1, 2, 3)]
    assert [shared.price(host) for host in NAMES] == ["1300"] * 3

    shared.compile("1400")
    started = {part: shared.roll(part) for part in (1, 2, 3)}
    killed = 2
    for _ in range(1200):
        if b"has the release" in shared.said_by(killed).read_bytes():
            break
        time.sleep(0.05)
    (worker,) = workers_of(started[killed])
    subprocess.run(["kill", "-KILL", str(worker)], check=True)
    codes = {part: process.wait(timeout=180) for part, process in started.items()}
    said = shared.said_by(killed).read_text()
    assert codes == {1: 0, 2: 5, 3: 0}, said
    left = [path for path, data in texts_below(shared.temporary) if any(canary in data for canary in SECRETS)]
    assert left == [], "a worker has no secret to leave behind"
    (unknown,) = [host for host in NAMES if f"\n{host}: " in said]
    assert "UNKNOWN" in said and "1 host: 1 unknown" in said
    assert shared.price(unknown) in ("1300", "1400")
    assert [shared.price(host) for host in NAMES if host != unknown] == ["1400", "1400"]

    again = shared.roll(killed)
    assert again.wait(timeout=180) == 0, shared.said_by(killed).read_text()
    assert shared.price(unknown) == "1400"


@pytest.mark.slow
def test_commands_for_several_machines(shared: Shared) -> None:
    """As ROLLOUT.md has them: the part without the canary begins only once the canary has the release."""
    shared.compile("1300", canary=1)
    page = (shared.directory / "fleet/rendered/ROLLOUT.md").read_text()
    first, other = re.findall(r"^fleetc deploy --shard (\S+)$", page, re.MULTILINE)
    early = shared.roll(2, other)
    assert early.wait(timeout=180) == 1
    said = shared.said_by(2).read_text()
    assert "not begun: the canary" in said and f"roll out the shard {first} first" in said
    assert [shared.hosts[host].node() for host in NAMES] == [0, 0, 0]
    for part, shard in ((1, first), (2, other)):
        assert shared.roll(part, shard).wait(timeout=180) == 0, shared.said_by(part).read_text()
    assert [shared.price(host) for host in NAMES] == ["1300"] * 3
